"""Ids of runs on a store that several share: two that are under way never have the same.

An id is held by a locked file, which the system lets go of when the process ends, however it does. All that is done to
these files is done under a lock of its own, so that none is deleted while another process begins to wait for it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from hashlib import sha256
from itertools import count
from pathlib import Path

from filelock import FileLock, Timeout

from simuverse.errors import StoreUnavailable

_WAIT = 10.0
"""Seconds for another process to take or give back an id, which is a matter of milliseconds."""


@contextmanager
def claimed(ids: Callable[[int], str], *, beside: Path) -> Generator[str]:
    """The first of ``ids(0)``, ``ids(1)``... that no run under way has, held until this is left.

    Args:
        beside: names and place of the files that hold them.

    Raises:
        StoreUnavailable: no file can be made there.
    """
    try:
        with _guard(beside):
            held, taken = next(filter(None, (_tried(ids(number), beside) for number in count())))
    except (OSError, Timeout) as error:
        raise StoreUnavailable(f"no run can begin on {beside}: {error}") from error
    try:
        yield taken
    finally:
        with _guard(beside):
            held.release()
            Path(held.lock_file).unlink(missing_ok=True)


def beside_server(address: str) -> Path:
    """Where runs of this machine on a server hold their ids."""
    return Path(tempfile.gettempdir()) / f"simuverse-{sha256(address.encode()).hexdigest()[:12]}"


def _guard(beside: Path) -> FileLock:
    return FileLock(f"{beside}.runs", timeout=_WAIT)


def _tried(id: str, beside: Path) -> tuple[FileLock, str] | None:
    lock = FileLock(f"{beside}.run-{id}", blocking=False)
    try:
        lock.acquire()
    except Timeout:
        return None
    return lock, id
