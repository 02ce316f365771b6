"""Who a memory comes from that a model wrote of a whole turn. PURE.

The model isn't asked: it would say what it is told to. Its words are compared with those of the turn. What was heard
weighs more than what was done, so that what someone claims about the owner stays theirs. What holds little of the turn
is the model's own, and is *inferred*; it rests on the flashbacks whose words it holds, as far as they aren't inferred
themselves. What rests on such alone would be its own evidence, and isn't written down.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from simuverse.agents import reflex
from simuverse.agents.turn import Utterance
from simuverse.agents.unwritten import Exchange
from simuverse.memory.analysis import memory_tokens, tokens
from simuverse.memory.hygiene import containment, likeness
from simuverse.memory.records import Memory, MemoryDraft, Provenance, Source

HELD = 1 / 3
"""Share of a summary's tokens that the turn must hold for the memory to be of the turn. Low, as models use words of
their own, and names alone are often most of what a translation shares."""

RESTS = 1 / 2
"""Share of an inferred summary's tokens that a flashback must hold to be its evidence."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Attributed:
    """Args: refused: why it may not be written down; empty if it may."""

    provenance: Provenance
    evidence: tuple[UUID, ...] = ()
    refused: str = ""


def attributed(owner: str, exchange: Exchange, draft: MemoryDraft) -> Attributed:
    """Where a draft comes from: of several who spoke, the one whose words are most like it; of equals, the last."""
    observation, outcome = exchange.observation, exchange.outcome
    said = outcome.said if outcome is not None else None
    messages = tuple(utterance.id for utterance in (*observation.heard, *filter(None, (said,))))
    written = tokens(draft.summary)
    if written and containment(written, tokens(" ".join(_texts(owner, exchange)))) < HELD:
        return _inferred(draft, exchange, Provenance(source=Source.INFERRED, turn=observation.turn, messages=messages))
    heard = max(
        reversed(observation.heard), key=lambda utterance: likeness(tokens(_spoken(utterance)), written), default=None
    )
    if heard is not None:
        provenance = replace(reflex.heard_from(owner, heard, observation.turn), messages=messages)
    else:
        source = Source.OBSERVED if outcome is None else Source.OWN_ACTION
        provenance = Provenance(source=source, turn=observation.turn, messages=messages)
    return Attributed(provenance=provenance)


def _inferred(draft: MemoryDraft, exchange: Exchange, provenance: Provenance) -> Attributed:
    written = tokens(draft.summary)
    rests_on: Sequence[Memory] = [
        flashback.memory
        for flashback in exchange.recollection
        if containment(written, memory_tokens(flashback.memory)) >= RESTS
    ]
    evidence = tuple(memory.id for memory in rests_on if memory.provenance.source is not Source.INFERRED)
    if rests_on and not evidence:
        return Attributed(provenance=provenance, refused=f"rests on what was only inferred: {draft.summary}")
    return Attributed(provenance=provenance, evidence=evidence)


def _texts(owner: str, exchange: Exchange) -> list[str]:
    """All words of the turn."""
    observation, call, outcome = exchange.observation, exchange.call, exchange.outcome
    texts = [owner, observation.location, *observation.seen, *observation.noticed, *observation.carrying]
    texts += [observation.answer, *map(_spoken, (*observation.earlier, *observation.heard))]
    if call is not None:
        texts += [call.tool, *call.arguments.values()]
    if outcome is not None:
        texts.append(outcome.sentence)
        if outcome.said is not None:
            texts.append(_spoken(outcome.said))
    return texts


def _spoken(utterance: Utterance) -> str:
    return f"{utterance.speaker}: {utterance.text}"
