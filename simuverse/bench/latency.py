"""How long a recall takes, beside the least that any program must do for the same answer.

The least is one matrix product over all vectors and one FTS5 query over all texts, as a plain script would write them;
for a store on a server also what its client alone takes for the two searches and the batches.
"""

from __future__ import annotations

import gc
import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from time import perf_counter

from simuverse import parts
from simuverse.bench.client_latency import ClientLatency, further_count, measure_client
from simuverse.bench.invented_entries import START, embedded, invented_entries
from simuverse.bench.invented_texts import InventedTexts
from simuverse.bench.timing import Spread, process_mb, spread, timed, write_speed
from simuverse.errors import UsageError
from simuverse.memory.analysis import query_terms
from simuverse.memory.caches import let_go
from simuverse.memory.embedding import Embedder, Vectors
from simuverse.memory.recall import RecallSettings, recall
from simuverse.memory.records import MemoryQuery, SearchType
from simuverse.memory.store import OVER_FETCH, MemoryCollection, MemoryStore, SearchRequest

SIZES = (1_000, 10_000, 100_000)
"""Memories: an evening, a year, a life."""

QUERIES = 100
"""Recalls timed at each size: enough for a 95th percentile that five of them lie above."""

AGENTS = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class SizeLatency:
    """What was measured with ``size`` memories.

    Args:
        recall: embedding, search and ranking of one hybrid query, in the process that wrote the memories.
        fresh: the same where no text was looked at before, as after a start or an erasure.
        embed, search: those parts of it alone.
        at_once: a recall while three others are under way.
        matrix, fts: the bare work, in memory.
        ratio_p50, ratio_p95: recall over the sum of both.
        first_search: milliseconds of the first search after the writes, which reads all memories.
        single_writes, batch_writes: memories a second, without embedding.
        memory_mb: megabytes that this process grew by from before the first search; None where the system doesn't say.
        client: None for a store that isn't on a server.
    """

    size: int
    recall: Spread
    fresh: Spread
    embed: Spread
    search: Spread
    at_once: Spread
    matrix: Spread
    fts: Spread
    ratio_p50: float
    ratio_p95: float
    first_search: float
    single_writes: float
    batch_writes: float
    memory_mb: float | None
    client: ClientLatency | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Latency:
    """One run."""

    store: str
    embedder: str
    cores: int
    sizes: tuple[SizeLatency, ...]


async def measure_latency(
    store: MemoryStore,
    embedder: Embedder,
    *,
    sizes: Sequence[int] = SIZES,
    queries: int = QUERIES,
    seed: int = 1,
    on_progress: Callable[[str], None] = lambda _: None,
) -> Latency:
    """Measures each size in turn, in a collection of its own that is erased afterwards.

    Args:
        sizes: numbers of memories, each 1 or more.
        queries: how many recalls are timed at each size.
        on_progress: is told what comes next, for people.

    Raises:
        UsageError: a size below 1, or a collection of the benchmark's name is in the store already.
        StoreError, EmbedderError: as the parts raise them.
    """
    if any(size < 1 for size in sizes):
        raise UsageError(f"sizes are 1 or more, not {', '.join(map(str, sizes))}")
    measured: list[SizeLatency] = []
    for size in sizes:
        owner = f"simuverse bench latency {size}"
        if owner in await store.owners():
            raise UsageError(
                f"{store.description} already holds memories of {owner!r}; erase them or use another store"
            )
        try:
            measured.append(
                await _measure_size(
                    await store.collection(owner),
                    embedder,
                    size=size,
                    queries=queries,
                    texts=InventedTexts(seed),
                    on_progress=on_progress,
                )
            )
        finally:
            await store.erase(owner)
    return Latency(store=store.description, embedder=embedder.name, cores=os.cpu_count() or 1, sizes=tuple(measured))


