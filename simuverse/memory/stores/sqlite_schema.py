"""The file that an SQLite store keeps: its tables, its marks, and what is checked before any of it is used."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Literal

from simuverse.errors import StoreMismatch, StoreUnavailable
from simuverse.memory.stores.sqlite_errors import BUSY_TIMEOUT, outside_errors

APPLICATION_ID = 0x51B1E25E
"""In the file's header, so that another program's database is never taken for ours."""

FORMAT = 1
"""Of tables, records and search tokens. A change that an older version would misread takes the next number."""

_TABLES = (
    "CREATE TABLE embedder (name TEXT NOT NULL, dimension INTEGER NOT NULL)",
    # AUTOINCREMENT: an erased owner's number is never given again, so nobody who still holds it reaches another's.
    """CREATE TABLE owners (
        owner_id INTEGER PRIMARY KEY AUTOINCREMENT,
        owner TEXT NOT NULL UNIQUE,
        revision INTEGER NOT NULL DEFAULT 0,
        erasures INTEGER NOT NULL DEFAULT 0
    )""",
    """CREATE TABLE memories (
        key INTEGER PRIMARY KEY AUTOINCREMENT,
        owner_id INTEGER NOT NULL REFERENCES owners,
        id BLOB NOT NULL,
        revision INTEGER NOT NULL,
        created_at INTEGER NOT NULL,
        importance INTEGER NOT NULL,
        category TEXT NOT NULL,
        source TEXT NOT NULL,
        superseded INTEGER NOT NULL,
        forgotten INTEGER NOT NULL,
        episode TEXT NOT NULL,
        position INTEGER NOT NULL,
        search_text TEXT NOT NULL,
        context_text TEXT NOT NULL DEFAULT '',
        record TEXT NOT NULL,
        vector BLOB NOT NULL,
        UNIQUE (owner_id, id)
    )""",
    "CREATE INDEX memories_by_revision ON memories (owner_id, revision)",
    "CREATE INDEX memories_by_place ON memories (owner_id, episode, position) WHERE episode <> ''",
)


def connect(path: Path | None, *, embedder_name: str, dimension: int, read_only: bool) -> sqlite3.Connection:
    """An open, checked store; made first if there is none.

    Args:
        path: of the file; None for one in memory.

    Raises:
        StoreMismatch: another program's, a newer version's or another embedder's.
        StoreUnavailable: nothing there to read.
        sqlite3.Error: for :func:`simuverse.memory.stores.sqlite_errors.outside_errors`.
    """
    if read_only and (path is None or not path.is_file()):
        raise StoreUnavailable(f"There is no store at {path} to read; check its name.")
    connection = sqlite3.connect(_uri(path, read_only=read_only), uri=True, timeout=BUSY_TIMEOUT, isolation_level=None)
    try:
        if not read_only:
            _create(connection, embedder_name=embedder_name, dimension=dimension)
        _check(connection, path, embedder_name=embedder_name, dimension=dimension)
    except BaseException:
        connection.close()
        raise
    return connection


def recorded_embedder(path: Path) -> tuple[str, int]:
    """Name and dimension of the embedder that a store's vectors are of.

    Raises:
        StoreMismatch, StoreCorrupt, StoreRefused, StoreUnavailable: as for opening it.
    """
    with outside_errors(f"SQLite {path}"):
        if not path.is_file():
            raise StoreUnavailable(f"There is no store at {path} to read; check its name.")
        with closing(reading(path)) as connection:
            _check_format(connection, path)
            name, dimension = connection.execute("SELECT name, dimension FROM embedder").fetchone()
            return str(name), int(dimension)


def reading(path: Path) -> sqlite3.Connection:
    """A connection that changes nothing, to a file that is there."""
    return sqlite3.connect(_uri(path, read_only=True), uri=True, timeout=BUSY_TIMEOUT, isolation_level=None)


@contextmanager
def transaction(connection: sqlite3.Connection, kind: Literal["DEFERRED", "IMMEDIATE"]) -> Generator[None]:
    """All or nothing. IMMEDIATE takes the right to write at once, so that what is read first still holds later."""
    connection.execute(f"BEGIN {kind}")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _uri(path: Path | None, *, read_only: bool) -> str:
    if path is None:
        return "file::memory:"
    mode = "rwc"
    if read_only:
        # Reading needs to write beside the file, unless it is promised that nobody else writes: on a read-only disk.
        sealed = not os.access(path.parent, os.W_OK) and not path.with_name(path.name + "-wal").exists()
        mode = "ro&immutable=1" if sealed else "ro"
    return f"{path.absolute().as_uri()}?mode={mode}"


def _create(connection: sqlite3.Connection, *, embedder_name: str, dimension: int) -> None:
    """Sets up the connection, and the tables if the file is new."""
    if _is_ours(connection) or _is_empty(connection):
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        # What is erased is overwritten, not just unlinked.
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA foreign_keys = ON")
    if _is_empty(connection):
        with transaction(connection, "IMMEDIATE"):
            if _is_empty(connection):
                for table in _TABLES:
                    connection.execute(table)
                connection.execute("INSERT INTO embedder VALUES (?, ?)", (embedder_name, dimension))
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {FORMAT}")


def _check(connection: sqlite3.Connection, path: Path | None, *, embedder_name: str, dimension: int) -> None:
    _check_format(connection, path)
    name, size = connection.execute("SELECT name, dimension FROM embedder").fetchone()
    if (name, size) != (embedder_name, dimension):
        raise StoreMismatch(
            f"{path} holds vectors of the embedder {name} ({size} numbers), and {embedder_name} ({dimension} numbers) "
            f"is in use. Go on with --embedder {name}, or compute the vectors anew with: "
            f"simuverse store reembed sqlite:{path} --embedder {embedder_name}"
        )


def _check_format(connection: sqlite3.Connection, path: Path | None) -> None:
    if not _is_ours(connection):
        raise StoreMismatch(f"{path} is a database, but no store of Simu-Verse; name another file.")
    found: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if found > FORMAT:
        raise StoreMismatch(
            f"{path} was written by a newer Simu-Verse (format {found}, this one reads up to {FORMAT}). "
            "Upgrade with: pip install --upgrade simu-verse"
        )


def _is_ours(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID)


def _is_empty(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_master").fetchone() is None
