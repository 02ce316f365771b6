"""A turn as one value, and what is read off it."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from simuverse.agents.chat import Purpose
from simuverse.agents.trace import Decision, ModelCall, Recollection, Remembered, TurnTrace
from simuverse.agents.turn import WAIT, Reflection, Turn
from simuverse.memory.records import Candidate, Cut, Factor, Flashback, Memory, Provenance, Score, Source, memory_id
from simuverse.memory.records import Category as Kind
from tests.agents.minds import NOW, SAID_NOTHING, moment

FACTOR = Factor(raw=0, scaled=0, weight=0)
SCORE = Score(preset="own", relevance=FACTOR, importance=FACTOR, recency=FACTOR)


def memory(number: int) -> Memory:
    return Memory(
        id=memory_id("Mira", "then", number),
        owner="Mira",
        summary=f"Tale {number}.",
        category=Kind.KNOWLEDGE,
        created_at=NOW,
        last_accessed_at=NOW,
        provenance=Provenance(source=Source.OBSERVED),
    )


def call(purpose: Purpose) -> ModelCall:
    return ModelCall(purpose=purpose, model="odd", attempt=1, temperature=0, messages=(), reply="")


FLASHBACKS = tuple(Flashback(memory=memory(n), score=SCORE, rank=n, found_by=()) for n in (1, 2))
TRACE = TurnTrace(
    agent="Mira",
    tick=3,
    observation=moment(),
    recollection=Recollection(
        mode="deliberate",
        flashbacks=FLASHBACKS,
        candidates=(
            Candidate(memory=memory(1), score=SCORE),
            Candidate(memory=memory(3), score=SCORE, cut=Cut.COOL_DOWN),
            Candidate(memory=memory(2), score=SCORE),
        ),
        calls=(call(Purpose.QUERIES),),
        problems=("one",),
    ),
    decision=Decision(turn=Turn(reflection=Reflection(), call=WAIT), calls=(call(Purpose.TURN),), problems=("two",)),
    outcome=SAID_NOTHING,
    remembered=Remembered(mode="deliberate", calls=(call(Purpose.MEMORY),), problems=("three",)),
)


def test_calls_and_problems_are_those_of_all_parts_in_the_order_of_the_turn() -> None:
    assert [c.purpose for c in TRACE.calls] == [Purpose.QUERIES, Purpose.TURN, Purpose.MEMORY]
    assert TRACE.problems == ("one", "two", "three")


def test_a_recollection_is_its_flashbacks_best_first() -> None:
    assert list(TRACE.recollection) == list(FLASHBACKS)
    assert len(TRACE.recollection) == 2
    assert TRACE.flashback_ids == tuple(f.memory.id for f in FLASHBACKS)
    assert TRACE.recollection.as_xml().index("Tale 1.") < TRACE.recollection.as_xml().index("Tale 2.")


def test_runners_up_are_the_candidates_that_were_cut() -> None:
    assert [c.memory for c in TRACE.recollection.runners_up] == [memory(3)]


def test_the_call_of_a_decision_is_that_of_its_turn() -> None:
    assert TRACE.decision.call is WAIT


def test_nothing_of_it_can_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        TRACE.tick = 4  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
