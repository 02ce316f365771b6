"""What of an exchange a model would write down, asked for as XML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo

from simuverse import prompts
from simuverse.agents.asking import ask
from simuverse.agents.attribution import attributed
from simuverse.agents.chat import ChatModel, Purpose, conversation
from simuverse.agents.reflex import Note
from simuverse.agents.trace import ModelCall
from simuverse.agents.unwritten import Unwritten
from simuverse.agents.xml import parse_memories, render_flashbacks, render_memory, render_persona
from simuverse.errors import StoreError
from simuverse.memory.naming import visible
from simuverse.memory.records import Memory, MemoryDraft
from simuverse.memory.store import MemoryCollection

LATEST_SHOWN = 5
"""Latest memories that are shown to a model that writes one, so that it sees what is known already."""

CATEGORY_REPAIRS = 1
"""How often a model is asked again for a category or importance that can't be read; then it is guessed and flagged."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Noted:
    """Args:
    notes: None where they couldn't be written.
    problems: what went wrong or had to be repaired.
    refused: what may not be written down, and why.
    """

    notes: Sequence[Note] | None
    calls: tuple[ModelCall, ...] = ()
    problems: Sequence[str] = ()
    refused: Sequence[str] = ()


async def noted_by_model(
    one: Unwritten,
    *,
    model: ChatModel,
    collection: MemoryCollection,
    exchange: str,
    zone: tzinfo,
    temperature: float,
) -> Noted:
    """Args:
    collection: the owner's, whose latest memories are shown to the model.
    exchange: as the model is shown it.
    zone: by whose clocks it is shown times.
    """
    try:
        latest = await collection.recent(LATEST_SHOWN)
    except StoreError as error:
        return Noted(notes=None, problems=[f"nothing was remembered: {error}"])
    asked = await ask(
        model,
        lambda text, attempt: parse_memories(text, last_attempt=attempt > CATEGORY_REPAIRS),
        purpose=Purpose.MEMORY,
        messages=conversation(
            prompts.fill(
                "memory",
                persona=render_persona(one.persona),
                recent=visible("\n".join(render_memory(_as_draft(memory)) for memory in latest)) or "None yet.",
            ),
            prompts.fill(
                "memory_input",
                exchange=exchange,
                flashbacks=render_flashbacks(one.exchange.recollection.flashbacks, zone),
            ),
        ),
        temperature=temperature,
        seed=one.exchange.observation.seed,
        agent=one.owner,
    )
    if asked.value is None:
        return Noted(notes=None, calls=asked.calls, problems=[f"nothing was remembered: {asked.problem}"])
    notes: list[Note] = []
    refused: list[str] = []
    for draft in asked.value.drafts:
        if one.unsaid is not None:
            notes.append(Note(draft=draft, provenance=one.unsaid.provenance))
            continue
        source = attributed(one.owner, one.exchange, draft)
        if source.refused:
            refused.append(source.refused)
        else:
            notes.append(Note(draft=draft, provenance=source.provenance, evidence=source.evidence))
    return Noted(notes=notes, calls=asked.calls, problems=list(asked.value.notes), refused=refused)


def _as_draft(memory: Memory) -> MemoryDraft:
    return MemoryDraft(
        summary=memory.summary,
        category=memory.category,
        keywords=memory.keywords,
        critical_information=memory.critical_information,
        importance=memory.importance,
    )
