"""What is seen to after a turn: what became of its flashbacks is counted once, and an agent keeps to its capacity."""

from __future__ import annotations

from pathlib import Path

import pytest

from simuverse.agents.subconscious import Exchange
from simuverse.agents.turn import ToolCall
from simuverse.errors import StoreUnavailable
from simuverse.memory.audit import AuditLog
from simuverse.memory.fates import Fate
from simuverse.memory.ledger import Ledger, Tally
from simuverse.memory.records import MemoryFilter
from simuverse.memory.store import MemoryCollection
from tests.agents.minds import Minds, failing, moment, said

EVER = MemoryFilter(include_superseded=True, include_forgotten=True)
ASKED = moment(("Greta", "Where is the brass key?"), number=2)


async def asked(open_mind: Minds, ledger: Ledger) -> Exchange:
    await open_mind().remember("The brass key hangs behind the loom.", said_by="Tomas")
    recollection = await open_mind(ledger=ledger).recollect(ASKED)
    assert len(recollection) == 1
    return Exchange(observation=ASKED, outcome=said("Behind the loom, Greta."), recollection=recollection)


async def test_what_a_reply_took_from_a_flashback_is_counted_once_a_turn(open_mind: Minds) -> None:
    ledger = Ledger()
    exchange = await asked(open_mind, ledger)

    for _ in range(2):
        [became] = (await open_mind(ledger=ledger).remember(exchange)).became
        assert became.memory == exchange.recollection.flashbacks[0].memory.id
        assert (became.fate, became.tally) == (Fate.USED, Tally(used=1))


async def test_a_deed_uses_a_memory_too_and_what_others_say_alone_judges_none(open_mind: Minds) -> None:
    ledger = Ledger()
    exchange = await asked(open_mind, ledger)
    deed = Exchange(
        observation=ASKED,
        call=ToolCall(tool="look", arguments={"target": "loom"}),
        recollection=exchange.recollection,
    )
    heard = Exchange(observation=moment(("Greta", "Good day."), number=3), recollection=exchange.recollection)

    [became] = (await open_mind(ledger=ledger).remember(deed)).became
    assert became.fate is Fate.USED
    assert (await open_mind(ledger=ledger).remember(heard)).became == ()


async def test_a_ledger_that_cannot_be_written_costs_nothing_but_a_word(open_mind: Minds, tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "missing" / "mira.db")
    exchange = await asked(open_mind, ledger)

    remembered = await open_mind(ledger=ledger).remember(exchange)

    assert remembered.written
    assert any(problem.startswith("what became of the flashbacks isn't kept: ") for problem in remembered.problems)


async def test_without_a_capacity_nothing_goes_and_with_one_what_is_over_is_told(
    open_mind: Minds, collection: MemoryCollection
) -> None:
    audit = AuditLog.beside(None)
    for number in range(6):
        told = f"Barge number {number} came to quay {number}."
        free = await open_mind().remember(told, said_by="Tomas")
        assert free.evicted == ()
    assert await collection.count(filter=EVER) == 6

    remembered = await open_mind(capacity=5, audit=audit).remember("The mill burns!", said_by="Greta")

    assert len(remembered.evicted) == 2
    assert await collection.count(filter=EVER) == 5
    [change] = await audit.changes()
    assert change.before == remembered.evicted


async def test_what_cannot_be_evicted_is_told_and_the_turn_is_written_down(
    open_mind: Minds, collection: MemoryCollection, monkeypatch: pytest.MonkeyPatch
) -> None:
    await open_mind().remember("The sluice opens at seven.", said_by="Tomas")
    mind = open_mind(capacity=1)
    monkeypatch.setattr(collection, "erase", failing(StoreUnavailable("disk full")))

    remembered = await mind.remember("The mill burns!", said_by="Greta")

    assert len(remembered.written) == 1
    assert not remembered.failed
    assert remembered.problems == ("there are more memories than 1: disk full",)
