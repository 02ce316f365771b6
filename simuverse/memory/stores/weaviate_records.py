"""Memories as they were last read, so that a server needn't send them again with each search.

A server notes when it last wrote an object, in milliseconds, and gives that for far less than what the object holds.
So what was read of an object that has been at rest since is what it holds still, whoever writes there besides.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

from simuverse.memory.caches import emptied_when_erased
from simuverse.memory.clock import Clock, SystemClock
from simuverse.memory.records import Memory
from simuverse.memory.stores.weaviate_connection import Connection
from simuverse.memory.stores.weaviate_objects import SERVER_MAXIMUM, Text, ids_filter, memory_of
from simuverse.memory.stores.weaviate_partition import Partition
from simuverse.memory.stores.weaviate_statistics import Words

if TYPE_CHECKING:
    from weaviate import WeaviateAsyncClient
    from weaviate.collections.classes.internal import Object

FIELDS: Mapping[Text, Sequence[str]] = {
    "search_text": ("record", "search_text"),
    "context_text": ("record", "search_text", "context_text"),
}
"""Properties that a search of a text asks for, so that its words needn't be made anew; in context, of both texts."""

ALL = FIELDS["context_text"]

MOST = 20_000
"""Kept for a whole store, those used last: some 60 MB."""

RESTED = timedelta(seconds=0.1)
"""Between a write and a reading that is kept: two writes that another program makes within a millisecond may bear the
same time, and what is read between them isn't what is there in the end."""

_TOO_MANY = 4
"""One unknown in so many found, and a server takes as long to look the unknown up as to send all of them at once."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Record:
    """What an object held when it was written at ``changed``, by the server's clock.

    Args:
        texts: those that were asked for.
    """

    memory: Memory
    texts: Mapping[Text, str]
    changed: datetime | None
    _words: dict[Text, Words] = field(default_factory=dict[Text, Words], compare=False, repr=False)

    @classmethod
    def of(cls, found: Object[Any, Any], fields: Sequence[str]) -> Record:
        return cls(
            memory=memory_of(found),
            texts={text: str(found.properties.get(text) or "") for text in FIELDS if text in fields},
            changed=found.metadata.last_update_time,
        )

    def tells(self, text: Text) -> bool:
        return text in self.texts

    def words(self, text: Text) -> Words:
        """Of one that it tells."""
        words = self._words.get(text)
        if words is None:
            words = self._words[text] = Words.of(self.texts[text].split())
        return words


class KeptRecords:
    """Of one store."""

    def __init__(self, *, most: int = MOST, clock: Clock | None = None) -> None:
        """Args: clock: as near to the server's as the machine's is."""
        self._most = most
        self._clock = clock or SystemClock()
        self._records: OrderedDict[tuple[str, int], Record] = OrderedDict()
        emptied_when_erased(self)

    def __len__(self) -> int:
        return len(self._records)

    def get(self, place: str, id: int, changed: datetime | None) -> Record | None:
        """Args: changed: when the object was last written."""
        key = (place, id)
        record = self._records.get(key)
        if record is None or record.changed != changed:
            return None
        self._records.move_to_end(key)
        return record

    def put(self, place: str, id: int, record: Record) -> None:
        """Keeps it, unless it was written a moment ago."""
        if record.changed is None or abs(self._clock.now() - record.changed) < RESTED:
            return
        key = (place, id)
        self._records[key] = record
        self._records.move_to_end(key)
        if len(self._records) > self._most:
            self._records.popitem(last=False)

    def let_go(self) -> None:
        self._records.clear()


class FoundRecords:
    """What stands in the objects that searches of one collection find."""

    def __init__(self, connection: Connection, partition: Partition, kept: KeptRecords) -> None:
        self._connection = connection
        self._partition = partition
        self._place = str(partition)
        self._kept = kept
        self._mostly_known: set[Text] = set()

    def fields(self, text: Text) -> Sequence[str]:
        """Properties that a search of a text had best ask for: none where what it finds is mostly known here."""
        return () if text in self._mostly_known and len(self._kept) else FIELDS[text]

    async def read(
        self, found: Sequence[Object[Any, Any]], *, text: Text, fields: Sequence[str]
    ) -> dict[int, Record] | None:
        """By the numbers of their ids; None where one isn't as it was when it was found, or is found by no id, so that
        the search has to be made again with all :data:`FIELDS`.

        Args:
            found: with the times of their last change.
            text: what was searched.
            fields: what was asked for of each: all or none.
        """
        records: dict[int, Record] = {}
        unknown: dict[int, Object[Any, Any]] = {}
        for one in found:
            number = one.uuid.int
            record = self._kept.get(self._place, number, one.metadata.last_update_time)
            if record is None or not record.tells(text):
                unknown[number] = one
            else:
                records[number] = record
        if _TOO_MANY * len(unknown) <= len(records) + len(unknown):
            self._mostly_known.add(text)
        else:
            self._mostly_known.discard(text)
        if not unknown:
            return records
        for number in unknown.keys() & records.keys():
            # It changed between the two searches that found it.
            del records[number]
        for one in [*unknown.values()] if fields else await self._fetched([*unknown]):
            number, record = one.uuid.int, Record.of(one, fields or ALL)
            self._kept.put(self._place, number, record)
            if record.changed == unknown[number].metadata.last_update_time:
                records[number] = record
        return records if unknown.keys() <= records.keys() else None

    async def _fetched(self, ids: Sequence[int]) -> list[Object[Any, Any]]:
        found: list[Object[Any, Any]] = []
        for start in range(0, len(ids), SERVER_MAXIMUM):
            found += await self._connection.query(partial(self._ask, ids[start : start + SERVER_MAXIMUM]))
        return found

    async def _ask(self, ids: Sequence[int], client: WeaviateAsyncClient) -> list[Object[Any, Any]]:
        from weaviate.classes.query import MetadataQuery

        found = await self._partition.on(client).query.fetch_objects(
            filters=ids_filter([UUID(int=one) for one in ids]),
            limit=len(ids),
            return_metadata=MetadataQuery(last_update_time=True),
            return_properties=list(ALL),
        )
        return list(found.objects)
