"""``rehearsal``: fixed rules in the place of a language model. It says so wherever it runs.

It is given the prompt that a model would get, reads it, flashbacks included, and answers in the same XML. It knows
nothing but what stands in that prompt: no world, no store, nothing of the turn before. The rules are in
``rehearsal_rules``.
"""

from __future__ import annotations

from datetime import UTC, datetime

from simuverse.agents import reflex
from simuverse.agents.backends.rehearsal_rules import Memory, Scene, decide
from simuverse.agents.chat import ChatRequest, Completion, Purpose
from simuverse.agents.turn import Observation, Outcome, Utterance
from simuverse.agents.xml import Node, read, render_judgement, render_memory, render_queries, render_turn
from simuverse.memory.analysis import query_terms, tokens


class Rehearsal:
    """A ChatModel that follows rules. Never fails, costs nothing, and repeats itself exactly."""

    name = "rehearsal"

    async def complete(self, request: ChatRequest) -> Completion:
        prompt = "\n".join(message.text for message in request.messages if message.role != "assistant")
        match request.purpose:
            case Purpose.TURN:
                text = render_turn(decide(_scene(prompt)))
            case Purpose.QUERIES:
                text = render_queries(reflex.queries(_observation(read(prompt, "situation"))))
            case Purpose.JUDGEMENT:
                text = _judgement(read(prompt, "situation"), read(prompt, "flashbacks"))
            case Purpose.MEMORY:
                text = _memory(read(prompt, "exchange"), read(prompt, "persona"))
        return Completion(text=text, model=self.name)

    async def aclose(self) -> None:
        pass


def _scene(prompt: str) -> Scene:
    """What stands in a character's prompt."""
    persona, tools, situation, flashbacks = (
        read(prompt, root) for root in ("persona", "tools", "situation", "flashbacks")
    )
    observation = _observation(situation)
    return Scene(
        me=persona.text_of("name"),
        time=observation.time,
        place=observation.location,
        tools=tuple(tool.attributes["name"] for tool in tools.all("tool")),
        wishes=_items(persona, "wishes"),
        seen=observation.seen,
        heard=observation.heard,
        carrying=observation.carrying,
        answer=observation.answer,
        memories=tuple(
            Memory(summary=flashback.text_of("summary"), time=_time(flashback))
            for flashback in flashbacks.all("flashback")
        ),
    )


def _observation(node: Node) -> Observation:
    return Observation(
        turn="",
        time=_time(node),
        location=node.text_of("place"),
        seen=_items(node, "seen"),
        heard=_heard(node.find("heard")),
        carrying=_items(node, "carrying"),
        answer=node.text_of("answer"),
        intentions=_items(node, "intentions"),
    )


def _time(node: Node) -> datetime:
    """In UTC, so that the rules do the same by any clocks."""
    return datetime.fromisoformat(node.text_of("time")).astimezone(UTC)


def _judgement(situation: Node, flashbacks: Node) -> str:
    """What shares a word with any of the queries that the rules would ask."""
    asked = frozenset(term for query in reflex.queries(_observation(situation)) for term in query_terms(query.text))
    return render_judgement(
        int(flashback.attributes["number"])
        for flashback in flashbacks.all("flashback")
        if not asked.isdisjoint(tokens(flashback.text_of("summary")))
    )


def _memory(exchange: Node, persona: Node) -> str:
    """The first thing that the rules would note of the exchange; what was only seen isn't worth it."""
    observation = _observation(exchange)
    own = next((_utterance(child) for child in exchange.children if child.tag == "said"), None)
    outcome = Outcome(ok=True, code="", sentence=exchange.text_of("outcome") or "-", said=own)
    notes = reflex.notes(persona.text_of("name"), observation, None, outcome)
    return render_memory(notes[0].draft if notes else None)


def _heard(node: Node | None) -> tuple[Utterance, ...]:
    if node is None:
        return ()
    return tuple(map(_utterance, node.all("said")))


def _utterance(said: Node) -> Utterance:
    return Utterance(id="", speaker=said.attributes["by"], text=said.text, to=said.attributes.get("to"))


def _items(node: Node, name: str) -> tuple[str, ...]:
    parent = node.find(name)
    return () if parent is None else tuple(child.text for child in parent.children)
