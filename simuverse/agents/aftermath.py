"""What is seen to once a turn is written down: what became of its flashbacks, and the bound on memories."""

from __future__ import annotations

from dataclasses import replace

from simuverse.agents.trace import Remembered
from simuverse.agents.unwritten import Exchange
from simuverse.errors import EmbedderError, StoreError
from simuverse.memory.capacity import Capacity
from simuverse.memory.fates import Judged, judged
from simuverse.memory.ledger import NEVER, Became, Ledger
from simuverse.memory.records import Memory


async def seen_to(
    remembered: Remembered, exchange: Exchange, *, owner: str, ledger: Ledger, capacity: Capacity | None
) -> Remembered:
    """With what came of both; what fails outside is among its problems."""
    problems: list[str] = []
    became: tuple[Became, ...] = ()
    evicted: tuple[Memory, ...] = ()
    try:
        became = await ledger.enter(owner, exchange.observation.turn, became_of(owner, exchange))
    except StoreError as error:
        problems.append(f"what became of the flashbacks isn't kept: {error}")
    if capacity is not None:
        try:
            tallies = await ledger.tallies()
            evicted = await capacity.keep(lambda memory: tallies.get(memory, NEVER).used)
        except (StoreError, EmbedderError) as error:
            problems.append(f"there are more memories than {capacity.most}: {error}")
    return replace(remembered, became=became, evicted=evicted, problems=(*remembered.problems, *problems))


def became_of(owner: str, exchange: Exchange) -> tuple[Judged, ...]:
    """What became of each flashback, where the owner said or did something; of none where others alone spoke."""
    observation, call, outcome = exchange.observation, exchange.call, exchange.outcome
    own = [utterance.text for utterance in observation.heard if utterance.speaker == owner]
    if outcome is not None and outcome.said is not None:
        own.append(outcome.said.text)
    elif call is not None:
        own += [call.tool, *call.arguments.values()]
    if not own:
        return ()
    return judged(
        [flashback.memory for flashback in exchange.recollection],
        owner=owner,
        reply="\n".join(own),
        heard=[(utterance.speaker, utterance.text) for utterance in observation.heard if utterance.speaker != owner],
        perceived=[
            observation.location,
            *observation.seen,
            *observation.noticed,
            *(utterance.text for utterance in observation.earlier),
            *observation.carrying,
            observation.answer,
            *observation.intentions,
        ],
    )
