"""The prompts as models get them, filled with an invented turn.

``python -m tests.snapshots.refresh``, from the root of the repository, writes them to this folder: for when a prompt or
a renderer was changed on purpose. Read the difference.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

from simuverse import prompts
from simuverse.agents.turn import Observation, Outcome, Parameter, Persona, Tool, ToolCall, Utterance
from simuverse.agents.xml import (
    render_exchange,
    render_flashbacks,
    render_memory,
    render_persona,
    render_situation,
    render_tools,
)
from simuverse.memory.records import Category, Factor, Flashback, Memory, MemoryDraft, Provenance, Score, Source

FOLDER = Path(__file__).parent

PERSONA = Persona(
    name="Ottilie",
    description="I keep the lighthouse and its log.",
    speech="Dry, in few words.",
    facts=("I am 44.", "My brother is Bruno."),
    wishes=("A new lens for the lamp.",),
)
TOOLS = (
    Tool(
        name="say",
        description="Say something aloud.",
        parameters=(
            Parameter(name="text", description="the words"),
            Parameter(name="to", description="whom it is meant for", required=False),
        ),
    ),
    Tool(
        name="switch",
        description="Turn the lamp.",
        parameters=(Parameter(name="state", description="of the lamp", options=("on", "off")),),
    ),
)
OBSERVATION = Observation(
    turn="t3",
    time=datetime(2026, 11, 5, 17, 40, tzinfo=UTC),
    location="the lamp room",
    seen=("The lamp is off.", "Bruno is here."),
    heard=(Utterance(id="m1", speaker="Bruno", text="When does the <Hermine> & her crew land?", to="Ottilie"),),
    carrying=("a rag",),
    answer="You climbed up to the lamp room.",
    intentions=("Light the lamp before dusk.",),
)
SAID = Utterance(id="m2", speaker="Ottilie", text="At nine, if the wind holds.", to="Bruno")
CALL = ToolCall(tool="say", arguments={"text": SAID.text, "to": "Bruno"})
OUTCOME = Outcome(ok=True, code="said", sentence="Bruno heard you.", said=SAID)
DRAFT = MemoryDraft(
    summary="The harbour master told Ottilie that the Hermine lands at nine.",
    category=Category.KNOWLEDGE,
    keywords=("Hermine", "harbour master"),
    critical_information="21:00",
    importance=5,
)
_FACTOR = Factor(raw=0.5, scaled=0.5, weight=1.0)
FLASHBACK = Flashback(
    memory=Memory.from_draft(
        DRAFT,
        id=UUID(int=7),
        owner="Ottilie",
        at=datetime(2026, 11, 5, 9, 12, tzinfo=UTC),
        provenance=Provenance(source=Source.SAID_BY, speaker="the harbour master"),
    ),
    score=Score(preset="balanced", relevance=_FACTOR, importance=_FACTOR, recency=_FACTOR),
    rank=1,
    found_by=(),
)

SLOTS: dict[str, dict[str, str]] = {
    "character": {"persona": render_persona(PERSONA), "tools": render_tools(TOOLS), "zone": "UTC"},
    "situation": {"situation": render_situation(OBSERVATION), "flashbacks": render_flashbacks([FLASHBACK])},
    "queries": {"persona": render_persona(PERSONA)},
    "queries_input": {"situation": render_situation(OBSERVATION)},
    "judgement": {"persona": render_persona(PERSONA)},
    "judgement_input": {
        "situation": render_situation(OBSERVATION),
        "flashbacks": render_flashbacks([FLASHBACK, replace(FLASHBACK, rank=2)], numbered=True),
    },
    "memory": {"persona": render_persona(PERSONA), "recent": render_memory(DRAFT)},
    "memory_input": {
        "flashbacks": render_flashbacks([FLASHBACK]),
        "exchange": render_exchange(OBSERVATION, CALL, OUTCOME, "Ottilie"),
    },
    "repair": {"error": "line 3: <category> says 'gossip'; it must be one of plan, action."},
}


def filled(name: str) -> str:
    """The prompt ``name`` with the slots above."""
    return prompts.fill(name, **SLOTS[name]) + "\n"


if __name__ == "__main__":
    for prompt in SLOTS:
        (FOLDER / f"{prompt}.txt").write_text(filled(prompt), encoding="utf-8")
