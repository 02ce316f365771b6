"""What SQLite reports, in the terms of :mod:`simuverse.errors`: one table by primary result code."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager

from simuverse.errors import StoreCorrupt, StoreError, StoreRefused, StoreUnavailable

BUSY_TIMEOUT = 30.0
"""Seconds that a write waits for another program's: many times the longest write of ours, a batch of thousands."""

OUTSIDE: dict[int, tuple[type[StoreError], str]] = {
    sqlite3.SQLITE_BUSY: (
        StoreUnavailable,
        f"another program has been writing to it for more than {BUSY_TIMEOUT:.0f} s; end that program or try again",
    ),
    sqlite3.SQLITE_LOCKED: (StoreUnavailable, "another part of this program holds it; try again"),
    sqlite3.SQLITE_PROTOCOL: (StoreUnavailable, "too many programs open it at once; end some or try again"),
    sqlite3.SQLITE_FULL: (StoreUnavailable, "the disk is full, and nothing of this write was stored; free some space"),
    sqlite3.SQLITE_NOMEM: (StoreUnavailable, "there is too little memory; close other programs"),
    sqlite3.SQLITE_IOERR: (
        StoreUnavailable,
        "the disk failed to read or write; check that it has space left and is still connected",
    ),
    sqlite3.SQLITE_NOLFS: (StoreUnavailable, "its file system can't hold files this large; move it to another disk"),
    sqlite3.SQLITE_CANTOPEN: (
        StoreUnavailable,
        "it can't be opened; check that it is a file, that its folder exists and that you may write in that folder",
    ),
    sqlite3.SQLITE_READONLY: (
        StoreRefused,
        "it may only be read; make the file and its folder writable, or copy them to where you may write",
    ),
    sqlite3.SQLITE_PERM: (StoreRefused, "you have no right to it; change the rights of the file and its folder"),
    sqlite3.SQLITE_AUTH: (StoreRefused, "you have no right to it; change the rights of the file and its folder"),
    sqlite3.SQLITE_CORRUPT: (StoreCorrupt, "it is damaged; restore a copy, or save what can be read with `.recover`"),
    sqlite3.SQLITE_FORMAT: (StoreCorrupt, "it is damaged; restore a copy, or save what can be read with `.recover`"),
    sqlite3.SQLITE_NOTADB: (
        StoreCorrupt,
        "it isn't an SQLite database, or its beginning is damaged; name another file, or restore a copy",
    ),
}
"""Faults of the outside, with what to do about each."""

OURS = frozenset(
    {
        sqlite3.SQLITE_ERROR,
        sqlite3.SQLITE_INTERNAL,
        sqlite3.SQLITE_ABORT,
        sqlite3.SQLITE_INTERRUPT,
        sqlite3.SQLITE_NOTFOUND,
        sqlite3.SQLITE_EMPTY,
        sqlite3.SQLITE_SCHEMA,
        sqlite3.SQLITE_TOOBIG,
        sqlite3.SQLITE_CONSTRAINT,
        sqlite3.SQLITE_MISMATCH,
        sqlite3.SQLITE_MISUSE,
        sqlite3.SQLITE_RANGE,
        sqlite3.SQLITE_NOTICE,
        sqlite3.SQLITE_WARNING,
    }
)
"""Codes that only a wrong statement of ours brings about; they are raised as they are."""


@contextmanager
def outside_errors(store: str) -> Generator[None]:
    """Turns an error of SQLite that is the outside's fault into ours.

    Args:
        store: what it is, for the message: ``SQLite jade.db``.
    """
    try:
        yield
    except sqlite3.Error as error:
        # The extended code keeps its primary code in the low byte.
        known = OUTSIDE.get(getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF)
        if known is None:
            raise
        kind, cure = known
        raise kind(f"{store}: {cure} ({error}).") from error
    except MemoryError as error:
        kind, cure = OUTSIDE[sqlite3.SQLITE_NOMEM]
        raise kind(f"{store}: {cure}.") from error
