"""Runs, commands and minds whose store is away for a time: they go on, say so, and lose no memory."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar
from uuid import UUID

import pytest
from filelock import FileLock

from simuverse import parts, sources, wiring
from simuverse.agents.backends.scripted import Scripted
from simuverse.config import Settings
from simuverse.dashboard.session import Session
from simuverse.errors import RunFolderError, StoreUnavailable, UsageError
from simuverse.memory.embedding import Embedder
from simuverse.memory.outbox_file import Added, OutboxFile, Superseded, Touched, Updated
from simuverse.memory.records import MemoryFilter
from simuverse.memory.store import MemoryStore
from simuverse.world.clearing import RunRecord, clear_owner
from simuverse.world.journal import LOCK, OUTBOX, read_turns
from simuverse.world.simulation import Simulation
from tests.agents.minds import memory_xml, queries_xml
from tests.commands import Here, run
from tests.contracts.memory_reference import START, memory
from tests.dashboard.waiting import until
from tests.memory.failing_store import FailingStore

AWAY = StoreUnavailable("the store is away")
FAST = Settings(embedder="hashing")
HASHING = ("--embedder", "hashing")
EVER = MemoryFilter(include_superseded=True, include_forgotten=True)
Value = TypeVar("Value")
Opened = list[FailingStore]


class Outage(FailingStore):
    """Is away from one call on, and back from another."""

    def __init__(self, store: MemoryStore, first: int, last: int) -> None:
        super().__init__(store)
        self._calls, self._first, self._last = 0, first, last

    async def tried(self, owner: str, work: Callable[[], Awaitable[Value]]) -> Value:
        self._calls += 1
        self.fault = AWAY if self._first <= self._calls < self._last else None
        return await super().tried(owner, work)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Opened:
    """Every store that is opened, each able to fail."""
    stores: Opened = []

    async def open_store(name: str, embedder: Embedder, settings: Settings | None = None) -> MemoryStore:
        store = FailingStore(await parts.open_store(name, embedder, settings))
        stores.append(store)
        return store

    for opens in (wiring, sources):
        monkeypatch.setattr(opens, "open_store", open_store)
    return stores


def break_off(monkeypatch: pytest.MonkeyPatch, first: int, last: int) -> None:
    async def open_store(name: str, embedder: Embedder, settings: Settings | None = None) -> MemoryStore:
        return Outage(await parts.open_store(name, embedder, settings), first, last)

    for opens in (wiring, sources):
        monkeypatch.setattr(opens, "open_store", open_store)


async def assert_all_written_is_stored(folder: Path) -> None:
    written: dict[str, list[UUID]] = {}
    for turn in read_turns(folder):
        written.setdefault(turn.agent, []).extend(memory.id for memory in turn.remembered.written)
    async with sources.memories(str(folder), FAST) as (store, _):
        for agent, ids in written.items():
            collection = await store.collection(agent)
            assert len(await collection.get(ids)) == len(set(ids)) == len(ids)
            assert await collection.count(filter=EVER) == len([one async for one in collection.scan()])
    assert sum(map(len, written.values())) > 0


async def out(simulation: Simulation) -> None:
    assert simulation.outbox is not None
    async with asyncio.timeout(30):
        while True:
            if simulation.outbox.backlog.waiting == 0:
                return
            await asyncio.sleep(0.01)


# Runs


async def test_turns_go_on_while_the_store_is_away_and_their_traces_say_what_waits_and_when_it_has_gone_out(
    tmp_path: Path, opened: Opened
) -> None:
    folder = tmp_path / "run1"
    async with wiring.open_simulation(FAST, folder=folder) as simulation:
        for trace in await simulation.step():
            assert (trace.remembered.waiting, trace.remembered.delivered) == (0, 0)
        [store] = opened
        store.fault = AWAY
        for _ in range(2):
            await simulation.step()
        traces = await simulation.step()
        for trace in traces:
            assert trace.recollection.flashbacks == ()
            assert not trace.remembered.failed
            waiting = trace.remembered.waiting
            assert waiting > 0
            assert trace.problems[-1].startswith(f"{waiting} memor")
            assert trace.problems[-1].endswith("in outbox.jsonl until the store takes them: the store is away")
        waited = {trace.agent: trace.remembered.waiting for trace in traces}
        store.fault = None
        await out(simulation)
        after = {trace.agent: trace for trace in await simulation.step()}
    assert {name: trace.remembered.delivered for name, trace in after.items()} == waited
    assert all(not trace.problems for trace in after.values())
    assert not (folder / OUTBOX).exists()
    assert [trace.remembered.delivered for trace in list(read_turns(folder))[-4:]] != [0, 0, 0, 0]
    await assert_all_written_is_stored(folder)


async def test_without_an_outage_there_is_no_outbox_and_the_same_run_gives_the_same_bytes(tmp_path: Path) -> None:
    hashes: set[str | None] = set()
    for name in ("one", "two"):
        async with wiring.open_simulation(FAST, folder=tmp_path / name) as simulation:
            for _ in range(5):
                await simulation.step()
            hashes.add(simulation.journal_sha256)
        assert not (tmp_path / name / OUTBOX).exists()
    assert len(hashes) == 1


def test_the_command_says_how_many_wait_and_when_they_have_gone_out(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_off(monkeypatch, 60, 90)
    ended = here("run", "--ticks", "12", "--out", "run1", *HASHING)
    assert ended.code == 0
    assert "memories wait in outbox.jsonl until the store takes them: the store is away" in ended.out
    assert " memories had to wait for the store, and are in it\njournal sha256: " in ended.out
    asyncio.run(assert_all_written_is_stored(Path("run1")))


def test_what_still_waits_when_a_run_ends_goes_out_by_command(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        break_off(patched, 60, 1_000_000)
        ended = here("run", "--ticks", "6", "--out", "run1", *HASHING)
    assert ended.code == 0
    cure = "they go out when these memories are opened again, or with: simuverse store deliver run1"
    assert f"until the store takes them: the store is away; {cure}\n" in ended.out
    waiting = int(ended.out.splitlines()[-2].split()[0])
    with monkeypatch.context() as patched:
        break_off(patched, 5, 1_000_000)
        refused = here("store", "deliver", "run1")
        assert refused.code == 4
        assert (
            f"run1: {waiting} memories wait in outbox.jsonl until the store takes them: the store is away"
            in refused.err
        )
    delivered = here("store", "deliver", "run1")
    assert delivered.out == f"{waiting} memories delivered to SQLite run1/memory.db\n"
    asyncio.run(assert_all_written_is_stored(Path("run1")))
    assert here("store", "deliver", "run1").out == "nothing waits in run1\n"
    assert here("store", "deliver", "run1", "--json").out == '{"delivered":0,"waiting":0}\n'


def test_opening_the_memories_brings_out_what_waits_or_says_that_it_cannot(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        break_off(patched, 60, 1_000_000)
        here("run", "--ticks", "6", "--out", "run1", *HASHING)
    before = Path("run1", OUTBOX).read_bytes()
    with FileLock(Path("run1", LOCK)):
        listed = run("memories", "run1", "--agent", "Jade", "list", folder=here.folder)
        assert listed.code == 0
        assert "run1 is being written by another process, and it brings out itself what waits there" in listed.err
        refused = here("store", "deliver", "run1")
        assert refused.code == 2
        assert "it brings out itself what waits there" in refused.err
    assert Path("run1", OUTBOX).read_bytes() == before
    listed = here("memories", "run1", "--agent", "Jade", "list")
    assert (listed.code, listed.err) == (0, "")
    assert not Path("run1", OUTBOX).exists()
    asyncio.run(assert_all_written_is_stored(Path("run1")))


def test_the_page_says_what_waits_and_when_it_has_gone_out(tmp_path: Path, opened: Opened) -> None:
    with Session(lambda: wiring.open_simulation(FAST, folder=tmp_path / "run1"), pause=0, running=False) as session:
        opened[0].fault = AWAY
        session.step()
        shown = until(session, lambda shown: shown["tick"] == 1 and not shown["stepping"])
        told = [banner["text"] for banner in shown["banners"]]
        assert told[:-1] == ["nothing could be recalled: the store is away"]
        assert told[-1].endswith("memories wait in outbox.jsonl until the store takes them: the store is away")
        count = int(told[-1].split()[0])
        assert count >= 4
        opened[0].fault = None
        shown = until(session, lambda shown: any(event["kind"] == "delivered" for event in shown["events"]))
        assert shown["banners"] == [{"kind": "problem", "text": "nothing could be recalled: the store is away"}]
        [event] = [event for event in shown["events"] if event["kind"] == "delivered"]
        assert event["text"] == f"{count} memories that had waited are in the store."
        session.step()
        assert until(session, lambda shown: shown["tick"] == 2 and not shown["stepping"])["banners"] == []


# Minds


async def test_a_mind_with_an_outbox_remembers_while_its_store_is_away_also_with_a_model(
    tmp_path: Path, opened: Opened
) -> None:
    outbox, store = tmp_path / "jade.jsonl", f"sqlite:{tmp_path / 'jade.db'}"
    model = Scripted([queries_xml("sluice"), memory_xml("The sluice opens at seven.")])
    async with wiring.open_subconscious("Jade", store=store, model=model, outbox=outbox, settings=FAST) as mind:
        opened[0].fault = AWAY
        assert len(await mind.recollect("When does the sluice open?")) == 0
        remembered = await mind.remember("The sluice opens at seven.", said_by="Tomas")
        assert [memory.summary for memory in remembered.written] == ["The sluice opens at seven."]
        assert remembered.waiting == 1
        with pytest.raises(UsageError, match=r"jade\.jsonl is another's outbox"):
            async with wiring.open_subconscious("Bo", store=store, outbox=outbox, settings=FAST):
                pass
    async with wiring.open_subconscious("Jade", store=store, outbox=outbox, settings=FAST) as mind:
        assert [one.summary for one in await mind.collection.recent(5)] == ["The sluice opens at seven."]
    assert not outbox.exists()


async def test_a_mind_without_an_outbox_says_what_it_could_not_remember(tmp_path: Path, opened: Opened) -> None:
    async with wiring.open_subconscious("Jade", store=f"sqlite:{tmp_path / 'jade.db'}", settings=FAST) as mind:
        opened[0].fault = AWAY
        remembered = await mind.remember("The sluice opens at seven.", said_by="Tomas")
    assert remembered.failed
    assert (remembered.written, remembered.waiting) == ((), 0)


# Erasing


def fill(path: Path, *changes: Added | Touched | Updated | Superseded, owner: str = "Jade") -> None:
    file = OutboxFile(path)
    for change in changes:
        file.append(owner, change, {})


def waiting_in(path: Path) -> list[Added | Touched | Updated | Superseded]:
    return [waiting.change for waiting in OutboxFile(path).waiting]


async def test_an_erased_memory_goes_from_what_waits_with_all_that_rests_on_it(tmp_path: Path) -> None:
    path = tmp_path / OUTBOX
    gone = memory("Mira sells three blue zephyrs at the harbour.", 0)
    resting = replace(memory("Whoever owns a fleet is rich.", 1), evidence=(gone.id,))
    other = memory("The bell rang.", 2)
    half = replace(memory("The harbour is busy.", 3), evidence=(gone.id, other.id))
    fill(
        path,
        Added(memories=(gone, other)),
        Touched(ids=(gone.id, other.id), at=START),
        Touched(ids=(gone.id,), at=START),
        Updated(memories=(gone,)),
        Superseded(old=gone.id, by=other.id, at=START),
        Superseded(old=other.id, by=half.id, at=START),
        Added(memories=(resting,)),
        Added(memories=(half,)),
    )
    path.write_bytes(
        path.read_bytes() + b'{"number":9,"owner":"Jade","change":{"do":"add","memories":[{"summary":"Mira sells'
    )
    await RunRecord(tmp_path).erase([gone])
    assert b"zephyrs" not in path.read_bytes()
    assert b"Mira" not in path.read_bytes()
    [added, touched, superseded, last] = waiting_in(path)
    assert added == Added(memories=(other,))
    assert touched == Touched(ids=(other.id,), at=START)
    assert superseded == Superseded(old=other.id, by=half.id, at=START)
    assert isinstance(last, Added)
    assert [(one.id, one.evidence) for one in last.memories] == [(half.id, (other.id,))]


def test_erasing_by_command_leaves_no_word_of_a_memory_that_had_waited(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        break_off(patched, 60, 1_000_000)
        here("run", "--ticks", "6", "--out", "run1", *HASHING)
    [waiting, *_] = [one for one in OutboxFile(Path("run1", OUTBOX)).waiting if isinstance(one.change, Added)]
    assert isinstance(waiting.change, Added)
    one = waiting.change.memories[0]
    ended = here("memories", "run1", "--agent", waiting.owner, "forget", str(one.id), "--erase", "--yes")
    assert ended.code in (0, 5), ended.err
    assert not Path("run1", OUTBOX).exists()
    shown = here("memories", "run1", "--agent", waiting.owner, "show", str(one.id))
    assert shown.code == 2


def test_of_an_owner_that_is_deleted_nothing_waits_any_more(tmp_path: Path) -> None:
    path = tmp_path / OUTBOX
    clear_owner(tmp_path, "Jade")
    fill(path, Added(memories=(memory("The bell rang.", 0),)))
    fill(path, Added(memories=(memory("Clouds drift by.", 0, owner="Mira"),)), owner="Mira")
    with FileLock(tmp_path / LOCK), pytest.raises(RunFolderError, match="nothing was deleted"):
        clear_owner(tmp_path, "Jade")
    clear_owner(tmp_path, "Jade")
    assert [one.owner for one in OutboxFile(path).waiting] == ["Mira"]
    assert b"bell" not in path.read_bytes()


def test_deleting_an_agent_by_command_takes_what_waits_along(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    here("run", "--ticks", "2", "--out", "run1", *HASHING)
    fill(Path("run1", OUTBOX), Added(memories=(memory("The bell rang.", 0),)))
    with monkeypatch.context() as patched:
        stuck_for_adding(patched)
        assert here("agents", "run1", "delete", "Jade", "--yes").code == 0
    assert b"bell" not in Path("run1", OUTBOX).read_bytes()
    assert "Jade" not in here("agents", "run1", "list").out


def stuck_for_adding(monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that takes no new memories, as with a full disk, and all else."""

    async def add(self: object, entries: Sequence[object]) -> None:
        raise AWAY

    monkeypatch.setattr("simuverse.memory.stores.sqlite.SQLiteCollection.add", add)
