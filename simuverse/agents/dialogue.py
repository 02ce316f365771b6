"""A talk between someone outside and one agent: no world but the two of them."""

from __future__ import annotations

from collections import deque

from simuverse.agents.agent import Agent
from simuverse.agents.trace import TurnTrace
from simuverse.agents.turn import Observation, Outcome, Parameter, Tool, ToolCall, Utterance, turn_of
from simuverse.memory.clock import Clock

SAY = Tool(
    name="say",
    description="Say something to the person you talk with.",
    parameters=(Parameter(name="text", description="the words, one or two sentences"),),
)


EARLIER = 8
"""Messages of the talk so far that the agent sees, of both sides; what is older comes back as a flashback or not."""


class Dialogue:
    """Each message is a turn of the agent.

    Args:
        partner: name of whoever talks with it.
    """

    def __init__(self, agent: Agent, *, partner: str, clock: Clock) -> None:
        self.agent = agent
        self.partner = partner
        self._clock = clock
        self._opened = clock.now().isoformat()
        self._messages = 0
        self._earlier: deque[Utterance] = deque(maxlen=EARLIER)

    async def answer(self, text: str) -> TurnTrace:
        """The agent's turn on ``text``; what it says is ``trace.outcome.said``."""
        self._messages += 1
        now = self._clock.now()
        turn = turn_of(text, at=now, number=self._messages)
        heard = Utterance(id=f"{turn}/heard", speaker=self.partner, text=text, to=self.agent.name)
        observation = Observation(
            turn=turn,
            time=now,
            location=f"in a talk with {self.partner}",
            earlier=tuple(self._earlier),
            heard=(heard,),
            episode=self._opened,
            position=self._messages,
        )
        thought = await self.agent.think(observation, (SAY,))
        outcome = self._carry_out(turn, thought.decision.call)
        self._earlier.extend((heard,) if outcome.said is None else (heard, outcome.said))
        return await self.agent.reflect(thought, outcome)

    def _carry_out(self, turn: str, call: ToolCall) -> Outcome:
        text = call.arguments.get("text", "").strip()
        if call.tool != SAY.name or not text:
            return Outcome(
                ok=False, code="not_said", sentence=f"In a talk one can only say something, not {call.tool}."
            )
        said = Utterance(id=f"{turn}/said", speaker=self.agent.name, text=text, to=self.partner)
        return Outcome(ok=True, code="said", sentence=f"You said it to {self.partner}.", said=said)
