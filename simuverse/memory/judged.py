"""What a model judges to belong, of what a recall with its gate open brings. PURE.

Some questions share no word with what answers them, and to the gate look like questions about something unknown; a
model that reads both can tell. So it is shown more than may come back, and what it names is held to the same budget.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from simuverse.memory.recall import Recalled, RecallSettings
from simuverse.memory.records import Candidate, Cut, Flashback
from simuverse.memory.room import estimated_tokens

MOST = 10
"""Flashbacks that a model may be shown to judge, as the form of its reply has numbers for no more."""

_WIDER = 2
"""Times as many as may come back are judged."""


def to_judge(settings: RecallSettings) -> RecallSettings:
    """The same recall, but for the gate, which lets everything through, and with room for more."""
    count = min(_WIDER * settings.count, MOST)
    wider = max(count / settings.count, 1)
    return replace(
        settings,
        count=count,
        tokens=int(settings.tokens * wider),
        share=settings.share / wider,
        min_sure=-1,
        min_cosine=-1,
    )


def judged(recalled: Recalled, belonging: Collection[int], settings: RecallSettings) -> Recalled:
    """What of it comes back.

    Args:
        recalled: by the settings of :func:`to_judge`.
        belonging: ranks of the flashbacks that belong.
        settings: those of the recall itself, whose budget is kept.
    """
    brought = {flashback.memory.id: flashback for flashback in recalled.flashbacks}
    flashbacks: list[Flashback] = []
    candidates: list[Candidate] = []
    spent = 0
    for weighed in recalled.candidates:
        candidate, flashback = weighed, brought.get(weighed.memory.id)
        if flashback is not None:
            cost = flashback.room or estimated_tokens(flashback.memory)
            if flashback.rank not in belonging:
                candidate = replace(weighed, cut=Cut.JUDGED)
            elif len(flashbacks) == settings.count:
                behind = flashbacks[-1].score.total - weighed.score.total
                candidate = replace(weighed, cut=Cut.COUNT, missed_by=behind)
            elif spent + cost > settings.tokens:
                candidate = replace(weighed, cut=Cut.TOKENS, missed_by=float(spent + cost - settings.tokens))
            else:
                spent += cost
                flashbacks.append(replace(flashback, rank=len(flashbacks) + 1))
        if candidate.cut is None or len(candidates) - len(flashbacks) < settings.runners_up:
            candidates.append(candidate)
    return Recalled(flashbacks=tuple(flashbacks), candidates=tuple(candidates), considered=recalled.considered)
