"""Files of lines that only grow: a line lasts once it is appended, and one that a crash cut short is none."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def whole_lines(path: Path) -> list[bytes]:
    """Without their line breaks; none where there is no file."""
    return path.read_bytes().split(b"\n")[:-1] if path.exists() else []


def append_lines(path: Path, *lines: bytes) -> None:
    """On disk when this returns; after an ``OSError`` nothing of them is left. Makes the file, not its folder.

    Args:
        lines: without line breaks.
    """
    new = not path.exists()
    # Unbuffered, so that nothing is left to be written when the file is closed after a fault.
    with path.open("a+b", buffering=0) as file:
        whole = _cut_torn_line(file.fileno())
        left = b"".join(line + b"\n" for line in lines)
        try:
            while left:
                left = left[file.write(left) or 0 :]
            os.fsync(file.fileno())
        except OSError:
            with suppress(OSError):
                os.ftruncate(file.fileno(), whole)
            raise
    if new:
        _sync_folder(path.parent)


def _cut_torn_line(file: int) -> int:
    """Returns the size that is left, in bytes."""
    size = os.fstat(file).st_size
    if not size or os.pread(file, 1, size - 1) == b"\n":
        return size
    whole = os.pread(file, size, 0).rfind(b"\n") + 1
    os.ftruncate(file, whole)
    return whole


def _sync_folder(folder: Path) -> None:
    """A new file's name is on disk only then."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
