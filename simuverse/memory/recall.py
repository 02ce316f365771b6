"""From queries to flashbacks: search, merge, rank, gate, budget.

Every step leaves its figures on the candidates, so that whoever asks can be told why a memory came back, and what kept
another from it. Silence is a result: when nothing passes the gate, nothing comes back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import islice
from typing import NamedTuple
from uuid import UUID

from simuverse.memory import timely
from simuverse.memory.analysis import matched_share, memory_tokens, tokens
from simuverse.memory.background import above, background
from simuverse.memory.embedding import Embedder
from simuverse.memory.gate import FIRST, MANY, Signs, least_sureness
from simuverse.memory.hygiene import ALIKE, differing_figures, likeness
from simuverse.memory.nearness import Nearness, most_held, nearness
from simuverse.memory.records import (
    Candidate,
    Cut,
    Flashback,
    FoundBy,
    Hit,
    Memory,
    MemoryQuery,
    SearchType,
)
from simuverse.memory.relevance import DEFAULT_WEIGHTS, Evidence, Relevances, RelevanceWeights, of_the_time, relevance
from simuverse.memory.room import SHORT, estimated_tokens
from simuverse.memory.scoring import Preset, Scores, Weighed, preset, score_all
from simuverse.memory.searching import Searched, search
from simuverse.memory.small_talk import asks_nothing
from simuverse.memory.statements import same_voice
from simuverse.memory.store import DEFAULT_ALPHA, MemoryCollection
from simuverse.memory.word_vectors import WordVectors


@dataclass(frozen=True, kw_only=True, slots=True)
class RecallSettings:
    """How eager a recall is.

    Args:
        preset: the three factors' weights and scaling.
        relevance: the weights of the signals that the first of them is made of.
        count, tokens: the most that comes back, in flashbacks and in (estimated) tokens. Never passed.
        share: of ``tokens``, 0 to 1, that one flashback may take at most; a longer one is shown cut, a short one never.
        min_sure: the gate, first part: from which sureness (-1 to 4, see :mod:`simuverse.memory.gate`) a query brings
            anything back. Lower is more eager; -1 lets every query through.
        min_cosine, min_matched, min_found: the gate, second part. A memory passes that is near enough in meaning (a
            cosine as the default embedder has them, see :mod:`simuverse.memory.background`); or that holds enough of
            the words of one of the queries (share, 0 to 1); or whose words, read in their context, are enough of what a
            query asks for (BM25 as a share of what it could reach, 0 to 1). All are absolute, unlike the signals that
            rank.
        cool_down: a memory shown in the last so many turns stays away, unless it is asked for again: unless it holds
            ``asked_again`` of a query's words.
        alike: the likeness (0 to 1) to a flashback above it from which a memory is left out; None leaves none out.
        runners_up: how many of those that were cut are kept for the record.
        step: what the presets that count in steps take a step to be.
        zone: whose days and hours are meant where a text speaks of a time.
    """

    preset: Preset = field(default_factory=lambda: preset("balanced"))
    relevance: RelevanceWeights = DEFAULT_WEIGHTS
    count: int = 5
    tokens: int = 600
    share: float = 0.4
    min_sure: float = 1.65
    min_cosine: float = 0.40
    min_matched: float = 0.30
    min_found: float = 0.13
    cool_down: int = 3
    asked_again: float = 0.4
    alike: float | None = ALIKE
    runners_up: int = 10
    alpha: float = DEFAULT_ALPHA
    step: timedelta = timedelta(minutes=1)
    zone: tzinfo = UTC

    def __post_init__(self) -> None:
        for name, low in (("count", 1), ("tokens", 1), ("cool_down", 0), ("runners_up", 0)):
            if getattr(self, name) < low:
                raise ValueError(f"{name} {getattr(self, name)} is below {low}")
        if not -1 <= self.min_sure <= 4:
            raise ValueError(f"min_sure {self.min_sure} is outside -1 to 4")
        if not -1 <= self.min_cosine <= 1:
            raise ValueError(f"min_cosine {self.min_cosine} is outside -1 to 1")
        for name in ("share", "min_matched", "min_found", "asked_again", "alpha"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} {getattr(self, name)} is outside 0 to 1")
        if self.alike is not None and not 0 < self.alike <= 1:
            raise ValueError(f"alike {self.alike} is outside 0 to 1")


@dataclass(frozen=True, kw_only=True, slots=True)
class Recalled:
    """See :class:`simuverse.agents.trace.Recollection` for the fields."""

    flashbacks: tuple[Flashback, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    considered: int = 0


class _Found(NamedTuple):
    """A memory as one query found it; one of the two hits may be missing.

    Args:
        query: its place among the queries, from 0.
        relevances, row: what the query makes of all that it found, and where in it this memory stands.
    """

    query: int
    terms: tuple[str, ...]
    alone: Hit | None
    in_context: Hit | None
    relevances: Relevances
    row: int
    listed: bool = False

    @property
    def cosine(self) -> float | None:
        hit = self.alone or self.in_context
        return None if hit is None else hit.cosine

    @property
    def relevance(self) -> float:
        return self.relevances.totals[self.row]


class _Pooled:
    """A memory with all that found it, at least one.

    Args:
        best: the query that it fits best, the first of several.
        relevance: what that one makes of it.
        cosine: the best of the queries; None where none compared meanings.
    """

    __slots__ = ("best", "cosine", "found", "memory", "relevance")

    def __init__(self, memory: Memory, found: _Found) -> None:
        self.memory, self.found, self.best = memory, [found], found
        self.relevance, self.cosine = found.relevance, found.cosine

    def add(self, found: _Found) -> None:
        self.found.append(found)
        if found.relevance > self.relevance:
            self.best, self.relevance = found, found.relevance
        if self.cosine is None or (found.cosine is not None and found.cosine > self.cosine):
            self.cosine = found.cosine

    @property
    def listed(self) -> bool:
        """Whether a query asks for its time and nothing else."""
        return any(found.listed for found in self.found)

    def matched(self, tokens: Collection[str]) -> float:
        """Share of a query's terms that are among its ``tokens``, 0 to 1, the best of the queries."""
        return max(matched_share(found.terms, tokens) for found in self.found)

    @property
    def matched_itself(self) -> float:
        """The same of all its tokens."""
        return self.matched(frozenset(memory_tokens(self.memory)))

    @property
    def in_context(self) -> float:
        """BM25 read in context as a share of what it could reach, 0 to 1, the best of the queries."""
        return max(_share(found.in_context) for found in self.found)


