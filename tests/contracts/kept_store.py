"""The one suite that every store passes as a whole: carried, checked and made anew, it loses and doubles nothing.

A test module takes it by subclassing :class:`KeptStoreContract` and saying how its store is opened. What is carried
comes from an SQLite file and goes back into one, so two stores are compared by the bytes that both export.
"""

from __future__ import annotations

import json
import string
from abc import abstractmethod
from collections import Counter
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simuverse.errors import EmbedderUnavailable, StoreCorrupt, StoreMismatch, UsageError
from simuverse.memory import carrying, copying
from simuverse.memory.audit import Change
from simuverse.memory.carrying import FileFreight, StoreFreight, carry, chosen
from simuverse.memory.checking import check
from simuverse.memory.embedders.hashing import HashingEmbedder
from simuverse.memory.embedding import TextKind, Vectors
from simuverse.memory.exchange import change_lines, export_lines
from simuverse.memory.figures import figures
from simuverse.memory.kept import EVERYTHING, EmbedderRecord, KeptStore, Progress
from simuverse.memory.records import Category, Memory, Provenance, Source
from simuverse.memory.reembedding import renew
from simuverse.memory.store import Entry
from simuverse.memory.stores.sqlite_kept import SQLiteKept
from tests.contracts.memory_reference import DIMENSION, START, entry, invented_village, memory, vector
from tests.contracts.memory_store import FULL

MADE_BY = EmbedderRecord(name="invented-embedder", dimension=DIMENSION)
HASHING = EmbedderRecord(name="hashing", dimension=HashingEmbedder.dimension)

_FINE_HERE = (
    HealthCheck.function_scoped_fixture,
    HealthCheck.too_slow,
    HealthCheck.data_too_large,
    HealthCheck.differing_executors,
)
"""A store is a slow thing, each example has one of its own, and several classes have the same test."""

_TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=40).filter(lambda text: bool(text.strip()))
_TIMES = st.integers(0, 7_000_000_000_000_000).map(
    lambda micro: datetime(1970, 1, 1, tzinfo=UTC) + timedelta(0, 0, micro)
)
_PROVENANCES = st.one_of(
    st.builds(Provenance, source=st.just(Source.SAID_BY), speaker=_TEXT, turn=st.none() | _TEXT),
    st.builds(Provenance, source=st.just(Source.TOLD), speaker=_TEXT, listener=_TEXT, messages=st.tuples(_TEXT)),
    st.builds(
        Provenance, source=st.sampled_from([s for s in Source if s not in (Source.SAID_BY, Source.TOLD)]), turn=_TEXT
    ),
)
_OWNERS = st.sampled_from(["Jade", "jade", "Zoë", "../x"])


def memories() -> st.SearchStrategy[Memory]:
    """Of every kind: past, hidden, anchored, in any script."""
    return st.builds(
        Memory,
        id=st.uuids(),
        owner=_OWNERS,
        summary=_TEXT,
        category=st.sampled_from(Category),
        keywords=st.lists(_TEXT, max_size=3).map(tuple),
        critical_information=st.text(string.printable, max_size=20),
        importance=st.integers(1, 10),
        created_at=_TIMES,
        last_accessed_at=_TIMES,
        location=st.text(max_size=10),
        provenance=_PROVENANCES,
        evidence=st.lists(st.uuids(), max_size=2).map(tuple),
        episode=st.sampled_from(["", "e1", "e2"]),
        position=st.integers(0, 20),
        anchored=st.booleans(),
        supersedes=st.none() | st.uuids(),
        superseded_by=st.none() | st.uuids(),
        superseded_at=st.none() | _TIMES,
        forgotten_at=st.none() | _TIMES,
        flags=st.lists(_TEXT, max_size=2).map(tuple),
    )


class Stopped(Exception):
    """As Ctrl-C would, but where a test wants it."""


def stop_after(number: int) -> Progress:
    seen: list[str] = []

    def told(whose: str, done: int, of: int) -> None:
        seen.append(whose)
        if len(seen) == number:
            raise Stopped

    return told


def nothing(whose: str, done: int, of: int) -> None:
    """Told how far it is, and does nothing about it."""


class Flagging:
    """Embeds so many times, then is gone."""

    name = HASHING.name
    dimension = HASHING.dimension

    def __init__(self, times: int) -> None:
        self.left = times
        self.embedded = 0

    async def embed(self, texts: Sequence[str], *, kind: TextKind = "document") -> Vectors:
        if self.left == 0:
            raise EmbedderUnavailable("the embedder went home")
        self.left -= 1
        self.embedded += len(texts)
        return await HashingEmbedder().embed(texts, kind=kind)

    async def aclose(self) -> None:
        pass


