"""Nothing that goes wrong while a turn is written down costs the turn, or what happened in it."""

from __future__ import annotations

import pytest

from simuverse.agents.backends.scripted import Reply
from simuverse.agents.subconscious import Exchange
from simuverse.agents.turn import ToolCall
from simuverse.agents.xml import read
from simuverse.errors import ModelUnavailable, OutsideError, StoreUnavailable
from simuverse.memory.store import MemoryCollection
from tests.agents.minds import UNSTORED, Minds, failing, memory_xml, moment, said

TALK = Exchange(
    observation=moment(("Tomas", "The sluice opens at seven.")), call=ToolCall(tool="say"), outcome=said("Thank you.")
)


def assert_raw(raw: str) -> None:
    """All that happened is in it."""
    exchange = read(raw, "exchange")
    assert [node.text for node in exchange.all("said")] == ["The sluice opens at seven.", "Thank you."]
    assert exchange.text_of("outcome") == "They heard you."


@pytest.mark.parametrize("replies", [("Hm.", "<memory>", "<memory><summary/></memory>"), (ModelUnavailable("gone"),)])
async def test_where_nothing_usable_is_written_the_raw_exchange_is_kept_and_nothing_stored(
    open_mind: Minds, collection: MemoryCollection, replies: tuple[Reply, ...]
) -> None:
    remembered = await open_mind(*replies).remember(TALK)

    assert remembered.written == ()
    assert len(remembered.calls) == len(replies)
    [problem] = remembered.problems
    assert problem.startswith("nothing was remembered: ")
    assert_raw(remembered.raw)
    assert problem not in remembered.raw
    assert await collection.count() == 0


async def test_the_raw_text_is_kept_also_where_nobody_said_it(open_mind: Minds) -> None:
    remembered = await open_mind(ModelUnavailable("gone")).remember("The wheel was still.")

    assert "The wheel was still." in remembered.raw


@pytest.mark.parametrize("deliberate", [False, True])
@pytest.mark.parametrize(("where", "fault"), UNSTORED)
async def test_a_fault_outside_stores_nothing_keeps_the_raw_exchange_and_raises_nothing(
    open_mind: Minds, monkeypatch: pytest.MonkeyPatch, where: str, fault: OutsideError, deliberate: bool
) -> None:
    mind = open_mind(memory_xml("The sluice opens at seven.")) if deliberate else open_mind()
    with monkeypatch.context() as patched:
        part, method = where.split(".")
        patched.setattr(getattr(mind, part), method, failing(fault))
        remembered = await mind.remember(TALK)

    assert remembered.written == ()
    [problem] = remembered.problems
    assert str(fault) in problem
    assert str(fault) not in remembered.raw
    assert_raw(remembered.raw)
    assert await mind.collection.count() == 0


async def test_where_the_latest_memories_cannot_be_read_the_raw_exchange_is_kept(
    open_mind: Minds, monkeypatch: pytest.MonkeyPatch
) -> None:
    mind = open_mind("never asked for")
    monkeypatch.setattr(mind.collection, "recent", failing(StoreUnavailable("no answer")))

    remembered = await mind.remember(TALK)

    assert remembered.problems == ("nothing was remembered: no answer",)
    assert remembered.calls == ()
    assert_raw(remembered.raw)


async def test_a_sight_that_could_not_be_stored_is_noted_when_it_can(
    open_mind: Minds, monkeypatch: pytest.MonkeyPatch
) -> None:
    mind = open_mind()
    with monkeypatch.context() as patched:
        patched.setattr(mind.collection, "add", failing(StoreUnavailable("disk full")))
        lost = await mind.remember(Exchange(observation=moment(noticed=("key lies at (40, 60).",))))
    kept = await mind.remember(Exchange(observation=moment(number=2, noticed=("key lies at (40, 60).",))))

    assert lost.written == ()
    assert [memory.summary for memory in kept.written] == ["Mira saw: key lies at (40, 60)."]


async def test_a_fault_of_ours_is_raised(open_mind: Minds, monkeypatch: pytest.MonkeyPatch) -> None:
    mind = open_mind()
    monkeypatch.setattr(mind.collection, "add", failing(ZeroDivisionError()))

    with pytest.raises(ZeroDivisionError):
        await mind.remember(TALK)
