"""A long run of the rehearsed village: whether memory, seconds a turn and memories stay flat, and echoes none."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time

from simuverse import wiring
from simuverse.agents.agent import Agent
from simuverse.bench.timing import process_mb
from simuverse.config import Settings
from simuverse.memory.analysis import query_terms
from simuverse.memory.echoes import compared
from simuverse.memory.records import MemoryFilter, SearchType, Source
from simuverse.memory.statements import statement_of
from simuverse.memory.store import SearchRequest
from simuverse.memory.word_vectors import WordVectors

STAGES = 5
"""Parts of the run that are compared."""

_NEAREST = 12
"""Memories among which an echo is looked for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Stage:
    """Args:
    milliseconds, cpu_milliseconds: a turn, mean: wall time, and time of processors, which a busy machine changes less.
    written, told_again, refused: drafts that became memories, were taken in by one that is there, and were refused.
    most_written: memories that a single turn left, at most.
    current, kept: memories at its end, of all agents: that can be recalled, and in all.
    kb_a_turn: by which the run's folder grew, mean; None without one.
    process_mb: of the process at its end; None where the system doesn't say.
    """

    turns: int
    milliseconds: float
    cpu_milliseconds: float
    written: int
    told_again: int
    refused: int
    most_written: int
    current: int
    kept: int
    kb_a_turn: float | None
    process_mb: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Soak:
    """Args:
    echoes: of one's own speech, stored alone, what surely restates an older memory that is current.
    """

    turns: int
    stages: tuple[Stage, ...]
    echoes: int


async def soak(
    turns: int,
    *,
    embedder: str = "wordllama",
    store: str | None = None,
    folder: Path | None = None,
    on_progress: Callable[[str], None] = lambda _: None,
) -> Soak:
    """Args:
    turns: of four characters together; rounded up to whole ticks.
    store: where memories are kept, as a user types it; None: in a file of the folder.
    folder: that the run is kept in, new or empty; None keeps all in memory.
    """
    settings = Settings(embedder=embedder, store=store)
    stages: list[Stage] = []
    async with wiring.open_simulation(settings, folder=folder) as simulation:
        ticks = max(STAGES, -(-turns // len(simulation.agents)))
        for stage in range(STAGES):
            count = ticks * (stage + 1) // STAGES - ticks * stage // STAGES
            written = told_again = refused = most_written = 0
            begin = _kilobytes(folder)
            started, worked = perf_counter(), process_time()
            for _ in range(count):
                for trace in await simulation.step():
                    written += len(trace.remembered.written)
                    most_written = max(most_written, len(trace.remembered.written))
                    told_again += len(trace.remembered.merged)
                    refused += len(trace.remembered.refused)
            seconds, cpu = perf_counter() - started, process_time() - worked
            stage_turns = count * len(simulation.agents)
            current = [await _count(agent, MemoryFilter()) for agent in simulation.agents.values()]
            ever = MemoryFilter(include_superseded=True, include_forgotten=True)
            kept = [await _count(agent, ever) for agent in simulation.agents.values()]
            stages.append(
                Stage(
                    turns=stage_turns,
                    milliseconds=1000 * seconds / stage_turns,
                    cpu_milliseconds=1000 * cpu / stage_turns,
                    written=written,
                    told_again=told_again,
                    refused=refused,
                    most_written=most_written,
                    current=sum(current),
                    kept=sum(kept),
                    kb_a_turn=None if folder is None else (_kilobytes(folder) - begin) / stage_turns,
                    process_mb=process_mb(os.getpid()),
                )
            )
            on_progress(f"{stages[-1].turns} turns, {stages[-1].milliseconds:.1f} ms each")
        echoes = sum([await _echoes(agent) for agent in simulation.agents.values()])
    return Soak(turns=sum(stage.turns for stage in stages), stages=tuple(stages), echoes=echoes)


def _kilobytes(folder: Path | None) -> float:
    return 0.0 if folder is None else sum(file.stat().st_size for file in folder.iterdir()) / 1000


async def _count(agent: Agent, filter: MemoryFilter) -> int:
    assert agent.subconscious is not None
    return await agent.subconscious.collection.count(filter=filter)


async def _echoes(agent: Agent) -> int:
    mind = agent.subconscious
    assert mind is not None
    table = mind.embedder if isinstance(mind.embedder, WordVectors) else None
    found = 0
    async for entry in mind.collection.scan():
        memory = entry.memory
        own = memory.provenance.source is Source.OWN_ACTION and memory.provenance.messages
        if not own or not memory.current or memory.restates is not None:
            continue
        request = SearchRequest(
            search_type=SearchType.HYBRID, terms=query_terms(memory.summary), vector=entry.vector, limit=_NEAREST
        )
        for hit in await mind.collection.search(request):
            older = hit.memory
            if older.id == memory.id or older.created_at >= memory.created_at:
                continue
            echo = compared(statement_of(memory), statement_of(older), cosine=hit.cosine or 0.0, table=table)
            if echo is not None and echo.is_sure():
                found += 1
                break
    return found
