"""Many agents in one store: what making, filling, asking and erasing them takes, and the server's memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from time import perf_counter

from simuverse.bench.invented_entries import embedded, invented_entries
from simuverse.bench.invented_texts import InventedTexts
from simuverse.bench.timing import Spread, process_mb, spread, timed
from simuverse.errors import UsageError
from simuverse.memory.analysis import query_terms
from simuverse.memory.embedding import Embedder
from simuverse.memory.records import SearchType
from simuverse.memory.store import MemoryCollection, MemoryStore, SearchRequest

AGENTS, MEMORIES = 1_000, 100
QUERIES = 200
AT_ONCE = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentsBench:
    """What was measured in one store.

    Args:
        make: milliseconds to make one agent's collection.
        writes: memories a second, each agent's in one batch, without embedding.
        first_search: milliseconds of the first hybrid search in an agent's memories, each of another agent.
        search: of agents that were asked before.
        erase: milliseconds to erase one agent.
        started_mb, made_mb, filled_mb: memory of the server before, with all agents made, and filled; None where it
            isn't known.
    """

    store: str
    embedder: str
    agents: int
    memories: int
    make: Spread
    writes: float
    first_search: Spread
    search: Spread
    at_once: Spread
    erase: Spread
    started_mb: float | None
    made_mb: float | None
    filled_mb: float | None

    @property
    def mb_each(self) -> float | None:
        """Of the server, for each agent with its memories."""
        if self.started_mb is None or self.filled_mb is None:
            return None
        return (self.filled_mb - self.started_mb) / self.agents


async def measure_agents(
    store: MemoryStore,
    embedder: Embedder,
    *,
    agents: int = AGENTS,
    memories: int = MEMORIES,
    queries: int = QUERIES,
    seed: int = 1,
    server: int | None = None,
    on_progress: Callable[[str], None] = lambda _: None,
) -> AgentsBench:
    """Makes agents of names of its own, and erases them.

    Args:
        agents, memories: how many, and how many each has, 1 or more.
        server: its process, if it runs on this machine, to read its memory from.

    Raises:
        UsageError: less than one of either, or the store isn't empty, as erased agents must be all that is left.
        StoreError, EmbedderError: as the parts raise them.
    """
    if agents < 1 or memories < 1:
        raise UsageError(f"agents and memories are 1 or more, not {agents} and {memories}")
    if await store.owners():
        raise UsageError(f"{store.description} holds memories already; measure in an empty one")
    names = [f"Agent {number}" for number in range(1, agents + 1)]
    texts = InventedTexts(seed)
    summaries = texts.draw(memories)
    vectors = await embedded(embedder, summaries)
    questions = texts.draw(queries)
    requests = [
        SearchRequest(search_type=SearchType.HYBRID, terms=query_terms(question), vector=vector)
        for question, vector in zip(questions, await embedder.embed(questions, kind="query"), strict=True)
    ]
    collections: list[MemoryCollection] = []
    try:
        started_mb = _memory_of(server)
        on_progress(f"{agents} agents: making them")

        async def make(name: str) -> None:
            collections.append(await store.collection(name))

        made = await timed(names, make)
        made_mb = _memory_of(server)
        on_progress(f"{agents} agents: {memories} memories each")
        began = perf_counter()
        for collection in collections:
            await collection.add(invented_entries(collection.owner, summaries, vectors))
        writes = agents * memories / (perf_counter() - began)
        filled_mb = _memory_of(server)
        on_progress(f"{agents} agents: asking them")
        chosen = Random(seed).sample(collections, min(queries, agents))
        asked = list(zip(chosen, requests, strict=False))

        async def search(one: tuple[MemoryCollection, SearchRequest]) -> None:
            await one[0].search(one[1])

        first, again = await timed(asked, search), await timed(asked, search)
        at_once = await timed(asked, search, at_once=AT_ONCE)
    finally:
        on_progress(f"{agents} agents: erasing them")
        erased = await timed(await store.owners(), store.erase)
    return AgentsBench(
        store=store.description,
        embedder=embedder.name,
        agents=agents,
        memories=memories,
        make=spread(made),
        writes=writes,
        first_search=spread(first),
        search=spread(again),
        at_once=spread(at_once),
        erase=spread(erased),
        started_mb=started_mb,
        made_mb=made_mb,
        filled_mb=filled_mb,
    )


def agents_table(measured: Sequence[AgentsBench]) -> str:
    """A row a store."""
    first = measured[0]
    columns = ("make", "first search", "search", "4 at once", "erase")
    lines = [
        *(f"store {number}: {one.store}" for number, one in enumerate(measured, start=1)),
        f"embedder {first.embedder}; p50 / p95 in ms; MB of the server before, made and filled, and for each agent",
        f"{'store':>5} {'agents':>6} {'each':>5}"
        + "".join(f" {name:>15}" for name in columns)
        + f" {'write/s':>8} {'MB':>18} {'each':>5}",
    ]
    for number, one in enumerate(measured, start=1):
        spreads = (one.make, one.first_search, one.search, one.at_once, one.erase)
        times = " ".join(f"{times.p50:>6.1f} / {times.p95:>6.1f}" for times in spreads)
        sizes = (one.started_mb, one.made_mb, one.filled_mb)
        memory = "-" if None in sizes else " ".join(f"{size:.0f}" for size in sizes)
        each = "-" if one.mb_each is None else f"{one.mb_each:.2f}"
        lines.append(f"{number:>5} {one.agents:>6} {one.memories:>5} {times} {one.writes:>8.0f} {memory:>18} {each:>5}")
    return "\n".join(lines)


def _memory_of(server: int | None) -> float | None:
    return None if server is None else process_mb(server)
