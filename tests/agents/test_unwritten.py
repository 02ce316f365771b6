"""What could not be written down is kept, and is written down later as it would have been then, once."""

from __future__ import annotations

import sys
from asyncio import create_subprocess_exec
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from simuverse.agents.backends.scripted import Reply, Scripted
from simuverse.agents.chat import Purpose
from simuverse.agents.subconscious import Exchange, SubconsciousAgent
from simuverse.agents.unwritten import MARK, UnwrittenLog
from simuverse.errors import (
    ModelRateLimited,
    ModelReplyUnusable,
    ModelUnavailable,
    OutsideError,
    StoreCorrupt,
    StoreUnavailable,
)
from simuverse.memory.audit import AuditLog
from simuverse.memory.clock import ManualClock
from simuverse.memory.editing import MemoryEditor
from simuverse.memory.embedders.hashing import HashingEmbedder
from simuverse.memory.records import Memory
from simuverse.memory.store import MemoryCollection
from simuverse.memory.stores.sqlite import SQLiteStore
from tests.agents.minds import NOTHING, NOW, UNSTORED, Minds, failing, moment
from tests.agents.remembering_process import REPLY, TALK, mind_on

ROOT = Path(__file__).parents[2]
KILLED, ENDED = -9, 0

FAULTS: dict[str, Sequence[Reply]] = {
    "empty": [ModelReplyUnusable("the reply is empty")],
    "nonsense": ["Hm.", "42", "¯\\_(ツ)_/¯"],
    "half": [REPLY[: len(REPLY) // 2]] * 3,
    "unclosed": ["<memory><summary>Tomas"] * 3,
    "blank": ["<memory><summary> </summary></memory>"] * 3,
    "error text": ["Error 503: upstream timed out, request id 77f0."] * 3,
    "error in JSON": ['{"error": {"type": "overloaded", "message": "try again later"}}'] * 3,
    "error page": ["<html><head><title>502</title></head><body>Bad gateway</body></html>"] * 3,
    "error in XML": ["<Error><Code>SlowDown</Code><Message>Reduce your rate.</Message></Error>"] * 3,
    "time-out": [ModelUnavailable("gave no reply within 120 s")],
    "too many calls": [ModelRateLimited("429", retry_after=7)],
}


async def everything(collection: MemoryCollection) -> list[Memory]:
    return [entry.memory async for entry in collection.scan()]


async def lived_before(collection: MemoryCollection, embedder: HashingEmbedder, clock: ManualClock) -> list[Memory]:
    """A mind that has something to lose."""
    mind = SubconsciousAgent(collection=collection, embedder=embedder, clock=clock)
    await mind.remember("The mill wheel needs new paddles.", said_by="Greta")
    return await everything(collection)


@pytest.mark.parametrize("fault", FAULTS)
async def test_whatever_a_model_gives_nothing_is_lost_and_a_later_try_writes_what_the_first_would_have(
    open_mind: Minds, collection: MemoryCollection, embedder: HashingEmbedder, clock: ManualClock, fault: str
) -> None:
    before = await lived_before(collection, embedder, clock)
    mind = open_mind(*FAULTS[fault])

    failed = await mind.remember(TALK)

    assert failed.failed
    assert failed.written == ()
    assert failed.raw
    assert await everything(collection) == before
    [kept] = await mind.unwritten.all()
    assert kept.problem == failed.problems[0]

    clock.set(NOW.replace(year=2030))
    again = open_mind(REPLY, unwritten=mind.unwritten)
    [tried] = await again.retry()
    [memory] = tried.remembered.written
    whole = await open_mind(REPLY).remember(TALK)
    assert whole.written == (memory,)
    assert (memory.created_at, memory.provenance.turn, memory.provenance.speaker) == (NOW, "t1", "Tomas")
    assert await again.retry() == ()
    assert await everything(collection) == [*before, memory]


@pytest.mark.parametrize("deliberate", [False, True])
@pytest.mark.parametrize(("where", "fault"), UNSTORED)
async def test_what_could_not_be_stored_is_stored_later_as_it_would_have_been(
    open_mind: Minds, monkeypatch: pytest.MonkeyPatch, where: str, fault: OutsideError, deliberate: bool
) -> None:
    talk = Exchange(
        observation=moment(("Tomas", "At seven."), noticed=("key lies at (40, 60).",)), outcome=TALK.outcome
    )
    replies = [REPLY] if deliberate else []
    mind = open_mind(*replies)
    await mind.remember("When does the sluice open?", said_by="Greta") if not deliberate else None
    asked = mind._asked
    with monkeypatch.context() as patched:
        part, method = where.split(".")
        patched.setattr(getattr(mind, part), method, failing(fault))
        failed = await mind.remember(talk)
        assert failed.failed
        assert [one.remembered.failed for one in await open_mind(*replies, unwritten=mind.unwritten).retry()] == [True]

    later = open_mind(*replies, unwritten=mind.unwritten)
    [tried] = await later.retry()

    same = open_mind(*replies)
    same._asked = asked
    assert tried.remembered.written
    assert (await same.remember(talk)).written == tried.remembered.written


async def test_a_turn_that_fails_again_stays_kept_once(open_mind: Minds) -> None:
    mind = open_mind(ModelUnavailable("gone"), ModelUnavailable("still gone"), ModelUnavailable("gone for good"))
    await mind.remember(TALK)

    first, second = await mind.retry(), await mind.retry()

    assert [one.remembered.failed for one in (*first, *second)] == [True, True]
    [kept] = await mind.unwritten.all()
    assert "gone for good" in kept.problem


async def test_a_later_try_that_finds_nothing_worth_it_is_done(open_mind: Minds, collection: MemoryCollection) -> None:
    mind = open_mind(ModelUnavailable("gone"), NOTHING)
    await mind.remember(TALK)

    [tried] = await mind.retry()

    assert not tried.remembered.failed
    assert await mind.unwritten.all() == []
    assert await collection.count() == 0


async def test_no_word_of_what_went_wrong_reaches_the_model_that_tries_again(open_mind: Minds) -> None:
    mind = open_mind(ModelUnavailable("QUOTA-XYZ exceeded"))
    await mind.remember(TALK)
    model = Scripted([REPLY])

    await open_mind(model=model, unwritten=mind.unwritten).retry()

    [request] = model.requests
    assert request.purpose is Purpose.MEMORY
    assert "XYZ" not in "".join(message.text for message in request.messages)


async def test_what_was_stored_after_all_and_changed_since_is_left_as_it_is(
    open_mind: Minds, embedder: HashingEmbedder, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the process was killed just before it let go of the exchange, and an operator was there before the retry."""
    mind = open_mind()
    monkeypatch.setattr(mind.unwritten, "drop", failing(StoreUnavailable("killed")))
    [memory, *_] = (await mind.remember(TALK)).written
    editor = MemoryEditor(mind.collection, embedder, clock, AuditLog.beside(None))
    await editor.rewrite(memory.id, "Tomas: The sluice opens at eight.")
    monkeypatch.undo()

    [tried] = await mind.retry()

    assert tried.there
    [now] = await mind.collection.get([memory.id])
    assert now.summary == "Tomas: The sluice opens at eight."
    assert await mind.unwritten.all() == []


async def test_each_tries_its_own_alone(open_mind: Minds, store: SQLiteStore) -> None:
    log = UnwrittenLog()
    mira = open_mind(ModelUnavailable("gone"), unwritten=log)
    jade = open_mind(ModelUnavailable("gone"), unwritten=log, collection=await store.collection("Jade"))
    await mira.remember(TALK)
    await jade.remember(TALK)

    tried = await open_mind(unwritten=log).retry()

    assert [one.unwritten.owner for one in tried] == ["Mira"]
    assert [one.owner for one in await log.all()] == ["Jade"]


async def test_a_turn_without_anything_in_it_touches_no_file(open_mind: Minds, monkeypatch: pytest.MonkeyPatch) -> None:
    mind = open_mind()
    for name in ("keep", "drop"):
        monkeypatch.setattr(mind.unwritten, name, failing(AssertionError()))

    assert (await mind.remember(Exchange(observation=moment()))).written == ()


async def test_where_nothing_can_be_kept_the_turn_goes_on_and_says_so(open_mind: Minds, tmp_path: Path) -> None:
    nowhere = UnwrittenLog(tmp_path / "missing" / "mira.db")

    remembered = await open_mind(unwritten=nowhere).remember(TALK)

    assert len(remembered.written) == 2
    assert any("can't be written" in problem for problem in remembered.problems)


async def test_an_erasure_drops_what_holds_the_words(
    open_mind: Minds, embedder: HashingEmbedder, clock: ManualClock, tmp_path: Path
) -> None:
    log = UnwrittenLog(tmp_path / "mira.db")
    mind = open_mind(unwritten=log)
    [memory] = (await mind.remember("The sluice opens at seven.", said_by="Greta")).written
    failing_mind = open_mind(ModelUnavailable("gone"), ModelUnavailable("gone"), unwritten=log)
    await failing_mind.remember(TALK)
    await failing_mind.remember(Exchange(observation=moment(("Tomas", "My barge is late."), number=2)))

    await MemoryEditor(mind.collection, embedder, clock, AuditLog.beside(None), copies=[log]).erase([memory.id])

    [kept] = await log.all()
    assert kept.exchange.observation.turn == "t2"
    assert not any(b"sluice" in path.read_bytes() for path in tmp_path.iterdir())


async def test_a_file_that_is_damaged_is_named(open_mind: Minds, tmp_path: Path) -> None:
    log = UnwrittenLog(tmp_path / "mira.db")
    await open_mind(ModelUnavailable("gone"), unwritten=log).remember(TALK)
    [path] = tmp_path.iterdir()
    assert MARK in path.name
    path.write_bytes(path.read_bytes()[:-5])

    with pytest.raises(StoreCorrupt, match=path.name):
        await open_mind(unwritten=log).retry()


async def test_what_is_kept_comes_back_whole(open_mind: Minds, tmp_path: Path) -> None:
    kept = UnwrittenLog(tmp_path / "mira.db")
    mind = open_mind()
    await mind.remember("The sluice opens at seven.", said_by="Tomas")
    recalled = await mind.recollect("When does the sluice open?", said_by="Greta")
    assert recalled.flashbacks
    in_memory = UnwrittenLog()
    for log in (kept, in_memory):
        await open_mind(ModelUnavailable("gone"), unwritten=log).remember(replace(TALK, recollection=recalled))

    assert await kept.all() == await in_memory.all()


@pytest.mark.parametrize("mode", ["reflex", "deliberate"])
async def test_killed_at_any_step_the_turn_is_written_down_or_kept_and_a_retry_gives_the_same_memories(
    tmp_path: Path, mode: str
) -> None:
    store, mind = await mind_on(tmp_path / "whole.db", mode)
    whole = (await mind.remember(TALK)).written
    await store.aclose()
    step, code = 0, KILLED
    while code == KILLED:
        file = tmp_path / f"killed{step}.db"
        arguments = ("-m", "tests.agents.remembering_process", str(file), mode, str(step))
        code = await (await create_subprocess_exec(sys.executable, *arguments, cwd=ROOT)).wait()
        store, mind = await mind_on(file, mode)
        # Before the first step nothing has been kept, and the turn isn't acknowledged.
        assert bool(await mind.unwritten.all()) == (code == KILLED and step > 0)
        if step > 0:
            await mind.retry()
            assert {memory.id: memory for memory in await everything(mind.collection)} == {m.id: m for m in whole}
        assert await mind.unwritten.all() == []
        await store.aclose()
        step += 1
    assert code == ENDED
    assert step == (6 if mode == "reflex" else 7)


@pytest.mark.parametrize("write", ["add", "touch", "update", "record", "lines"])
async def test_a_fault_in_any_write_deletes_nothing_and_after_a_retry_everything_is_there(
    open_mind: Minds, collection: MemoryCollection, monkeypatch: pytest.MonkeyPatch, write: str
) -> None:
    """A turn of which one memory is new, one changes a fact, and one is told again in other words."""
    audit = AuditLog.beside(None)
    mind = open_mind(audit=audit)
    for speaker, text in (("Tomas", "The sluice is open."), ("Greta", "My barge lies at the quay by the mill.")):
        await mind.remember(text, said_by=speaker)
    before = {memory.id: memory for memory in await everything(collection)}
    turn = Exchange(
        observation=moment(
            ("Tomas", "The sluice is closed."),
            ("Greta", "My barge lies at the quay by the mill, my barge."),
            ("Nils", "I found a silver coin at the ford."),
        )
    )
    failure = failing(StoreUnavailable("disk full"))
    with monkeypatch.context() as patched:
        if write == "record":
            patched.setattr(audit, "intend", failure)
        elif write == "lines":
            patched.setattr(audit.lines, "append", failure)
        else:
            patched.setattr(collection, write, failure)
        remembered = await mind.remember(turn)
        after = {memory.id: memory for memory in await everything(collection)}

    assert before.keys() <= after.keys()
    assert [after[one].summary for one in before] == [memory.summary for memory in before.values()]
    assert all(memory.summary.strip() for memory in after.values())
    assert remembered.failed == bool(remembered.problems)
    assert bool(await mind.unwritten.all()) == remembered.failed

    await open_mind(unwritten=mind.unwritten, audit=audit).retry()

    assert await mind.unwritten.all() == []
    told = {memory.summary for memory in await everything(collection)}
    assert {"Tomas: The sluice is open.", "Tomas: The sluice is closed."} <= told
    assert "Nils: I found a silver coin at the ford." in told
    assert any(summary.startswith("Greta: My barge lies at the quay by the mill") for summary in told)
