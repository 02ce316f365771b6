"""The values that memory is made of: what is written, what is asked, what comes back, and why.

All are frozen and refuse nonsense when made. Nothing here knows a store, a model or a world.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple, Self
from uuid import UUID, uuid5

from simuverse.memory.clock import require_aware
from simuverse.memory.time_asked import TimeAsked, TimeUse

MAX_KEYWORDS = 8
IMPORTANCE_MIN, IMPORTANCE_DEFAULT, IMPORTANCE_MAX = 1, 5, 10

BY_RULE = "by_rule"
"""Flag of a draft that no model wrote."""

_IDS = UUID("5d0f6a7e-6f6b-5c1e-9a55-0c1f1f0f9d21")
"""Namespace of memory ids: fixed, so that the same turn gives the same id in every process."""


class Category(StrEnum):
    CONVERSATION = "conversation"
    OBSERVATION = "observation"
    ACTION = "action"
    EMOTION = "emotion"
    PLAN = "plan"
    RELATIONSHIP = "relationship"
    KNOWLEDGE = "knowledge"
    REFLECTION = "reflection"


class Source(StrEnum):
    """How its owner came to know it."""

    OBSERVED = "observed"
    SAID_BY = "said_by"
    """Someone said it to the owner."""
    TOLD = "told"
    """Someone said it to someone else, and the owner heard."""
    OWN_ACTION = "own_action"
    INFERRED = "inferred"
    SEED = "seed"
    OPERATOR = "operator"


class SearchType(StrEnum):
    KEYWORD = "keyword"
    SEMANTIC = "semantic"
    HYBRID = "hybrid"


@dataclass(frozen=True, kw_only=True, slots=True)
class Provenance:
    """Where a memory comes from.

    Args:
        source: how the owner came to know it.
        speaker: who said it; required for ``said_by`` and ``told``, absent otherwise.
        listener: whom it was told to; required for ``told``, absent otherwise.
        turn: id of the turn it was written in; None outside a turn.
        messages: ids of the messages it rests on.
    """

    source: Source
    speaker: str | None = None
    listener: str | None = None
    turn: str | None = None
    messages: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        spoken = self.source in (Source.SAID_BY, Source.TOLD)
        if spoken != (self.speaker is not None):
            raise ValueError(f"provenance {self.source}: a speaker {'is missing' if spoken else 'makes no sense'}")
        if (self.source is Source.TOLD) != (self.listener is not None):
            raise ValueError(f"provenance {self.source}: a listener goes with 'told' and only with it")

    def describe(self) -> str:
        """For people and prompts: ``said by Jade``, ``told by Jade to James``, ``seen``..."""
        match self.source:
            case Source.SAID_BY:
                return f"said by {self.speaker}"
            case Source.TOLD:
                return f"told by {self.speaker} to {self.listener}"
            case Source.OBSERVED:
                return "seen"
            case Source.OWN_ACTION:
                return "done"
            case Source.INFERRED:
                return "inferred"
            case Source.SEED:
                return "known from before"
            case Source.OPERATOR:
                return "added by an operator"


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryDraft:
    """What a subconscious wrote down, before it has an owner, a time and an id.

    Args:
        summary: one or two sentences, self-contained; not blank. The only text that is embedded.
        keywords: at most eight, none blank.
        critical_information: names, numbers, promises, places that must survive; may be empty.
        importance: 1 (routine) to 10 (life-changing).
        flags: what had to be repaired or guessed, for people to see (``category_unknown:gossip``).
    """

    summary: str
    category: Category
    keywords: tuple[str, ...] = ()
    critical_information: str = ""
    importance: int = IMPORTANCE_DEFAULT
    flags: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check_text(self.summary, self.keywords, self.importance)


@dataclass(frozen=True, kw_only=True, slots=True)
class Memory:
    """One memory as a store keeps it.

    Args:
        id: the store's own key. Made by :func:`memory_id`, so that a write repeated can't double.
        owner: whose memory it is.
        created_at, last_accessed_at: aware; kept in UTC.
        provenance: mandatory.
        evidence: ids of the memories that a reflection, an opinion or a merge rests on.
        episode, position: which conversation or stretch of turns, and where in it (0 or more).
        anchored: never fades, never merges, is never evicted, never rewritten by a model.
        supersedes, superseded_by, superseded_at: history of a fact that changed.
        forgotten_at: hidden since then; None while it can be recalled.
        restates: the memory that it may only say again: both are of one group, of which a recall shows one.

    The other fields are those of :class:`MemoryDraft`.
    """

    id: UUID
    owner: str
    summary: str
    category: Category
    keywords: tuple[str, ...] = ()
    critical_information: str = ""
    importance: int = IMPORTANCE_DEFAULT
    created_at: datetime
    last_accessed_at: datetime
    location: str = ""
    provenance: Provenance
    evidence: tuple[UUID, ...] = ()
    episode: str = ""
    position: int = 0
    anchored: bool = False
    supersedes: UUID | None = None
    superseded_by: UUID | None = None
    superseded_at: datetime | None = None
    forgotten_at: datetime | None = None
    flags: tuple[str, ...] = ()
    restates: UUID | None = None

    def __post_init__(self) -> None:
        _check_text(self.summary, self.keywords, self.importance)
        if not self.owner:
            raise ValueError("a memory needs an owner")
        if self.position < 0:
            raise ValueError(f"position {self.position} in an episode is below 0")
        if self.id in self.evidence:
            raise ValueError("a memory can't be its own evidence")
        if self.restates == self.id:
            raise ValueError("a memory can't restate itself")
        for name in ("created_at", "last_accessed_at", "superseded_at", "forgotten_at"):
            time: datetime | None = getattr(self, name)
            if time is not None:
                object.__setattr__(self, name, require_aware(time, name))

    @classmethod
    def from_draft(
        cls,
        draft: MemoryDraft,
        *,
        id: UUID,
        owner: str,
        at: datetime,
        provenance: Provenance,
        location: str = "",
        episode: str = "",
        position: int = 0,
        evidence: tuple[UUID, ...] = (),
        anchored: bool = False,
    ) -> Self:
        return cls(
            id=id,
            owner=owner,
            summary=draft.summary,
            category=draft.category,
            keywords=draft.keywords,
            critical_information=draft.critical_information,
            importance=draft.importance,
            flags=draft.flags,
            created_at=at,
            last_accessed_at=at,
            provenance=provenance,
            location=location,
            episode=episode,
            position=position,
            evidence=evidence,
            anchored=anchored,
        )

    @property
    def group(self) -> UUID:
        """The same for all that may say one and the same thing."""
        return self.restates or self.id

    @property
    def current(self) -> bool:
        """Neither superseded nor forgotten: what a recall may bring back."""
        return self.superseded_by is None and self.forgotten_at is None

    def superseded(self, *, by: UUID, at: datetime) -> Self:
        return replace(self, superseded_by=by, superseded_at=at)

    def forgotten(self, *, at: datetime) -> Self:
        return replace(self, forgotten_at=at)


def memory_id(owner: str, turn: str, ordinal: int) -> UUID:
    """The id of the ``ordinal``-th memory (0 or more) that ``owner`` writes in ``turn``: the same in every process."""
    return uuid5(_IDS, f"{owner}\x1f{turn}\x1f{ordinal}")


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryFilter:
    """What a memory must satisfy to be found; an unset field asks for nothing.

    Args:
        min_importance, max_importance: inclusive.
        since, until: creation time, ``since`` inclusive, ``until`` exclusive.
        about: a name or term; every token of it must be among the memory's search tokens.
        exclude_sources: leave these out, for example ``inferred``.
        include_superseded, include_forgotten: also what is past, or hidden.
    """

    category: Category | None = None
    min_importance: int | None = None
    max_importance: int | None = None
    since: datetime | None = None
    until: datetime | None = None
    about: str | None = None
    exclude_sources: frozenset[Source] = frozenset()
    include_superseded: bool = False
    include_forgotten: bool = False

    def __post_init__(self) -> None:
        for name in ("since", "until"):
            time: datetime | None = getattr(self, name)
            if time is not None:
                object.__setattr__(self, name, require_aware(time, name))
        low, high = self.min_importance, self.max_importance
        if low is not None and high is not None and low > high:
            raise ValueError(f"min_importance {low} is above max_importance {high}")

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Self:
        """A filter from names and values.

        Raises:
            ValueError: for a name that isn't a filter; a filter ignored would return what was to be left out.
        """
        known = [f.name for f in fields(cls)]
        unknown = sorted(set(values) - set(known))
        if unknown:
            raise ValueError(f"unknown filter {', '.join(unknown)}. Filters: {', '.join(known)}")
        return cls(**values)


NO_FILTER = MemoryFilter()


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryQuery:
    """One question that the subconscious puts to its memory.

    Args:
        text: what is embedded, and what the keyword search reads if there are no ``keywords``.
        keywords: words for the keyword side, beside ``text``.
        time: the time that the text speaks of. Where it is asked about, it is in the filter too, and the rest of the
            text is searched.
    """

    search_type: SearchType = SearchType.HYBRID
    text: str = ""
    keywords: tuple[str, ...] = ()
    filter: MemoryFilter = NO_FILTER
    time: TimeAsked | None = None

    def __post_init__(self) -> None:
        if not self.text.strip() and not any(k.strip() for k in self.keywords):
            raise ValueError("a query needs text or keywords")

    @property
    def keyword_text(self) -> str:
        """What the keyword side of the search reads."""
        return " ".join((self._searched, *self.keywords)).strip()

    @property
    def semantic_text(self) -> str:
        """What is embedded."""
        return self._searched.strip() or ", ".join(self.keywords)

    @property
    def _searched(self) -> str:
        return self.text if self.time is None or self.time.use is TimeUse.BOOST else self.time.text


class Hit(NamedTuple):
    """A memory that a search found, with the raw figures it was found by.

    Args:
        fused: the legs' relative scores combined, 0 to 1. Relative to this search: no measure of how well it fits.
        cosine: of query and summary, -1 to 1; None where the query had no vector.
        bm25: raw score of the keyword leg, above 0; None where that leg didn't find it.
        reach: what ``bm25`` could come to at most, the sum of the idf of the query's terms; the same for all hits of a
            search; None where there was no keyword leg.
        semantic_rank, keyword_rank: place in each leg from 1; None where that leg didn't find it.
    """

    memory: Memory
    fused: float
    cosine: float | None = None
    bm25: float | None = None
    reach: float | None = None
    semantic_rank: int | None = None
    keyword_rank: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Factor:
    """One factor of a score: ``weight * scaled`` is its part of the total; ``raw`` is what it was made of."""

    raw: float
    scaled: float
    weight: float

    @property
    def part(self) -> float:
        return self.weight * self.scaled


@dataclass(frozen=True, kw_only=True, slots=True)
class Score:
    """Why a memory ranks where it does.

    ``total = w_rel * relevance + w_imp * importance + w_rec * recency``, after Park et al., "Generative Agents" (2023).
    """

    preset: str
    relevance: Factor
    importance: Factor
    recency: Factor

    @property
    def total(self) -> float:
        return self.relevance.part + self.importance.part + self.recency.part

    @property
    def parts(self) -> dict[str, float]:
        """Each factor's share of the total, by name; they add up to :attr:`total`."""
        return {"relevance": self.relevance.part, "importance": self.importance.part, "recency": self.recency.part}