@asynccontextmanager
async def sqlite(path: Path, made_by: EmbedderRecord = MADE_BY) -> AsyncGenerator[KeptStore]:
    store = await SQLiteKept.open(path, read_only=False, new=made_by)
    try:
        yield store
    finally:
        await store.aclose()


async def exported(store: KeptStore, *, agent: str | None = None) -> list[str]:
    """As the command writes it."""
    lines: list[str] = []
    for owner, embedder in (await chosen(store, agent)).items():
        lines += [line async for line in export_lines(await store.collection(owner, embedder), embedder=embedder.name)]
    return lines + [line async for line in change_lines(store.audit, owner=agent)]


async def fill(store: KeptStore) -> None:
    """Two agents whose names differ in case alone, memories of every kind, and a history."""
    for owner in ("Jade", "jade"):
        collection = await store.collection(owner, MADE_BY)
        await collection.add(invented_village(owner))
        await collection.add([Entry(memory=replace(FULL, owner=owner), vector=vector(5))])
    jade = await store.collection("Jade", MADE_BY)
    ids = [one.memory.id for one in invented_village()]
    await jade.forget(ids[:3], START)
    await jade.supersede(ids[4], by=ids[5], at=START)
    await jade.touch(ids[6:9], START + timedelta(days=9))
    for number, owner in enumerate(("Jade", "jade", "Jade"), start=1):
        change = Change(owner=owner, kind="forget", by="operator", at=START, why=f"reason {number}", ids=(ids[number],))
        await store.audit.settle(await store.audit.intend(change), "done")


