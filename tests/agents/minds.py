"""What tests of the two minds are made of: moments, replies in the right form, faults."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any, NoReturn

from simuverse.agents.subconscious import SubconsciousAgent
from simuverse.agents.turn import Observation, Outcome, Parameter, Persona, Reflection, Tool, ToolCall, Turn, Utterance
from simuverse.agents.xml import render_judgement, render_memory, render_queries, render_turn
from simuverse.errors import BadVector, EmbedderUnavailable, OutsideError, StoreUnavailable
from simuverse.memory.records import Category, MemoryDraft, MemoryQuery

Minds = Callable[..., SubconsciousAgent]
"""Opens a mind on the one collection: scripted replies make it deliberate; keywords replace its parts."""

NOW = datetime(2026, 3, 18, 12, tzinfo=UTC)
MIRA = Persona(
    name="Mira",
    description="I keep the mill by the river.",
    speech="Short sentences, dry jokes.",
    facts=("I am 34.",),
    wishes=("I want my brass_key back.",),
    strength=0.5,
)
SAY = Tool(
    name="say",
    description="Say something to those near you.",
    parameters=(
        Parameter(name="text", description="the words"),
        Parameter(name="to", description="whom you mean", required=False),
    ),
)
TOOLS = (SAY, Tool(name="wait", description="Do nothing for now."))
SAID_NOTHING = Outcome(ok=True, code="waited", sentence="You waited.")

UNSTORED: tuple[tuple[str, OutsideError], ...] = (
    ("collection.add", StoreUnavailable("disk full")),
    ("embedder.embed", EmbedderUnavailable("closed port")),
    ("embedder.embed", BadVector("zeros")),
)
"""Where what is to be remembered may fail to be stored, and with what."""


def moment(
    *heard: tuple[str, str] | tuple[str, str, str | None],
    number: int = 1,
    minutes: float = 0,
    seen: tuple[str, ...] = (),
    noticed: tuple[str, ...] = (),
    intentions: tuple[str, ...] = (),
    owner: str = "Mira",
) -> Observation:
    """The ``number``-th moment; each thing heard is speaker and text, and to whom, by default to ``owner``."""
    return Observation(
        turn=f"t{number}",
        time=NOW + timedelta(minutes=minutes),
        location="at the mill",
        seen=seen,
        noticed=noticed,
        heard=tuple(
            Utterance(id=f"t{number}/m{place}", speaker=h[0], text=h[1], to=h[2] if len(h) > 2 else owner)
            for place, h in enumerate(heard)
        ),
        intentions=intentions,
        episode="day",
        position=number,
        seed=number * 100,
    )


def said(text: str, *, to: str | None = "Tomas", speaker: str = "Mira", id: str = "own") -> Outcome:
    utterance = Utterance(id=id, speaker=speaker, text=text, to=to)
    return Outcome(ok=True, code="said", sentence="They heard you.", said=utterance)


def turn_xml(tool: str = "wait", task: str = "", **arguments: str) -> str:
    return render_turn(Turn(reflection=Reflection(current_task=task), call=ToolCall(tool=tool, arguments=arguments)))


def queries_xml(*texts: str) -> str:
    return render_queries([MemoryQuery(text=text) for text in texts])


def memory_xml(summary: str, category: str = "knowledge", *, critical: str = "", importance: int = 5) -> str:
    draft = MemoryDraft(
        summary=summary, category=Category.KNOWLEDGE, critical_information=critical, importance=importance
    )
    return render_memory(draft).replace("knowledge", category, 1)


def judgement_xml(*numbers: int) -> str:
    return render_judgement(numbers)


NOTHING = render_memory(None)


def failing(error: Exception) -> Callable[..., Coroutine[Any, Any, NoReturn]]:
    """In the place of any asynchronous method."""

    async def fail(*args: object, **kwargs: object) -> NoReturn:
        raise error

    return fail
