"""A memory as an object on a Weaviate server, and a filter as the server takes it.

The whole record is one property, as JSON; the others are what is searched and filtered by. Times are whole microseconds
since 1970, which the server's wire format, a 64-bit float, holds exactly up to the year 2255.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, log2
from typing import TYPE_CHECKING, Any, Literal, cast
from uuid import UUID

import msgspec
import numpy as np

from simuverse.errors import StoreCorrupt
from simuverse.memory.analysis import query_terms, search_text
from simuverse.memory.records import Memory, MemoryFilter
from simuverse.memory.store import Entry, Vector
from simuverse.memory.stores.owner_index import microseconds
from simuverse.memory.stores.weaviate_schema import VECTOR

if TYPE_CHECKING:
    from weaviate.collections.classes.data import DataObject
    from weaviate.collections.classes.filters import FilterReturn
    from weaviate.collections.classes.internal import Object

STORED = ("record", "context_text")
"""Properties that :meth:`Stored.of` reads."""

DOUBLINGS = range(-8, 9)
"""Few enough that no number of a vector leaves what 32 bits hold exactly."""

SERVER_MAXIMUM = 10_000
"""Objects that a server gives at most for one query (QUERY_MAXIMUM_RESULTS)."""

_RECORD = msgspec.json.Decoder(Memory)


Text = Literal["search_text", "context_text"]
"""The properties that are searched by word."""


class NothingAllowed(Exception):
    """A filter that no memory can satisfy."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Stored:
    """A memory as it is on the server.

    Args:
        context_text: its own tokens and those of what precedes it closely in its episode, joined by single spaces.
        doublings: how often its vector is doubled there, within :data:`DOUBLINGS`. The cosine is the same, to the bit;
            what it is for is told in :mod:`simuverse.memory.stores.weaviate_sending`.
        indexed: whether a filter finds it; False where a killed server has lost that.
        wordless: to be there without its words for a moment, so that all of them are written anew after that.
    """

    entry: Entry
    context_text: str
    doublings: int = 0
    indexed: bool = True
    wordless: bool = False

    @classmethod
    def of(cls, found: Object[Any, Any]) -> Stored:
        vector, doublings = vector_of(found)
        return cls(
            entry=Entry(memory=memory_of(found), vector=vector),
            context_text=str(found.properties.get("context_text") or ""),
            doublings=doublings,
        )

    def told_apart(self) -> Stored:
        """The same, with another vector as far as a server can tell."""
        return replace(self, doublings=DOUBLINGS[(DOUBLINGS.index(self.doublings) + 1) % len(DOUBLINGS)])

    def tokens(self, text: Text) -> list[str]:
        return (search_text(self.entry.memory) if text == "search_text" else self.context_text).split()

    def as_object(self) -> DataObject[Any, None]:
        from weaviate.classes.data import DataObject

        memory = self.entry.memory
        own, context = ("", "") if self.wordless else (search_text(memory), self.context_text)
        return DataObject(
            uuid=memory.id,
            vector={VECTOR: np.ldexp(self.entry.vector, self.doublings).tolist()},
            properties={
                "record": msgspec.json.encode(memory).decode(),
                "search_text": own,
                "context_text": context,
                # None is left out, so that the server's count of these is that of the memories with any token.
                "search_length": len(own.split()) or None,
                "context_length": len(context.split()) or None,
                "created_at": microseconds(memory.created_at),
                "importance": memory.importance,
                "category": memory.category.value,
                "source": memory.provenance.source.value,
                "episode": memory.episode,
                "position": memory.position,
                "superseded": memory.superseded_by is not None,
                "forgotten": memory.forgotten_at is not None,
            },
        )


def memory_of(found: Object[Any, Any]) -> Memory:
    """Raises:
    StoreCorrupt: it isn't a record of ours.
    """
    record = cast("Mapping[str, object]", found.properties).get("record")
    try:
        return _RECORD.decode(str(record))
    except (msgspec.MsgspecError, ValueError) as error:
        raise StoreCorrupt(
            f"object {found.uuid} on the Weaviate server isn't a memory that can be read: {error}"
        ) from error


def vector_of(found: Object[Any, Any]) -> tuple[Vector, int]:
    """Of length 1, and how often it is doubled on the server.

    Raises:
    StoreCorrupt: there is none.
    """
    vector = found.vector.get(VECTOR)
    if not vector:
        raise StoreCorrupt(
            f"memory {found.uuid} on the Weaviate server has lost its vector; delete that object there, then import "
            "an export that holds it, or restore a backup."
        )
    raw = np.asarray(vector, dtype=np.float32)
    length = float(np.linalg.norm(raw))
    doublings = round(log2(length)) if 0 < length < inf else 0
    return np.ldexp(raw, -doublings), doublings


def server_filter(filter: MemoryFilter) -> FilterReturn | None:
    """None allows all.

    Raises:
        NothingAllowed: no memory can satisfy it.
    """
    from weaviate.classes.query import Filter

    parts: list[FilterReturn] = []
    if filter.category is not None:
        parts.append(Filter.by_property("category").equal(filter.category.value))
    if filter.min_importance is not None:
        parts.append(Filter.by_property("importance").greater_or_equal(filter.min_importance))
    if filter.max_importance is not None:
        parts.append(Filter.by_property("importance").less_or_equal(filter.max_importance))
    if filter.since is not None:
        parts.append(Filter.by_property("created_at").greater_or_equal(microseconds(filter.since)))
    if filter.until is not None:
        parts.append(Filter.by_property("created_at").less_than(microseconds(filter.until)))
    parts += [Filter.by_property("source").not_equal(source.value) for source in sorted(filter.exclude_sources)]
    if not filter.include_superseded:
        parts.append(Filter.by_property("superseded").equal(False))
    if not filter.include_forgotten:
        parts.append(Filter.by_property("forgotten").equal(False))
    if filter.about is not None:
        terms = sorted(set(query_terms(filter.about)))
        if not terms:
            raise NothingAllowed
        parts.append(Filter.by_property("search_text").contains_all(terms))
    return Filter.all_of(parts) if parts else None


def ids_filter(ids: Sequence[UUID]) -> FilterReturn:
    from weaviate.classes.query import Filter

    return Filter.by_id().contains_any(list(ids))
