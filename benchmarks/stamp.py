"""Keeps what ``simuverse bench … --json`` printed, with date, machine and versions.

simuverse bench depth --json | python -m benchmarks.stamp benchmarks/results/depth.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.machine import machine


def main(file: str) -> None:
    Path(file).write_text(json.dumps(stamped(json.load(sys.stdin)), indent=1) + "\n")


def stamped(measured: dict[str, Any]) -> dict[str, Any]:
    """With what it was measured on. Of the store its kind alone: where it stood is nobody else's business."""
    kind = {"store": measured["store"].split()[0]} if "store" in measured else {}
    return {**machine(), **measured, **kind}


if __name__ == "__main__":
    main(sys.argv[1])