class KeptStoreContract:
    """``spare``: what of an older version is kept shows in this, for people."""

    @abstractmethod
    def open_kept(self, place: Path, *, new: EmbedderRecord | None = None) -> AbstractAsyncContextManager[KeptStore]:
        """A store. The same place is the same store; another is empty at first."""

    # Carrying

    async def test_carried_there_and_back_every_byte_is_the_same(self, tmp_path: Path) -> None:
        async with sqlite(tmp_path / "one.db") as one, self.open_kept(tmp_path / "two", new=MADE_BY) as two:
            await fill(one)
            before = await exported(one)
            carried = await carry(StoreFreight(one), two, merge=False, on_progress=nothing)
            assert (carried.memories, carried.agents, carried.written, carried.changes) == (258, 2, 258, 6)
            assert await exported(two) == before
            async with sqlite(tmp_path / "three.db") as three:
                await carry(StoreFreight(two), three, merge=False, on_progress=nothing)
                assert await exported(three) == before
                assert [one.number for one in await three.audit.changes()] == [1, 2, 3]

    async def test_carried_twice_nothing_doubles_and_the_first_is_only_read(self, tmp_path: Path) -> None:
        async with sqlite(tmp_path / "one.db") as one, self.open_kept(tmp_path / "two", new=MADE_BY) as two:
            await fill(one)
            before = await exported(one)
            await carry(StoreFreight(one), two, merge=False, on_progress=nothing)
            again = await carry(StoreFreight(one), two, merge=False, on_progress=nothing)
            assert (again.memories, again.written, again.changes) == (258, 0, 0)
            assert await exported(two) == before == await exported(one)

    async def test_what_was_stopped_goes_on_where_it_was(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(carrying, "AT_ONCE", 10)
        async with sqlite(tmp_path / "one.db") as one, self.open_kept(tmp_path / "two", new=MADE_BY) as two:
            await fill(one)
            for number in (5, 37, 200):
                with pytest.raises(Stopped):
                    await carry(StoreFreight(one), two, merge=False, on_progress=stop_after(number))
            last = await carry(StoreFreight(one), two, merge=False, on_progress=nothing)
            assert 0 < last.written <= 258 - 190
            assert await exported(two) == await exported(one)

    async def test_agents_carried_one_by_one_are_there_with_their_history(self, tmp_path: Path) -> None:
        async with sqlite(tmp_path / "one.db") as one, self.open_kept(tmp_path / "two", new=MADE_BY) as two:
            await fill(one)
            for agent in ("jade", "Jade", "jade"):
                await carry(StoreFreight(one, agent=agent), two, merge=False, on_progress=nothing)
            for agent in ("jade", "Jade"):
                memories_of = [line for line in await exported(two, agent=agent) if '"memory"' in line]
                assert memories_of == [line for line in await exported(one, agent=agent) if '"memory"' in line]
            changes = await two.audit.changes()
            assert sorted(change.why for change in changes) == ["reason 1", "reason 2", "reason 3"]
            assert {change.state for change in changes} == {"done"}
            assert len({change.number for change in changes}) == 3

    async def test_other_memories_of_an_agent_are_only_added_to_when_asked(self, tmp_path: Path) -> None:
        async with sqlite(tmp_path / "one.db") as one, self.open_kept(tmp_path / "two", new=MADE_BY) as two:
            await fill(one)
            mine = await two.collection("Jade", MADE_BY)
            changed = replace(invented_village()[0].memory, importance=1, summary="Something else.")
            await mine.add([entry("The heron stole a fish.", 900), Entry(memory=changed, vector=vector(1))])
            before = await exported(two)
            with pytest.raises(
                UsageError, match=r"holds 1 memories of Jade that .* doesn't, and 1 in another form.*--merge"
            ):
                await carry(StoreFreight(one), two, merge=False, on_progress=nothing)
            assert await exported(two) == before
            carried = await carry(StoreFreight(one), two, merge=True, on_progress=nothing)
            assert carried.written == 258
            assert set(await exported(one)) < set(await exported(two))
            assert await mine.count(filter=EVERYTHING) == 130

    async def test_vectors_of_another_embedder_are_refused_with_the_way_round(self, tmp_path: Path) -> None:
        async with sqlite(tmp_path / "one.db") as one, self.open_kept(tmp_path / "two", new=HASHING) as two:
            await fill(one)
            await two.collection("Jade", HASHING)
            with pytest.raises(StoreMismatch, match=r"invented-embedder.*hashing.*reembed STORE --embedder hashing"):
                await carry(StoreFreight(one), two, merge=True, on_progress=nothing)
            assert await exported(two) == []

    async def test_a_file_of_lines_is_carried_too(self, tmp_path: Path) -> None:
        async with sqlite(tmp_path / "one.db") as one, self.open_kept(tmp_path / "two", new=MADE_BY) as two:
            await fill(one)
            (tmp_path / "lines").write_text("\n".join(await exported(one)) + "\n", encoding="utf-8")
            for written in (258, 0):
                carried = await carry(FileFreight(tmp_path / "lines"), two, merge=False, on_progress=nothing)
                assert carried.written == written
            assert await exported(two) == await exported(one)

    @settings(max_examples=6, deadline=None, suppress_health_check=_FINE_HERE)
    @given(found=st.lists(memories(), max_size=60, unique_by=lambda one: one.id))
    async def test_whatever_the_memories_are_they_come_back_as_they_were(self, found: list[Memory]) -> None:
        with TemporaryDirectory() as folder:
            place = Path(folder)
            async with sqlite(place / "one.db") as one, self.open_kept(place / "two", new=MADE_BY) as two:
                for number, made in enumerate(found):
                    await (await one.collection(made.owner, MADE_BY)).add([Entry(memory=made, vector=vector(number))])
                await carry(StoreFreight(one), two, merge=False, on_progress=nothing)
                assert await exported(two) == await exported(one)
                for owner in await two.embedders():
                    checked = await check(await two.collection(owner, MADE_BY), on_progress=nothing)
                    assert checked.faults == []

    # Looking at it

    async def test_it_is_sound_and_its_figures_are_those_of_its_memories(self, tmp_path: Path) -> None:
        async with self.open_kept(tmp_path / "two", new=MADE_BY) as two:
            await fill(two)
            assert await two.embedders() == {"Jade": MADE_BY, "jade": MADE_BY}
            assert await two.damage() == []
            jade = await two.collection("Jade", MADE_BY)
            all_of_them = [one.memory async for one in jade.scan()]
            checked = await check(jade, on_progress=nothing)
            assert (checked.counted, checked.read, checked.with_words, checked.faults) == (129, 129, 129, [])
            told = await figures(jade, MADE_BY)
            assert told.memories == 129
            assert told.superseded == sum(one.superseded_by is not None for one in all_of_them)
            assert told.forgotten == sum(one.forgotten_at is not None for one in all_of_them)
            assert told.current == sum(one.superseded_by is None and one.forgotten_at is None for one in all_of_them)
            assert told.by_category == Counter(one.category for one in all_of_them)
            assert told.by_source == Counter(one.provenance.source for one in all_of_them)
            assert (told.oldest, told.newest) == (all_of_them[0].created_at, all_of_them[-1].created_at)

    async def test_more_than_a_search_asks_for_at_once_is_found_whole(self, tmp_path: Path) -> None:
        async with self.open_kept(tmp_path / "two", new=MADE_BY) as two:
            jade = await two.collection("Jade", MADE_BY)
            village = [entry(f"The bell rang {number + 100} times.", number) for number in range(2300)]
            alike = [
                Entry(memory=memory("The bell rang.", 5000 + number, minutes=9000), vector=vector(number))
                for number in range(200)
            ]
            await jade.add(village + alike)
            checked = await check(jade, on_progress=nothing)
            assert (checked.counted, checked.read, checked.faults, checked.not_looked_for) == (2500, 2500, [], 0)

    # Made anew

    async def test_another_embedder_takes_over_and_only_the_vectors_change(self, tmp_path: Path) -> None:
        async with self.open_kept(tmp_path / "two", new=MADE_BY) as two:
            await fill(two)
            before = await without_vectors(two)
            async with two.renewal(HASHING) as renewal:
                renewed = await renew(renewal, embedder=HashingEmbedder(), on_progress=nothing)
            assert (renewed.memories, renewed.agents, renewed.late) == (258, 2, 0)
        async with self.open_kept(tmp_path / "two") as two:
            assert await two.embedders() == {"Jade": HASHING, "jade": HASHING}
            assert await without_vectors(two) == before
            async for one in (await two.collection("jade", HASHING)).scan():
                [expected] = await HashingEmbedder().embed([one.memory.summary])
                assert np.array_equal(one.vector, expected)
            assert len(await two.older()) == 1
            assert await two.drop_older()
            assert await two.older() == []
            assert await without_vectors(two) == before

    async def test_made_anew_with_the_same_vectors_every_byte_stays(self, tmp_path: Path) -> None:
        for _ in range(2):
            async with self.open_kept(tmp_path / "two", new=MADE_BY) as two:
                await fill(two)
                before = await exported(two)
                async with two.renewal(None) as renewal:
                    await renew(renewal, embedder=None, on_progress=nothing)
            async with self.open_kept(tmp_path / "two") as two:
                assert await exported(two) == before
                assert await two.drop_older()

    async def test_stopped_while_it_is_made_the_store_is_as_it_was_and_the_next_call_goes_on(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(copying, "AT_ONCE", 20)
        async with self.open_kept(tmp_path / "two", new=MADE_BY) as two:
            await fill(two)
            before = await exported(two)
            flagging = Flagging(times=9)
            with pytest.raises(EmbedderUnavailable):
                async with two.renewal(HASHING) as renewal:
                    await renew(renewal, embedder=flagging, on_progress=nothing)
        async with self.open_kept(tmp_path / "two") as two:
            assert await exported(two) == before
            assert await two.older() == []
            whole = Flagging(times=1000)
            async with two.renewal(HASHING) as renewal:
                await renew(renewal, embedder=whole, on_progress=nothing)
            # What was embedded isn't again, but for the few that are compared.
            assert flagging.embedded > 100
            assert whole.embedded < 258 - flagging.embedded + 60
        async with self.open_kept(tmp_path / "two") as two:
            assert set((await two.embedders()).values()) == {HASHING}
            assert await without_vectors(two) == list(before_vectors(before))

    async def test_what_was_begun_for_another_embedder_is_given_up(self, tmp_path: Path) -> None:
        other = EmbedderRecord(name="third-embedder", dimension=4)
        async with self.open_kept(tmp_path / "two", new=MADE_BY) as two:
            await fill(two)
            async with two.renewal(other) as renewal:
                await (await renewal.target("Jade")).add(
                    [Entry(memory=FULL, vector=np.array([1, 0, 0, 0], dtype=np.float32))]
                )
        async with self.open_kept(tmp_path / "two") as two, two.renewal(HASHING) as renewal:
            assert await renewal.targets() == []
            await renew(renewal, embedder=HashingEmbedder(), on_progress=nothing)
        async with self.open_kept(tmp_path / "two") as two:
            assert await two.embedders() == {"Jade": HASHING, "jade": HASHING}

    async def test_an_embedder_that_answers_differently_each_time_takes_nothing_over(self, tmp_path: Path) -> None:
        class Moody(Flagging):
            async def embed(self, texts: Sequence[str], *, kind: TextKind = "document") -> Vectors:
                self.left += 1
                return np.array([vector_of(self.left + number) for number in range(len(texts))])

        def vector_of(seed: int) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
            raw = np.random.default_rng(seed).standard_normal(HASHING.dimension)
            return np.asarray(raw / np.linalg.norm(raw), dtype=np.float32)

        async with self.open_kept(tmp_path / "two", new=MADE_BY) as two:
            await fill(two)
            before = await exported(two)
            with pytest.raises(StoreCorrupt, match="doesn't make of its words a second time"):
                async with two.renewal(HASHING) as renewal:
                    await renew(renewal, embedder=Moody(times=0), on_progress=nothing)
        async with self.open_kept(tmp_path / "two") as two:
            assert await exported(two) == before


async def without_vectors(store: KeptStore) -> list[str]:
    return list(before_vectors(await exported(store)))


def before_vectors(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        read: dict[str, object] = json.loads(line)
        yield json.dumps({name: value for name, value in read.items() if name in ("memory", "change")})
