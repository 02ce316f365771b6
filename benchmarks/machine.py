"""What a figure was measured on, without names."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from importlib.metadata import version

PACKAGES = ("simu-verse", "numpy", "wordllama")


def machine() -> dict[str, object]:
    """Date, cores, how many processes wanted them in the last minute, and versions."""
    return {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",  # noqa: TID251
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "python": ".".join(map(str, sys.version_info[:3])),
        "versions": {package: version(package) for package in PACKAGES},
    }
