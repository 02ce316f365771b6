"""What a trace or a memory says, as text for people. PURE: the command line prints it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, tzinfo

from simuverse.agents.subconscious import Retried
from simuverse.agents.trace import Recollection, TurnTrace
from simuverse.memory.clock import local, shown_time, time_zone
from simuverse.memory.ledger import NEVER, Tally
from simuverse.memory.records import Candidate, Flashback, FoundBy, Hit, Memory, MemoryQuery, Score
from simuverse.memory.time_asked import TimeUse


def turn(trace: TurnTrace) -> str:
    """A turn: what was recalled and why, what just missed, what was done and remembered."""
    zone = time_zone(trace.recollection.zone)
    lines = [f"{trace.agent}, tick {trace.tick}, {shown_time(trace.observation.time, zone)}"]
    lines += [f'  heard {u.speaker}: "{u.text}"' for u in trace.observation.heard]
    lines += [f"  {line}" for line in recollection(trace.recollection)]
    lines.append(f"  did {call_text(trace)}: {trace.outcome.sentence}")
    lines += [f"  remembered: {memory.summary}" for memory in trace.remembered.written]
    lines += [f"  not stored: {reason}" for reason in trace.remembered.refused]
    lines += [f"  known already: {memory.summary}" for memory in trace.remembered.merged]
    lines += [f"  past since: {memory.summary}" for memory in trace.remembered.past]
    lines += [f"  had to go: {memory.summary}" for memory in trace.remembered.evicted]
    if trace.remembered.failed:
        lines.append("  not written down yet; `memories SOURCE retry` tries again")
    lines += [f"  problem: {problem}" for problem in trace.problems]
    return "\n".join(lines)


def recollection(recalled: Recollection) -> Iterator[str]:
    """Queries, flashbacks with their three factors, and runners-up with what cut them."""
    if recalled.mode == "off":
        yield "memory is off"
        return
    zone = time_zone(recalled.zone)
    yield from (f"query {number}: {query_text(query, zone)}" for number, query in enumerate(recalled.queries))
    if not recalled.flashbacks:
        yield f"nothing came to mind; {recalled.considered} memories were weighed"
    for flashback in recalled.flashbacks:
        yield from _flashback(flashback, zone)
    if recalled.runners_up:
        yield "just missed:"
        yield from (f"  {line}" for candidate in recalled.runners_up for line in _runner_up(candidate))


def query_text(query: MemoryQuery, zone: tzinfo = UTC) -> str:
    keywords = [f"keywords {', '.join(query.keywords)}"] if query.keywords else []
    return "; ".join((f'{query.search_type} "{query.text}"', *keywords, *conditions(query, zone)))


def conditions(query: MemoryQuery, zone: tzinfo = UTC) -> Iterator[str]:
    """What a query asks of a memory beside its words, one condition each, times by the clocks of ``zone``.

    A window that is both the query's time and its filter's is told once.
    """
    asked, told = query.filter, query.time
    since, until = asked.since, asked.until
    if told is not None:
        yield told.describe(zone)
        if told.use is not TimeUse.BOOST and (since, until) == (told.since, told.until):
            since = until = None
    if asked.category is not None:
        yield f"category {asked.category}"
    if asked.min_importance is not None:
        yield f"importance at least {asked.min_importance}"
    if asked.max_importance is not None:
        yield f"importance at most {asked.max_importance}"
    if since is not None:
        yield f"since {shown_time(since, zone)}"
    if until is not None:
        yield f"before {shown_time(until, zone)}"
    if asked.about is not None:
        yield f"about {asked.about}"
    if asked.exclude_sources:
        yield f"not {', '.join(sorted(asked.exclude_sources))}"
    if asked.include_superseded:
        yield "also what is past"
    if asked.include_forgotten:
        yield "also what is hidden"


def call_text(trace: TurnTrace) -> str:
    call = trace.decision.call
    return " ".join((call.tool, *(f"{name}={value!r}" for name, value in call.arguments.items())))


def memory_line(memory: Memory, zone: tzinfo = UTC) -> str:
    """One line: id, time by the clocks of ``zone``, category, importance, source, summary."""
    marks = "".join(
        mark
        for mark, set_ in (
            (" [anchored]", memory.anchored),
            (" [past]", memory.superseded_by is not None),
            (" [may restate another]", memory.restates is not None),
            (" [forgotten]", memory.forgotten_at is not None),
        )
        if set_
    )
    return (
        f"{memory.id}  {shown_time(memory.created_at, zone)}  {memory.category}  {memory.importance}/10  "
        f"{memory.provenance.describe()}{marks}  {memory.summary}"
    )


def hit_line(hit: Hit, zone: tzinfo = UTC) -> str:
    """One line: the raw figures, then the memory."""
    figures = (
        f"{name} {value:.3f} (#{rank})" if rank else f"{name} {value:.3f}"
        for name, value, rank in (("cosine", hit.cosine, hit.semantic_rank), ("BM25", hit.bm25, hit.keyword_rank))
        if value is not None
    )
    return f"{', '.join(figures)}  {memory_line(hit.memory, zone)}"


def memory_fields(memory: Memory, tally: Tally = NEVER, zone: tzinfo = UTC) -> str:
    """Every field that is set, one a line, and what became of it as a flashback."""
    pairs: Sequence[tuple[str, object]] = (
        ("id", memory.id),
        ("owner", memory.owner),
        ("summary", memory.summary),
        ("category", memory.category),
        ("keywords", ", ".join(memory.keywords)),
        ("critical information", memory.critical_information),
        ("importance", f"{memory.importance}/10"),
        ("created", _exactly(memory.created_at, zone)),
        ("last accessed", _exactly(memory.last_accessed_at, zone)),
        ("location", memory.location),
        ("source", memory.provenance.describe()),
        ("turn", memory.provenance.turn),
        ("messages", ", ".join(memory.provenance.messages)),
        ("evidence", ", ".join(map(str, memory.evidence))),
        ("episode", f"{memory.episode}, position {memory.position}" if memory.episode else ""),
        ("anchored", "yes" if memory.anchored else ""),
        ("supersedes", memory.supersedes),
        ("superseded by", memory.superseded_by),
        ("superseded", memory.superseded_at and _exactly(memory.superseded_at, zone)),
        ("may restate", memory.restates),
        ("forgotten", memory.forgotten_at and _exactly(memory.forgotten_at, zone)),
        ("flags", ", ".join(memory.flags)),
        ("as a flashback", tally.describe() if tally.shown else ""),
    )
    return "\n".join(f"{name:>20}  {value}" for name, value in pairs if value not in (None, ""))


def retried(one: Retried, zone: tzinfo = UTC) -> str:
    """What came of an exchange that was tried again: a line for it, and one for each memory."""
    remembered, observation = one.remembered, one.unwritten.exchange.observation
    if one.there:
        came_of_it = "it was in the store already"
    elif remembered.failed:
        came_of_it = f"failed again: {remembered.problems[-1]}"
    else:
        came_of_it = "written down" if remembered.written else "nothing in it was worth writing down"
    lines = [f"{one.unwritten.owner}, {shown_time(observation.time, zone)}, turn {observation.turn}: {came_of_it}"]
    return "\n".join([*lines, *(f"  {memory_line(memory, zone)}" for memory in remembered.written)])


def score_text(score: Score) -> str:
    """``1.08 = relevance 0.93 (1 x 0.93) + importance ...``"""
    parts = (
        f"{name} {factor.part:.2f} ({factor.weight:g} x {factor.scaled:.2f})"
        for name, factor in (
            ("relevance", score.relevance),
            ("importance", score.importance),
            ("recency", score.recency),
        )
    )
    return f"{score.total:.2f} = {' + '.join(parts)}"


def _exactly(time: datetime, zone: tzinfo) -> str:
    there = local(time, zone)
    return there.isoformat() + ("" if str(there.tzinfo) == "UTC" else f" {there.tzinfo}")


def _flashback(flashback: Flashback, zone: tzinfo) -> Iterator[str]:
    memory = flashback.memory
    yield f"flashback {flashback.rank}: {memory.summary}"
    yield f"  {shown_time(memory.created_at, zone)}, {memory.provenance.describe()}, {memory.category}"
    yield f"  {score_text(flashback.score)}"
    yield f"  found by {'; '.join(map(_found, flashback.found_by))}"


def _runner_up(candidate: Candidate) -> Iterator[str]:
    by = "" if candidate.missed_by is None else f" by {candidate.missed_by:.2f}"
    yield f"{candidate.memory.summary}"
    yield f"  cut by {candidate.cut}{by}; {score_text(candidate.score)}"


def _found(found: FoundBy) -> str:
    legs = (
        ("meaning", found.semantic_rank, found.cosine, "cosine"),
        ("words", found.keyword_rank, found.bm25, "BM25"),
        ("words in context", found.context_rank, found.context_bm25, "BM25"),
    )
    told = (f"{name} #{rank} ({unit} {value:.2f})" for name, rank, value, unit in legs if rank and value is not None)
    otherwise = "by its time" if found.listed else "in no leg"
    return f"query {found.query}: {', '.join(told) or otherwise}"
