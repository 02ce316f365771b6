"""What an SQLite store does, blocking, on the one thread that may use its connection.

Writes go to the file alone. Reads first bring the owner's arrays up to the file's revision, whoever wrote it, this
process or another; so there is one way in for both.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, cast
from uuid import UUID

import msgspec
import numpy as np

from simuverse.errors import StoreRefused
from simuverse.memory.analysis import search_text
from simuverse.memory.caches import emptied_when_erased
from simuverse.memory.records import Hit, Memory, MemoryFilter
from simuverse.memory.store import CONTEXT, Entry, SearchRequest
from simuverse.memory.stores.owner_index import BETWEEN_TEXTS, IndexedMemory, OwnerIndex, microseconds
from simuverse.memory.stores.sqlite_schema import connect, transaction

_LOADED_AT_ONCE = 10_000
"""Rows read into the arrays in one step: some 25 MB for that moment."""

_ASKED_AT_ONCE = 500
"""Values in one ``IN (...)``; SQLite's own limit was 999 for long."""

_REVISION = "(SELECT revision FROM owners WHERE owner_id = :owner_id)"

_INSERT = f"""
    INSERT INTO memories (owner_id, id, revision, created_at, importance, category, source, superseded, forgotten,
        episode, position, search_text, record, vector)
    VALUES (:owner_id, :id, {_REVISION}, :created_at, :importance, :category, :source, :superseded, :forgotten,
        :episode, :position, :search_text, :record, :vector)
    ON CONFLICT (owner_id, id) DO UPDATE SET revision = excluded.revision, created_at = excluded.created_at,
        importance = excluded.importance, category = excluded.category, source = excluded.source,
        superseded = excluded.superseded, forgotten = excluded.forgotten, episode = excluded.episode,
        position = excluded.position, search_text = excluded.search_text,
        record = excluded.record, vector = excluded.vector"""

_REWRITE = f"""
    UPDATE memories SET revision = {_REVISION}, created_at = :created_at, importance = :importance,
        category = :category, source = :source, superseded = :superseded, forgotten = :forgotten,
        episode = :episode, position = :position, search_text = :search_text, record = :record
    WHERE owner_id = :owner_id AND id = :id"""
"""All but the vector."""

_RECORD = msgspec.json.Decoder(Memory)

CACHED_MEMORIES = 16_384
"""Memories that are kept decoded, about 20 MB: one turn's candidates are mostly the next one's."""


class _Kept(NamedTuple):
    """Args:
    by_key: a memory and the file's version when it was read.
    keys: of what is there, by owner and id.
    """

    by_key: dict[int, tuple[Memory, int]]
    keys: dict[tuple[str, int], int]


class DecodedRecords:
    """Memories by their row's key, as they were read or written last; immutable, so they may be handed out again.

    One is good as long as the file has the version that it was read from: another one whenever somebody else has
    written. What this connection itself changes, it has to say.
    """

    def __init__(self) -> None:
        self._kept = _Kept({}, {})
        emptied_when_erased(self)

    def __len__(self) -> int:
        return len(self._kept.by_key)

    def known(self, keys: Iterable[int], version: int) -> dict[int, Memory]:
        """Those that are as they were."""
        found = zip(keys, map(self._kept.by_key.get, keys), strict=True)
        return {key: one[0] for key, one in found if one is not None and one[1] == version}

    def keep(self, key: int, memory: Memory, version: int) -> None:
        """The oldest goes where the room ends."""
        kept = self._kept  # another thread may let go of it meanwhile
        if key not in kept.by_key and len(kept.by_key) >= CACHED_MEMORIES:
            _drop(kept, next(iter(kept.by_key)))
        kept.by_key[key] = memory, version
        kept.keys[memory.owner, memory.id.int] = key

    def changed(self, memories: Iterable[Memory]) -> None:
        """These are no longer as they were."""
        kept = self._kept
        for memory in memories:
            if (key := kept.keys.get((memory.owner, memory.id.int))) is not None:
                _drop(kept, key)

    def let_go(self) -> None:
        self._kept = _Kept({}, {})


def _drop(kept: _Kept, key: int) -> None:
    memory, _ = kept.by_key.pop(key)
    place = memory.owner, memory.id.int
    if kept.keys.get(place) == key:  # an owner who was erased and came back has other keys
        del kept.keys[place]