async def recall(
    queries: Sequence[MemoryQuery],
    *,
    collection: MemoryCollection,
    embedder: Embedder,
    now: datetime,
    settings: RecallSettings,
    shown: Collection[UUID] = (),
) -> Recalled:
    """What comes to mind.

    Args:
        now: the run's time; recency is measured against it.
        shown: ids of the memories shown in the last ``cool_down`` turns.

    Raises:
        StoreError, EmbedderError: it couldn't be searched.
    """
    searched = await search(
        queries,
        collection=collection,
        embedder=embedder,
        alpha=settings.alpha,
        zone=settings.zone,
        listed=settings.count + settings.runners_up,
    )
    pool = _merge(searched, settings, embedder if isinstance(embedder, WordVectors) else None)
    if not pool:
        return Recalled()
    pooled = [*pool.values()]
    weighed = [Weighed(entry.memory, entry.relevance, entry.cosine or 0.0) for entry in pooled]
    scores = score_all(weighed, settings.preset, now=now, step=settings.step)
    ranking = sorted(zip([-round(total, 9) for total in scores.totals], pool, range(len(pool)), strict=True))
    ranked = _first_told_first(_past_first([(scores, row, pooled[row]) for _, _, row in ranking]))
    unrelated = await background(embedder)
    unsure = _unsure(searched, [entry for _, _, entry in ranked], settings.min_sure, unrelated)
    return _select(ranked, unsure=unsure, unrelated=unrelated, settings=settings, shown=shown)


def _merge(searched: Sequence[Searched], settings: RecallSettings, table: WordVectors | None) -> dict[int, _Pooled]:
    """One entry a memory, by its id, with every query that found it."""
    pool: dict[int, _Pooled] = {}
    for number, one in enumerate(searched):
        alone = {hit.memory.id.int: hit for hit in one.alone}
        in_context = {hit.memory.id.int: hit for hit in one.in_context}
        memories = {key: hit.memory for key, hit in (alone | in_context).items()}
        named = _Named(one.terms)
        near = _nearness(one.query, memories.values(), table)
        one.held = None if near is None else most_held(near)
        weighed = relevance(
            [_evidence(alone.get(key), in_context.get(key), memory, one, named) for key, memory in memories.items()],
            reach=max((hit.reach or 0.0 for hit in one.alone), default=0.0),
            near=near,
            timely=timely.mentioned(one.query, memories.values(), settings.zone),
            weights=settings.relevance,
        )
        if one.listed:
            memories, weighed = {memory.id.int: memory for memory in one.listed}, of_the_time(len(one.listed))
        for row, (key, memory) in enumerate(memories.items()):
            found = _Found(number, one.terms, alone.get(key), in_context.get(key), weighed, row, bool(one.listed))
            if key in pool:
                pool[key].add(found)
            else:
                pool[key] = _Pooled(memory, found)
    return pool


