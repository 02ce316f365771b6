"""What a store on a server adds to the calls of the server's client, in turn so that both meet the same load."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

from simuverse.bench.timing import Spread, WriteSpeed, spread, write_speed
from simuverse.memory.store import Entry, MemoryCollection, SearchRequest

if TYPE_CHECKING:
    from simuverse.memory.stores.weaviate_bare import BareCalls

WRITTEN = 2_000
"""Memories written by the client alone at most: enough to know its speed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ClientLatency:
    """The calls of a server's client alone.

    Args:
        search: the two searches of a hybrid query at once, with the same filters and as many records.
        single_writes, batch_writes: memories a second, made into the client's objects beforehand.
        search_ratio: median of the store's search over this one's.
        single_ratio, batch_ratio: seconds a memory with the store over those with the client.
    """

    search: Spread
    single_writes: float
    batch_writes: float
    search_ratio: float
    single_ratio: float
    batch_ratio: float


async def measure_client(
    collection: MemoryCollection,
    bare: BareCalls,
    empty: BareCalls,
    *,
    entries: Sequence[Entry],
    requests: Sequence[SearchRequest],
    writes: WriteSpeed,
) -> ClientLatency:
    """Args:
    collection, bare: the same one, searched in turn.
    empty: of another collection, which is written to.
    writes: of the store.
    """
    with_store: list[float] = []
    with_client: list[float] = []
    for request in requests:
        for search, times in ((collection.search, with_store), (bare.search, with_client)):
            started = perf_counter()
            await search(request)
            times.append(1000 * (perf_counter() - started))
    alone = await write_speed(empty.prepared(entries[:WRITTEN]), empty.add)
    return ClientLatency(
        search=spread(with_client),
        single_writes=alone.single,
        batch_writes=alone.batch,
        search_ratio=spread(with_store).p50 / spread(with_client).p50,
        single_ratio=alone.single / writes.single,
        batch_ratio=alone.batch / writes.batch,
    )
