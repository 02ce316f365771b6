"""What a draft is, and how it stands to what is known, as far as that needs no store. PURE."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from uuid import UUID

import numpy as np

from simuverse.memory.analysis import query_terms, tokens
from simuverse.memory.changed_facts import held_before
from simuverse.memory.echoes import FEWEST
from simuverse.memory.records import Memory, MemoryFilter, SearchType, Source
from simuverse.memory.statements import Statement, same_voice, speaker_of, statement_of
from simuverse.memory.store import SearchRequest, Vector

NEAREST = 12
"""Memories that a draft is compared with: what it restates is among the first, what it replaces may stand behind some
others on the same subject."""

ONE_EVENT = timedelta(days=1)
"""How far apart the same may be told and still be one event. Beyond, it is kept, and linked: it may have happened
again."""

_RELATIVE_DAYS = frozenset(("today", "tomorrow", "yesterday", "tonight"))
"""Said on another day, they mean another one."""

EXEMPT = (Source.SEED, Source.OPERATOR)
"""Whoever writes these means them to be there."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Known:
    """Something that a draft is compared with.

    Args:
        memory: None for a sentence of a prompt.
        shown: whether it was in this turn's prompts.
    """

    memory: Memory | None
    statement: Statement
    vector: Vector | None
    cosine: float | None = None
    shown: bool = False

    def cosine_to(self, vector: Vector) -> float:
        return float(np.vecdot(self.vector, vector)) if self.vector is not None else self.cosine or 0.0

    def is_another(self, draft: Memory) -> bool:
        return self.memory is None or self.memory.id != draft.id


def is_the_draft_of_its_id(memory: Memory, drafts: Mapping[UUID, Memory]) -> bool:
    """Whether it is the draft of its id, as a try that was cut short has stored it."""
    draft = drafts[memory.id]
    return (memory.summary, speaker_of(memory)) == (draft.summary, speaker_of(draft))


def is_own_of_shown(draft: Memory, known: Known) -> bool:
    """Whether one says oneself what was in this turn's prompts, or something like it."""
    return known.shown and is_own(draft)


def statement_to_compare(draft: Memory, statement: Statement) -> Statement:
    """In one's own mouth, without whom one tells it: that is no part of it, unless it speaks of either of both.

    Of a greeting the name is all that tells it from others, and whom another tells it may be news.
    """
    bare = statement.unaddressed
    of_both = statement.of_speaker or statement.of_listener
    if not is_own(draft) or of_both or len(bare.words) + len(bare.particulars) < FEWEST:
        return statement
    return bare


def refusal(draft: Memory, known: Known) -> str:
    source = "the prompt" if known.memory is None else "a flashback" if known.shown else "a memory"
    return f"restates {source}: {draft.summary}"


def may_take_in(known: Known, draft: Memory) -> bool:
    """Whether the same voice told it: lately, or so that it came to mind this turn, or as an echo itself.

    So of what one voice says again and again, the first telling and the last are kept.
    """
    memory = known.memory
    if memory is None or memory.anchored or not memory.current or not same_voice(draft, memory) or is_own(draft):
        return False
    return known.shown or memory.restates is not None or abs(draft.created_at - memory.created_at) <= ONE_EVENT


def is_deed(memory: Memory) -> bool:
    """What was done and not said: to do it again is another event."""
    return memory.provenance.source is Source.OWN_ACTION and not memory.provenance.messages


def is_own(memory: Memory) -> bool:
    """Or one's own thought."""
    own = memory.provenance.source is Source.OWN_ACTION and bool(memory.provenance.messages)
    return own or memory.provenance.source is Source.INFERRED


def on_another_day(draft: Memory, statement: Statement, known: Known) -> bool:
    """Not in one's own mouth of what another told and came to mind: that is their day, and not one's own."""
    if is_own_of_shown(draft, known) and known.statement.speaker != statement.speaker:
        return False
    relative = statement.particulars & _RELATIVE_DAYS
    return bool(relative) and known.memory is not None and known.memory.created_at.date() != draft.created_at.date()


def linked(draft: Memory, to: Memory, *, importance: bool = True) -> Memory:
    """Args: importance: whether it is held down to that of what it restates."""
    return replace(
        draft,
        restates=to.restates or to.id,
        evidence=tuple(dict.fromkeys((*draft.evidence, to.id))) if is_own(draft) else draft.evidence,
        importance=min(draft.importance, to.importance) if importance else draft.importance,
    )


def in_part(draft: Memory, text: str) -> Memory:
    """With what of keywords and critical information is in that part."""
    prefix = f"{speaker_of(draft)}: "
    words = set(tokens(text))
    held = [one for one in draft.critical_information.split(", ") if one and set(tokens(one)) <= words]
    return replace(
        draft,
        summary=(prefix if draft.summary.startswith(prefix) else "") + text,
        keywords=tuple(keyword for keyword in draft.keywords if set(tokens(keyword)) <= words),
        critical_information=", ".join(held),
    )


def requests_for(draft: Memory, vector: Vector) -> list[SearchRequest]:
    """By all that it says, and by what it may take the place of, said by the same."""
    if draft.provenance.source in EXEMPT or is_deed(draft):
        return []
    near = SearchRequest(search_type=SearchType.HYBRID, terms=query_terms(draft.summary), vector=vector, limit=NEAREST)
    wanted = held_before(statement_of(draft))
    if not wanted:
        return [near]
    about = MemoryFilter(about=speaker_of(draft)) if tokens(speaker_of(draft)) else near.filter
    return [near, replace(near, search_type=SearchType.KEYWORD, terms=query_terms(wanted), filter=about)]