def _nearness(query: MemoryQuery, memories: Iterable[Memory], table: WordVectors | None) -> Nearness | None:
    """A keyword search means its words as they are written."""
    if table is None or query.search_type is SearchType.KEYWORD:
        return None
    return nearness(query.semantic_text, [memory.summary for memory in memories], table)


class _Named(dict[str, bool]):
    """Whether a query names someone, worked out once for each."""

    def __init__(self, terms: Sequence[str]) -> None:
        self._terms = frozenset(terms)

    def __missing__(self, name: str) -> bool:
        named = self[name] = self._terms.issuperset(tokens(name))
        return named


def _evidence(alone: Hit | None, in_context: Hit | None, memory: Memory, searched: Searched, named: _Named) -> Evidence:
    hit = alone or in_context
    return Evidence(
        bm25=0.0 if alone is None else alone.bm25 or 0.0,
        context_bm25=0.0 if in_context is None else in_context.bm25 or 0.0,
        cosine=None if hit is None or searched.query.search_type is SearchType.KEYWORD else hit.cosine,
        speaker_named=named[memory.provenance.speaker or memory.owner],
        episode=memory.episode,
        position=memory.position,
    )


def _found_by(found: _Found) -> FoundBy:
    alone, in_context = found.alone, found.in_context
    return FoundBy(
        query=found.query,
        cosine=found.cosine,
        semantic_rank=None if alone is None else alone.semantic_rank,
        bm25=None if alone is None else alone.bm25,
        keyword_rank=None if alone is None else alone.keyword_rank,
        context_bm25=None if in_context is None else in_context.bm25,
        context_rank=None if in_context is None else in_context.keyword_rank,
        listed=found.listed,
    )


def _unsure(
    searched: Sequence[Searched], ranked: Sequence[_Pooled], least: float, unrelated: float
) -> dict[int, float]:
    """Of the queries that what is known doesn't answer: by how much each falls short of being sure."""
    unsure: dict[int, float] = {}
    for number, one in enumerate(searched):
        if one.query.search_type is not SearchType.HYBRID or one.listed:
            continue
        found = [(entry, hit) for entry in ranked for hit in entry.found if hit.query == number]
        cosines = (hit.cosine for _, hit in found if hit.cosine is not None)
        signs = Signs(
            found=max(map(_share, one.in_context), default=0.0),
            held=one.held if one.held is not None else _held(one.terms, [entry for entry, _ in found[:MANY]]),
            cosines=[above(one, unrelated) for one in islice(cosines, FIRST)],
            agreed=found[0][1].relevance if found else 0.0,
        )
        sure = 0.0 if asks_nothing(one.query.keyword_text) else signs.sureness
        short = least_sureness(least, len(found)) - sure
        if short > 0:
            unsure[number] = short
    return unsure


def _held(terms: Sequence[str], entries: Sequence[_Pooled]) -> float:
    """The most that one of them holds of the words as they are written, 0 to 1."""
    return max((matched_share(terms, memory_tokens(entry.memory)) for entry in entries), default=0.0)


def _share(hit: Hit | None) -> float:
    """BM25 as a share of what it could reach, 0 to 1."""
    return hit.bm25 / hit.reach if hit and hit.bm25 and hit.reach else 0.0


def _past_first(ranked: list[tuple[Scores, int, _Pooled]]) -> list[tuple[Scores, int, _Pooled]]:
    """Of a fact that changed, what held before stands before what took its place: only who asks for it finds it."""
    if all(entry.memory.superseded_by is None for _, _, entry in ranked):
        return ranked
    places = {entry.memory.id: place for place, (_, _, entry) in enumerate(ranked)}
    successors = ((place, entry.memory.superseded_by) for place, (_, _, entry) in enumerate(ranked))
    return _put_before(ranked, {place: places[by] for place, by in successors if by is not None and by in places})


def _first_told_first(ranked: list[tuple[Scores, int, _Pooled]]) -> list[tuple[Scores, int, _Pooled]]:
    """Of a group, what was told first stands before what somebody else said of it, if it holds as much of a query.

    Else whoever says again what is known, and every word that will be asked for with it, would be shown as its source.
    One's own words may tell more, and are linked sooner.
    """
    if all(entry.memory.restates is None for _, _, entry in ranked):
        return ranked
    places = {entry.memory.id: place for place, (_, _, entry) in enumerate(ranked)}
    behind: dict[int, int] = {}
    for place, (_, _, entry) in enumerate(ranked):
        if entry.memory.restates is None or (first := places.get(entry.memory.restates, place)) <= place:
            continue
        told = ranked[first][2]
        by_another = entry.memory.provenance.speaker is not None and not same_voice(told.memory, entry.memory)
        if by_another and told.matched_itself >= entry.matched_itself:
            behind.setdefault(first, place)
    return _put_before(ranked, behind)