@dataclass(frozen=True, kw_only=True, slots=True)
class Relevance:
    """``total`` is 0 to 1; the others are each signal's part of it and add up to it."""

    words: float = 0.0
    words_around: float = 0.0
    context: float = 0.0
    meaning: float = 0.0
    meaning_around: float = 0.0
    speaker: float = 0.0
    contiguity: float = 0.0
    time: float = 0.0

    @property
    def total(self) -> float:
        around = self.words_around + self.context + self.meaning_around
        return self.words + self.meaning + around + self.speaker + self.contiguity + self.time


NO_RELEVANCE = Relevance()


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundBy:
    """Which of the queries found a memory, and how.

    Args:
        query: its place among the queries, from 0.
        cosine, semantic_rank, bm25, keyword_rank: as in :class:`Hit`.
        context_bm25, context_rank: the same of the memory read together with what came before it in its episode.
        listed: it is of the time that the query asks for, without any search.
    """

    query: int
    cosine: float | None = None
    semantic_rank: int | None = None
    bm25: float | None = None
    keyword_rank: int | None = None
    context_bm25: float | None = None
    context_rank: int | None = None
    listed: bool = False


class Cut(StrEnum):
    """What kept a candidate from becoming a flashback."""

    UNSURE = "unsure"
    """Found only by queries that ask for something unknown."""
    GATE = "gate"
    """Too little to do with what is going on."""
    NEAR_DUPLICATE = "near_duplicate"
    """Nearly the same as a flashback above it."""
    COOL_DOWN = "cool_down"
    """Shown in one of the last turns."""
    JUDGED = "judged"
    """A model judged that it doesn't belong to what is going on."""
    COUNT = "count"
    TOKENS = "tokens"


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A memory that was weighed for a turn.

    Args:
        matched: share of the queries' terms that the memory holds, 0 to 1, the best of the queries.
        relevance: the signals that its relevance is made of, by the query that it fits best.
        cut: what kept it out; None for a flashback.
        missed_by: by how much: of the gate's measure, of the last flashback's score, in tokens, of the likeness;
            None where no figure applies.
    """

    memory: Memory
    score: Score
    found_by: tuple[FoundBy, ...] = field(default=())
    matched: float = 0.0
    relevance: Relevance = NO_RELEVANCE
    cut: Cut | None = None
    missed_by: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Flashback:
    """A memory that came back, and why.

    Args:
        rank: from 1.
        room: tokens that its texts are cut to in a prompt, as they are longer; None shows all of them.
    """

    memory: Memory
    score: Score
    rank: int
    found_by: tuple[FoundBy, ...]
    room: int | None = None


def _check_text(summary: str, keywords: tuple[str, ...], importance: int) -> None:
    if not summary.strip():
        raise ValueError("a memory's summary is blank")
    if len(keywords) > MAX_KEYWORDS:
        raise ValueError(f"{len(keywords)} keywords; at most {MAX_KEYWORDS}")
    if not all(k.strip() for k in keywords):
        raise ValueError("a keyword is blank")
    if not IMPORTANCE_MIN <= importance <= IMPORTANCE_MAX:
        raise ValueError(f"importance {importance} is outside {IMPORTANCE_MIN} to {IMPORTANCE_MAX}")
