"""Keeps what ``simuverse bench … --json`` printed, with date, machine and versions.

simuverse bench depth --json | python -m benchmarks.stamp benchmarks/results/depth.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from benchmarks.machine import machine


def main(file: str) -> None:
    measured = json.load(sys.stdin)
    Path(file).write_text(json.dumps({**machine(), **measured}, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
