"""The character: sees a situation and what comes to mind, and does one thing."""

from __future__ import annotations

from collections.abc import Sequence

from simuverse import prompts
from simuverse.agents.asking import ask
from simuverse.agents.chat import ChatModel, Purpose, conversation
from simuverse.agents.trace import Decision, Recollection
from simuverse.agents.turn import WAIT, Observation, Persona, Reflection, Tool, Turn
from simuverse.agents.xml import parse_turn, render_persona, render_situation, render_tools
from simuverse.memory.clock import time_zone


def temperature(strength: float) -> float:
    """Of the character's call, from the strength of its personality (0 to 1): ``clamp(1 - 0.9 s, 0.1, 1)``."""
    return round(min(1.0, max(0.1, 1.0 - 0.9 * strength)), 4)


class ConsciousAgent:
    """Decides. Keeps no history of its own: what it knows of the past is what comes to mind."""

    def __init__(self, persona: Persona, model: ChatModel) -> None:
        self.persona = persona
        self.model = model

    async def decide(self, observation: Observation, recollection: Recollection, tools: Sequence[Tool]) -> Decision:
        """One reflection and one call. Without a usable reply it is ``wait``, with the failure on record."""
        system = prompts.fill(
            "character", persona=render_persona(self.persona), tools=render_tools(tools), zone=recollection.zone
        )
        situation = prompts.fill(
            "situation",
            situation=render_situation(observation, time_zone(recollection.zone)),
            flashbacks=recollection.as_xml(),
        )
        asked = await ask(
            self.model,
            lambda text, _attempt: parse_turn(text),
            purpose=Purpose.TURN,
            messages=conversation(system, situation),
            temperature=temperature(self.persona.strength),
            seed=observation.seed,
            agent=self.persona.name,
            tools=tuple(tools),
        )
        if asked.value is None:
            problem = f"{self.persona.name} waits: {asked.problem}"
            return Decision(
                turn=Turn(reflection=Reflection(), call=WAIT), calls=asked.calls, problems=(problem,), failed=True
            )
        return Decision(turn=asked.value, calls=asked.calls)
