"""What of what comes to mind belongs to the moment, asked of a model as XML: some of it, or none of these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo

from simuverse import prompts
from simuverse.agents.asking import ask
from simuverse.agents.chat import ChatModel, Purpose, conversation
from simuverse.agents.trace import ModelCall
from simuverse.agents.turn import Observation, Persona
from simuverse.agents.xml import parse_judgement, render_flashbacks, render_persona, render_situation
from simuverse.memory.records import Flashback


@dataclass(frozen=True, kw_only=True, slots=True)
class Judged:
    """Args:
    belonging: ranks; None where there is no usable judgement.
    problems: what went wrong or had to be repaired.
    """

    belonging: frozenset[int] | None
    calls: tuple[ModelCall, ...] = ()
    problems: Sequence[str] = ()


async def judged_by_model(
    flashbacks: Sequence[Flashback],
    observation: Observation,
    *,
    model: ChatModel,
    persona: Persona,
    zone: tzinfo,
    temperature: float,
) -> Judged:
    """Args:
    flashbacks: what is judged, 1 to :data:`simuverse.memory.judged.MOST`.
    zone: by whose clocks the model is shown times.
    """
    asked = await ask(
        model,
        lambda text, _attempt: parse_judgement(text, shown=len(flashbacks)),
        purpose=Purpose.JUDGEMENT,
        messages=conversation(
            prompts.fill("judgement", persona=render_persona(persona)),
            prompts.fill(
                "judgement_input",
                situation=render_situation(observation, zone),
                flashbacks=render_flashbacks(flashbacks, zone, numbered=True),
            ),
        ),
        temperature=temperature,
        seed=observation.seed,
        agent=persona.name,
    )
    if asked.value is not None:
        return Judged(belonging=asked.value.numbers, calls=asked.calls, problems=asked.value.notes)
    return Judged(
        belonging=None,
        calls=asked.calls,
        problems=[f"what came to mind was chosen by rule, as no model judged it: {asked.problem}"],
    )