def _put_before(
    ranked: list[tuple[Scores, int, _Pooled]], before: Mapping[int, int]
) -> list[tuple[Scores, int, _Pooled]]:
    """Args: before: places, and those of what each is to stand before."""
    order = [float(place) for place in range(len(ranked))]
    for place in sorted(before, reverse=True):
        order[place] = min(order[place], order[before[place]] - 1 / (2 + place))
    return [ranked[place] for place in sorted(range(len(ranked)), key=order.__getitem__)]


def _select(
    ranked: Sequence[tuple[Scores, int, _Pooled]],
    *,
    unsure: Mapping[int, float],
    unrelated: float,
    settings: RecallSettings,
    shown: Collection[UUID],
) -> Recalled:
    """Gate, near-duplicates, cool-down and budget, from the best down."""
    flashbacks: list[Flashback] = []
    chosen: list[frozenset[str]] = []
    groups: set[UUID] = set()
    kept: list[Candidate] = []
    most = max(int(settings.share * settings.tokens), SHORT)
    spent = 0
    for scores, row, entry in ranked:
        if len(flashbacks) == settings.count and len(kept) == settings.count + settings.runners_up:
            break
        unknown = all(hit.query in unsure for hit in entry.found)
        if unknown and len(kept) - len(flashbacks) == settings.runners_up:
            continue
        whole = estimated_tokens(entry.memory)
        cost = min(whole, most)
        own = frozenset(memory_tokens(entry.memory))
        matched = entry.matched(own)
        reason: Cut | None = None
        missed_by: float | None = None
        if unknown:
            reason, missed_by = Cut.UNSURE, min(unsure[found.query] for found in entry.found)
        elif (short := _gate_shortfall(entry, matched, settings, unrelated)) > 0:
            reason, missed_by = Cut.GATE, short
        elif (entry.memory.id in shown or entry.memory.group in shown) and not (
            entry.listed or matched >= settings.asked_again
        ):
            reason = Cut.COOL_DOWN
        elif entry.memory.group in groups:
            reason = Cut.NEAR_DUPLICATE
        elif settings.alike is not None and (alike := _likest(own, chosen, settings.alike)) > 0:
            reason, missed_by = Cut.NEAR_DUPLICATE, alike - settings.alike
        elif len(flashbacks) == settings.count:
            reason, missed_by = Cut.COUNT, flashbacks[-1].score.total - scores.totals[row]
        elif spent + cost > settings.tokens:
            reason, missed_by = Cut.TOKENS, float(spent + cost - settings.tokens)
        if reason is not None and len(kept) - len(flashbacks) == settings.runners_up:
            continue
        score, found_by = scores[row], tuple(map(_found_by, entry.found))
        kept.append(
            Candidate(
                memory=entry.memory,
                score=score,
                found_by=found_by,
                matched=matched,
                relevance=entry.best.relevances[entry.best.row],
                cut=reason,
                missed_by=missed_by,
            )
        )
        if reason is None:
            room = most if whole > most else None
            rank = len(flashbacks) + 1
            flashbacks.append(Flashback(memory=entry.memory, score=score, rank=rank, found_by=found_by, room=room))
            chosen.append(own)
            groups.add(entry.memory.group)
            spent += cost
    return Recalled(flashbacks=tuple(flashbacks), candidates=tuple(kept), considered=len(ranked))


def _likest(tokens: Collection[str], chosen: Sequence[Collection[str]], least: float) -> float:
    """Likeness to the likest of those chosen; 0 below ``least``, and to one that lacks a number of this one: it is
    another fact."""
    likest = 0.0
    for other in chosen:
        alike = likeness(tokens, other)
        if alike >= max(least, likest) and not differing_figures(tokens, other):
            likest = alike
    return likest


def _gate_shortfall(entry: _Pooled, matched: float, settings: RecallSettings, unrelated: float) -> float:
    """How much the best of the three signals lacks; 0 or less for what passes. What is asked for by its time does."""
    if entry.listed:
        return 0.0
    cosine = -1.0 if entry.cosine is None else above(entry.cosine, unrelated)
    return min(settings.min_cosine - cosine, settings.min_matched - matched, settings.min_found - entry.in_context)