async def _measure_size(
    collection: MemoryCollection,
    embedder: Embedder,
    *,
    size: int,
    queries: int,
    texts: InventedTexts,
    on_progress: Callable[[str], None],
) -> SizeLatency:
    on_progress(f"{size} memories: embedding")
    summaries = texts.draw(size)
    vectors = await embedded(embedder, summaries)
    questions = [text.removesuffix(".") for text in texts.draw(queries)]
    on_progress(f"{size} memories: writing")
    entries = invented_entries(collection.owner, summaries, vectors)
    question_vectors = await embedder.embed(questions, kind="query")
    requests = _requests(questions, question_vectors)
    bare = parts.bare_calls(collection)
    if bare is not None:
        # As an agent recalls before it has anything to remember: from then on a server needn't count words.
        await collection.search(requests[0])
    writes = await write_speed(entries, collection.add)
    before = _resident_mb()
    on_progress(f"{size} memories: recalling")
    started = perf_counter()
    await collection.search(requests[0])
    first_search = 1000 * (perf_counter() - started)
    after = _resident_mb()

    now, settings = START + timedelta(minutes=size), RecallSettings()

    async def recall_one(question: str) -> None:
        await recall([MemoryQuery(text=question)], collection=collection, embedder=embedder, now=now, settings=settings)

    recalled = await timed(questions, recall_one)
    at_once = await timed(questions, recall_one, at_once=AGENTS)
    embed_times = await timed(questions, lambda question: embedder.embed([question], kind="query"))
    searched = await timed(requests, collection.search)
    let_go()
    fresh = await timed(questions, recall_one)
    on_progress(f"{size} memories: the bare work")
    by_client: ClientLatency | None = None
    if bare is not None:
        more = texts.draw(further_count(size))
        further = invented_entries(collection.owner, more, await embedded(embedder, more), first=size)
        new = [text.removesuffix(".") for text in texts.draw(queries)]
        by_client = await measure_client(
            collection,
            bare,
            size=size,
            requests=requests,
            new=_requests(new, await embedder.embed(new, kind="query")),
            further=further,
        )
    matrix = _timed_product(vectors, question_vectors)
    fts = _timed_fts(summaries, questions)
    return SizeLatency(
        size=size,
        recall=spread(recalled),
        fresh=spread(fresh),
        embed=spread(embed_times),
        search=spread(searched),
        at_once=spread(at_once),
        matrix=spread(matrix),
        fts=spread(fts),
        ratio_p50=spread(recalled).p50 / (spread(matrix).p50 + spread(fts).p50),
        ratio_p95=spread(recalled).p95 / (spread(matrix).p95 + spread(fts).p95),
        first_search=first_search,
        single_writes=writes.single,
        batch_writes=writes.batch,
        memory_mb=None if before is None or after is None else after - before,
        client=by_client,
    )


def _requests(questions: Sequence[str], vectors: Vectors) -> list[SearchRequest]:
    return [
        SearchRequest(search_type=SearchType.HYBRID, terms=query_terms(question), vector=vector)
        for question, vector in zip(questions, vectors, strict=True)
    ]


def _timed_product(vectors: Vectors, questions: Vectors) -> list[float]:
    times: list[float] = []
    for question in questions:
        started = perf_counter()
        vectors @ question  # pyright: ignore[reportUnusedExpression]
        times.append(1000 * (perf_counter() - started))
    return times


def _timed_fts(texts: Sequence[str], questions: Sequence[str]) -> list[float]:
    times: list[float] = []
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE VIRTUAL TABLE texts USING fts5(text)")
        database.executemany("INSERT INTO texts VALUES (?)", ((text,) for text in texts))
        for question in questions:
            words = " OR ".join(question.split())
            started = perf_counter()
            database.execute(
                "SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ?", (words, OVER_FETCH)
            ).fetchall()
            times.append(1000 * (perf_counter() - started))
    return times


def _resident_mb() -> float | None:
    gc.collect()
    return process_mb(os.getpid())
