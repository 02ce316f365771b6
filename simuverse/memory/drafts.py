"""What a draft is, and how it stands to what is known, as far as that needs no store. PURE."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from uuid import UUID

import numpy as np

from simuverse.memory.analysis import tokens
from simuverse.memory.echoes import SURE, SURE_OF_OWN
from simuverse.memory.records import Memory, Source
from simuverse.memory.statements import Statement, same_voice, speaker_of
from simuverse.memory.store import Vector

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


def least_sure(draft: Memory, known: Known) -> float:
    return SURE_OF_OWN if known.shown and is_own(draft) else SURE


def refusal(draft: Memory, known: Known) -> str:
    source = "the prompt" if known.memory is None else "a flashback" if known.shown else "a memory"
    return f"restates {source}: {draft.summary}"


def may_take_in(known: Known, draft: Memory) -> bool:
    """Whether the same voice told it, and lately, or so that it came to mind this turn."""
    memory = known.memory
    if memory is None or memory.anchored or not memory.current or not same_voice(draft, memory) or is_own(draft):
        return False
    return known.shown or abs(draft.created_at - memory.created_at) <= ONE_EVENT


def is_deed(memory: Memory) -> bool:
    """What was done and not said: to do it again is another event."""
    return memory.provenance.source is Source.OWN_ACTION and not memory.provenance.messages


def is_own(memory: Memory) -> bool:
    """Or one's own thought."""
    own = memory.provenance.source is Source.OWN_ACTION and bool(memory.provenance.messages)
    return own or memory.provenance.source is Source.INFERRED


def on_another_day(draft: Memory, statement: Statement, known: Known) -> bool:
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