class SQLiteDatabase:
    """All methods block; owners are given by the number that :meth:`owner_id` returns."""

    def __init__(self, path: Path | None, *, embedder_name: str, dimension: int, read_only: bool) -> None:
        self._connection = connect(path, embedder_name=embedder_name, dimension=dimension, read_only=read_only)
        self._dimension = dimension
        self._read_only = read_only
        self._indexes: dict[int, _SyncedIndex] = {}
        self._decoded = DecodedRecords()

    def close(self) -> None:
        self._indexes.clear()
        self._connection.close()

    def owners(self) -> list[str]:
        return sorted(owner for (owner,) in self._connection.execute("SELECT owner FROM owners"))

    def owner_id(self, owner: str) -> int:
        """Of the owner, who is entered if unknown.

        Raises:
            StoreRefused: unknown, and the store may only be read.
        """
        found = self._find_owner(owner)
        if found is not None:
            return found
        if self._read_only:
            raise StoreRefused(f"There are no memories of {owner!r} here, and the store is opened for reading only.")
        with self._writing():
            # Another process may have entered the owner since.
            self._connection.execute("INSERT INTO owners (owner) VALUES (?) ON CONFLICT DO NOTHING", (owner,))
            row = self._connection.execute("SELECT owner_id FROM owners WHERE owner = ?", (owner,)).fetchone()
        return int(row[0])

    def erase_owner(self, owner: str) -> bool:
        with self._writing():
            owner_id = self._find_owner(owner)
            if owner_id is not None:
                self._connection.execute("DELETE FROM memories WHERE owner_id = ?", (owner_id,))
                self._connection.execute("DELETE FROM owners WHERE owner_id = ?", (owner_id,))
                self._indexes.pop(owner_id, None)
        self._empty_log()
        return owner_id is not None

    def add(self, owner_id: int, entries: Sequence[Entry]) -> None:
        rows = [_columns(owner_id, entry) for entry in entries]
        with self._writing():
            self._advance(owner_id)
            before = self._by_id(owner_id, [entry.memory.id for entry in entries]).values()
            written = (self._connection.execute(f"{_INSERT} RETURNING key", row) for row in rows)
            keys = [key for one in written for (key,) in one.fetchall()]
            self._renew_contexts(owner_id, [*before, *map(_memory, entries)])
            version = self._version()
        for key, entry in zip(keys, entries, strict=True):
            self._decoded.keep(key, entry.memory, version)

    def get(self, owner_id: int, ids: Sequence[UUID]) -> list[Memory]:
        with self._reading():
            self._require(owner_id)
            found = self._by_id(owner_id, ids)
        return [found[wanted] for wanted in ids if wanted in found]

    def search_all(self, owner_id: int, requests: Sequence[SearchRequest]) -> list[list[Hit]]:
        with self._reading():
            found = self._index(owner_id).search_all(requests)
            memories = self._by_key({hit.key for hits in found for hit in hits})
        return [[Hit(memories[hit.key], *hit[1:]) for hit in hits] for hits in found]

    def recent(self, owner_id: int, limit: int, filter: MemoryFilter) -> list[Memory]:
        with self._reading():
            keys = self._index(owner_id).recent(limit, filter)
            memories = self._by_key(keys)
        return [memories[key] for key in keys]

    def oldest(self, owner_id: int, limit: int, filter: MemoryFilter, *, past: bool) -> list[Memory]:
        with self._reading():
            keys = self._index(owner_id).oldest(limit, filter, past=past)
            memories = self._by_key(keys)
        return [memories[key] for key in keys]

    def count(self, owner_id: int, filter: MemoryFilter) -> int:
        with self._reading():
            return self._index(owner_id).count(filter)

    def keys_oldest_first(self, owner_id: int) -> list[int]:
        with self._reading():
            return self._index(owner_id).oldest_first()

    def entries(self, keys: Sequence[int]) -> list[Entry]:
        """Those that are still there, in order."""
        found: dict[int, Entry] = {}
        for key, record, vector in self._select("key, record, vector", "key", keys):
            found[key] = Entry(memory=_RECORD.decode(record), vector=np.frombuffer(vector, dtype="<f4"))
        return [found[key] for key in keys if key in found]

    def touch(self, owner_id: int, ids: Sequence[UUID], at: datetime) -> None:
        with self._writing():
            self._require(owner_id)
            touched = self._by_id(owner_id, ids).values()
            self._decoded.changed(touched)
            for memory in touched:
                # Nothing that is searched changes, so the revision stays and no array is read again.
                self._connection.execute(
                    "UPDATE memories SET record = ? WHERE owner_id = ? AND id = ?",
                    (_json(replace(memory, last_accessed_at=at)), owner_id, memory.id.bytes),
                )

    def update(self, owner_id: int, entries: Sequence[Entry | Memory]) -> None:
        rows = [_columns(owner_id, entry) for entry in entries]
        with self._writing():
            self._advance(owner_id)
            before = self._existing(owner_id, [_memory(entry).id for entry in entries])
            for entry in entries:
                if isinstance(entry, Memory) and entry.summary != before[entry.id].summary:
                    raise ValueError(f"the summary of memory {entry.id} changed, so it needs a new vector")
            for entry, row in zip(entries, rows, strict=True):
                self._connection.execute(_INSERT if isinstance(entry, Entry) else _REWRITE, row)
            self._decoded.changed(before.values())
            self._renew_contexts(owner_id, [*before.values(), *map(_memory, entries)])

    def supersede(self, owner_id: int, old: UUID, *, by: UUID, at: datetime) -> None:
        with self._writing():
            self._advance(owner_id)
            found = self._existing(owner_id, [old, by])
            self._rewrite(owner_id, [found[old].superseded(by=by, at=at), replace(found[by], supersedes=old)])

    def forget(self, owner_id: int, ids: Sequence[UUID], at: datetime) -> int:
        with self._writing():
            self._advance(owner_id)
            visible = [m for m in self._by_id(owner_id, ids).values() if m.forgotten_at is None]
            self._rewrite(owner_id, [memory.forgotten(at=at) for memory in visible])
            self._renew_contexts(owner_id, visible)
        return len(visible)

    def erase(self, owner_id: int, ids: Sequence[UUID]) -> int:
        with self._writing():
            self._advance(owner_id)
            found = self._by_id(owner_id, ids)
            self._decoded.changed(found.values())
            self._connection.executemany(
                "DELETE FROM memories WHERE owner_id = ? AND id = ?", [(owner_id, gone.bytes) for gone in found]
            )
            self._connection.execute("UPDATE owners SET erasures = erasures + 1 WHERE owner_id = ?", (owner_id,))
            self._renew_contexts(owner_id, found.values())
        self._empty_log()
        return len(found)

    def _reading(self) -> AbstractContextManager[None]:
        return transaction(self._connection, "DEFERRED")

    def _writing(self) -> AbstractContextManager[None]:
        if self._read_only:
            raise StoreRefused("This store is opened for reading only.")
        return transaction(self._connection, "IMMEDIATE")

    def _empty_log(self) -> None:
        """What was erased still stands in the write-ahead log; if others are reading, a later checkpoint clears it."""
        self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def _find_owner(self, owner: str) -> int | None:
        row = self._connection.execute("SELECT owner_id FROM owners WHERE owner = ?", (owner,)).fetchone()
        return None if row is None else int(row[0])

    def _require(self, owner_id: int) -> tuple[int, int]:
        """The owner's revision and number of erasures."""
        row = self._connection.execute(
            "SELECT revision, erasures FROM owners WHERE owner_id = ?", (owner_id,)
        ).fetchone()
        if row is None:
            raise StoreRefused("This collection was erased; ask the store for a new one.")
        return cast("tuple[int, int]", row)

    def _advance(self, owner_id: int) -> None:
        """To the next revision, which every row written in this transaction bears."""
        self._require(owner_id)
        self._connection.execute("UPDATE owners SET revision = revision + 1 WHERE owner_id = ?", (owner_id,))

    def _rewrite(self, owner_id: int, memories: Sequence[Memory]) -> None:
        self._decoded.changed(memories)
        self._connection.executemany(_REWRITE, (_columns(owner_id, memory) for memory in memories))

    def _renew_contexts(self, owner_id: int, changed: Iterable[Memory]) -> None:
        """Of the memories that follow closely on the changed ones in their episodes."""
        places: dict[str, set[int]] = {}
        for memory in changed:
            if memory.episode:
                following = range(memory.position, memory.position + CONTEXT + 1)
                places.setdefault(memory.episode, set()).update(following)
        for episode, positions in places.items():
            rows = self._connection.execute(
                "SELECT key, position, forgotten, search_text, context_text FROM memories "
                "WHERE owner_id = ? AND episode = ? AND episode <> '' AND position BETWEEN ? AND ? ORDER BY id",
                (owner_id, episode, min(positions) - CONTEXT, max(positions)),
            ).fetchall()
            said: dict[int, list[str]] = {}
            for _, position, forgotten, own, _ in rows:
                said.setdefault(position, []).extend([] if forgotten else [own])
            for key, position, _, _, before in rows:
                context = BETWEEN_TEXTS.join(
                    text for back in range(CONTEXT, 0, -1) for text in said.get(position - back, ())
                )
                if position in positions and context != before:
                    self._connection.execute(
                        f"UPDATE memories SET context_text = :context, revision = {_REVISION} WHERE key = :key",
                        {"context": context, "owner_id": owner_id, "key": key},
                    )

    def _index(self, owner_id: int) -> OwnerIndex:
        """The owner's arrays, as of the transaction under way."""
        revision, erasures = self._require(owner_id)
        synced = self._indexes.get(owner_id)
        if synced is None:
            synced = self._indexes[owner_id] = _SyncedIndex(OwnerIndex(dimension=self._dimension))
            (count,) = self._connection.execute(
                "SELECT count(*) FROM memories WHERE owner_id = ?", (owner_id,)
            ).fetchone()
            synced.index.reserve(count)
        if erasures != synced.erasures:
            kept = self._connection.execute("SELECT key FROM memories WHERE owner_id = ?", (owner_id,))
            synced.index.keep({key for (key,) in kept})
        if revision != synced.revision:
            changed = self._connection.execute(
                "SELECT key, id, created_at, importance, category, source, superseded, forgotten, search_text, "
                "context_text, vector "
                "FROM memories WHERE owner_id = ? AND revision > ?",
                (owner_id, synced.revision),
            )
            while rows := changed.fetchmany(_LOADED_AT_ONCE):
                synced.index.put(cast("list[IndexedMemory]", rows))
        synced.revision, synced.erasures = revision, erasures
        return synced.index

    def _existing(self, owner_id: int, ids: Sequence[UUID]) -> dict[UUID, Memory]:
        found = self._by_id(owner_id, ids)
        for wanted in ids:
            if wanted not in found:
                raise KeyError(f"there is no memory {wanted}")
        return found

    def _by_id(self, owner_id: int, ids: Sequence[UUID]) -> dict[UUID, Memory]:
        rows = self._select("record", "id", [wanted.bytes for wanted in ids], owner_id=owner_id)
        return {memory.id: memory for memory in (_RECORD.decode(record) for (record,) in rows)}

    def _by_key(self, keys: Collection[int]) -> dict[int, Memory]:
        """In a transaction that has read already, so that the version is that of what it sees."""
        version = self._version()
        memories = self._decoded.known(keys, version)
        for key, record in self._select("key, record", "key", [key for key in keys if key not in memories]):
            memories[key] = _RECORD.decode(record)
            self._decoded.keep(key, memories[key], version)
        return memories

    def _version(self) -> int:
        """Another number when another connection has written; of what a transaction sees once it has read."""
        return int(self._connection.execute("PRAGMA data_version").fetchone()[0])

    def _select(
        self, columns: str, by: str, values: Sequence[object], *, owner_id: int | None = None
    ) -> Iterable[tuple[Any, ...]]:
        remaining = iter(values)
        while some := list(islice(remaining, _ASKED_AT_ONCE)):
            where = f"{by} IN ({', '.join('?' * len(some))})"
            owned = [] if owner_id is None else [owner_id]
            yield from self._connection.execute(
                f"SELECT {columns} FROM memories WHERE {where}{' AND owner_id = ?' if owned else ''}", [*some, *owned]
            )


class _SyncedIndex:
    """Arrays and the state of the file that they show."""

    def __init__(self, index: OwnerIndex) -> None:
        self.index = index
        self.revision = 0
        self.erasures = 0


def _memory(entry: Entry | Memory) -> Memory:
    return entry.memory if isinstance(entry, Entry) else entry


def _columns(owner_id: int, entry: Entry | Memory) -> dict[str, object]:
    memory = _memory(entry)
    return {
        "owner_id": owner_id,
        "id": memory.id.bytes,
        "created_at": microseconds(memory.created_at),
        "importance": memory.importance,
        "category": memory.category,
        "source": memory.provenance.source,
        "superseded": memory.superseded_by is not None,
        "forgotten": memory.forgotten_at is not None,
        "episode": memory.episode,
        "position": memory.position,
        "search_text": search_text(memory),
        "record": _json(memory),
        "vector": entry.vector.astype("<f4").tobytes() if isinstance(entry, Entry) else None,
    }


def _json(memory: Memory) -> str:
    return msgspec.json.encode(memory).decode()
