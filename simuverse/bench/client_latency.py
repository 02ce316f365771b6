"""What a store on a server adds to the calls of the server's client, in turn so that both meet the same load."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

from simuverse.bench.timing import Spread, spread
from simuverse.memory.store import Entry, MemoryCollection, SearchRequest

if TYPE_CHECKING:
    from simuverse.memory.stores.weaviate_bare import BareCalls

SINGLES, BATCHES, BATCH = 100, 12, 500
"""Writes of each: single ones, and batches of so many memories, or of a tenth of what is there."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ClientLatency:
    """The calls of a server's client alone, in the collection that the store searches and writes to.

    Args:
        search: the two searches of a hybrid query at once, with the same filters and as many records.
        single_writes, batch_writes: memories a second by the median, to what is on the server's disk with all that
            belongs to it. For both, the tokens of a text are known before.
        search_ratio, single_ratio, batch_ratio: median of the store's times over that of the client's.
        new_ratio: that of searches that weren't made before, whose words may have to be counted and whose finds to be
            sent; the others were.
    """

    search: Spread
    single_writes: float
    batch_writes: float
    search_ratio: float
    new_ratio: float
    single_ratio: float
    batch_ratio: float


def further_count(size: int) -> int:
    """Memories that :func:`measure_client` writes beside those that are there."""
    return 2 * (SINGLES + BATCHES * _batch(size))


async def measure_client(
    collection: MemoryCollection,
    bare: BareCalls,
    *,
    size: int,
    requests: Sequence[SearchRequest],
    new: Sequence[SearchRequest],
    further: Sequence[Entry],
) -> ClientLatency:
    """Args:
    size: memories that are there.
    requests: made before.
    new: never made.
    further: :func:`further_count` more, which are added.
    """
    searched = await _searched(collection, bare, requests)
    first_searched = await _searched(collection, bare, new)
    single = await _written(collection, bare, further[: 2 * SINGLES], at_once=1)
    batch = await _written(collection, bare, further[2 * SINGLES :], at_once=_batch(size))
    return ClientLatency(
        search=spread([1000 * seconds for seconds in searched[1]]),
        single_writes=1 / spread(single[1]).p50,
        batch_writes=_batch(size) / spread(batch[1]).p50,
        search_ratio=_ratio(searched),
        new_ratio=_ratio(first_searched),
        single_ratio=_ratio(single),
        batch_ratio=_ratio(batch),
    )


async def _searched(
    collection: MemoryCollection, bare: BareCalls, requests: Sequence[SearchRequest]
) -> tuple[list[float], list[float]]:
    """Seconds of each, by the store and by the client alone."""
    times: tuple[list[float], list[float]] = ([], [])
    for request in requests:
        for search, taken in zip((collection.search, bare.search), times, strict=True):
            started = perf_counter()
            await search(request)
            taken.append(perf_counter() - started)
    return times


async def _written(
    collection: MemoryCollection, bare: BareCalls, entries: Sequence[Entry], *, at_once: int
) -> tuple[list[float], list[float]]:
    """Seconds of each write, by the store and by the client alone: the first half by the one, the rest by the other."""
    half = len(entries) // 2
    times: tuple[list[float], list[float]] = ([], [])
    for start in range(0, half, at_once):
        ours, theirs = (entries[first : first + at_once] for first in (start, half + start))
        bare.prepared([*ours, *theirs])
        started = perf_counter()
        await collection.add(ours)
        between = perf_counter()
        await bare.add(bare.prepared(theirs))
        times[0].append(between - started)
        times[1].append(perf_counter() - between)
    return times


def _ratio(times: tuple[Sequence[float], Sequence[float]]) -> float:
    return spread(times[0]).p50 / spread(times[1]).p50


def _batch(size: int) -> int:
    return min(BATCH, size // 10 + 1)
