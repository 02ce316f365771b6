"""People to rehearse with: what they see, what comes to their minds, and what they do then."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from simuverse.agents.backends.rehearsal import Rehearsal
from simuverse.agents.conscious import ConsciousAgent
from simuverse.agents.trace import Recollection
from simuverse.agents.turn import Observation, Persona, Tool, ToolCall, Turn, Utterance
from simuverse.memory.records import (
    Category,
    Factor,
    Flashback,
    Memory,
    MemoryDraft,
    Provenance,
    Score,
    Source,
    memory_id,
)
from tests.agents.minds import TOOLS

MORNING = datetime(2026, 3, 18, 8, 0, tzinfo=UTC)
SQUARE = "at (200, 200) in a square from 50 to 550, near old_well"
WALKING = (*TOOLS, Tool(name="move_to", description="Walk to somewhere."))
FACTOR = Factor(raw=0, scaled=0, weight=0)
SCORE = Score(preset="balanced", relevance=FACTOR, importance=FACTOR, recency=FACTOR)

NILS = Persona(name="Nils", description="I herd goats.")
LOST = Persona(name="Nils", description="I herd goats.", wishes=("I want my tin_whistle back.",))
BOUND = Persona(name="Nils", description="I herd goats.", wishes=("I want company at the hill_fair.",))

ELSA_NEAR = "Elsa is 30 to the east, waiting."
ELSA_FAR = "Elsa is 150 to the east, waiting."
BODO_FAR = "Bodo is 170 to the west, walking to old_well."
WHISTLE_FAR = "tin_whistle lies 120 to the south, at (200, 320)."
GATE = "goat_gate is 20 to the north, at (200, 180), closed; you can: open, close."
PROMISED = "I promised to open the goat_gate before noon."
OPENS = "I know that the hill_fair opens at 09:00."
WHISTLE_HERE = "tin_whistle lies 12 to the south, at (200, 212)."


def mind_of(*texts: str, age: float = 5) -> Recollection:
    """Flashbacks of ``age`` minutes ago, as reflex notes them: lines of speech, or what was seen."""
    flashbacks: list[Flashback] = []
    for rank, text in enumerate(texts, start=1):
        memory = Memory.from_draft(
            MemoryDraft(summary=text, category=Category.CONVERSATION),
            id=memory_id("Nils", "then", rank),
            owner="Nils",
            at=MORNING - timedelta(minutes=age),
            provenance=Provenance(source=Source.OBSERVED),
        )
        flashbacks.append(Flashback(memory=memory, score=SCORE, rank=rank, found_by=()))
    return Recollection(mode="reflex", flashbacks=tuple(flashbacks))


def here(
    *heard: tuple[str, str],
    seen: tuple[str, ...] = (),
    carrying: tuple[str, ...] = (),
    at: datetime = MORNING,
    location: str = SQUARE,
) -> Observation:
    return Observation(
        turn="t1",
        time=at,
        location=location,
        seen=seen,
        heard=tuple(Utterance(id=f"m{n}", speaker=s, text=t, to="Nils") for n, (s, t) in enumerate(heard)),
        carrying=carrying,
    )


async def does(
    persona: Persona, observation: Observation, *memories: str, age: float = 5, tools: tuple[Tool, ...] = WALKING
) -> Turn:
    decision = await ConsciousAgent(persona, Rehearsal()).decide(observation, mind_of(*memories, age=age), tools)
    assert len(decision.calls) == 1
    assert not decision.failed
    assert decision.turn.reflection.current_task
    return decision.turn


def words(call: ToolCall) -> str:
    assert call.tool == "say"
    return call.arguments["text"]
