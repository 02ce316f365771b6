"""Keeps what a command printed, with date, machine and versions: ``--json`` as data, anything else as text.

    simuverse bench depth --json | python -m benchmarks.stamp benchmarks/results/depth.json
    simuverse bench time | python -m benchmarks.stamp --text benchmarks/results/time.json

Prints what it reads as well.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

from benchmarks.machine import machine

_PLACE = re.compile(r"(?<=SQLite) \S*/\S*| at https?://[^\s,]+")


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--text", action="store_true", help="what comes in is for people")
    asked.add_argument("file", type=Path)
    options = asked.parse_args()
    printed = sys.stdin.read()
    print(printed, end="")
    measured = {"text": printed} if options.text else json.loads(printed)
    options.file.write_text(json.dumps(stamped(measured), indent=1) + "\n")


def stamped(measured: dict[str, Any]) -> dict[str, Any]:
    """With what it was measured on. Of the store its kind alone: where it stood is nobody else's business."""
    if "store" in measured:
        measured = {**measured, "store": measured["store"].split()[0]}
    if "text" in measured:
        measured = {**measured, "text": _PLACE.sub("", measured["text"])}
    return {**machine(), **measured}


if __name__ == "__main__":
    main()
