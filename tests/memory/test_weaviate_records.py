"""Memories that are kept as they were last read, without a server."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from simuverse.memory.caches import let_go
from simuverse.memory.clock import ManualClock
from simuverse.memory.stores.weaviate_objects import Text
from simuverse.memory.stores.weaviate_records import RESTED, KeptRecords, Record
from tests.contracts.memory_reference import memory

WRITTEN = datetime(2026, 3, 1, 8, 0, 0, 123_000, tzinfo=UTC)
LONG_AFTER = ManualClock(WRITTEN + timedelta(minutes=1))
A_MOMENT = timedelta(milliseconds=1)


def record(number: int = 0, *, changed: datetime | None = WRITTEN) -> Record:
    texts: dict[Text, str] = {"search_text": "red kite kite", "context_text": "kite bell"}
    return Record(memory=memory("The red kite, a kite.", number), texts=texts, changed=changed)


def test_a_record_is_known_by_place_and_id_as_long_as_it_is_not_written_again() -> None:
    kept, one = KeptRecords(clock=LONG_AFTER), record()
    kept.put("Jade", 7, one)
    assert kept.get("Jade", 7, WRITTEN) is one
    assert kept.get("Mira", 7, WRITTEN) is None
    assert kept.get("Jade", 8, WRITTEN) is None
    assert kept.get("Jade", 7, WRITTEN + A_MOMENT) is None
    assert kept.get("Jade", 7, None) is None
    later = replace(one, changed=WRITTEN + A_MOMENT)
    kept.put("Jade", 7, later)
    assert kept.get("Jade", 7, WRITTEN) is None
    assert kept.get("Jade", 7, WRITTEN + A_MOMENT) is later


def test_what_was_written_a_moment_ago_is_not_kept_as_another_write_may_bear_the_same_time() -> None:
    clock = ManualClock(WRITTEN + RESTED - A_MOMENT)
    kept = KeptRecords(clock=clock)
    kept.put("Jade", 1, record())
    clock.set(WRITTEN - RESTED + A_MOMENT)
    kept.put("Jade", 2, record())
    kept.put("Jade", 3, record(changed=None))
    assert len(kept) == 0
    clock.set(WRITTEN + RESTED)
    kept.put("Jade", 1, record())
    assert len(kept) == 1


def test_the_one_not_used_for_longest_makes_room_and_all_go_when_a_memory_is_erased() -> None:
    kept = KeptRecords(most=2, clock=LONG_AFTER)
    for number in (0, 1):
        kept.put("Jade", number, record(number))
    kept.get("Jade", 0, WRITTEN)
    kept.put("Jade", 2, record(2))
    assert [kept.get("Jade", number, WRITTEN) is not None for number in range(3)] == [True, False, True]
    let_go()
    assert len(kept) == 0


def test_the_words_of_a_record_are_those_of_the_memory_alone_and_in_its_context() -> None:
    one = record()
    alone = one.words("search_text")
    assert alone.count == 3
    assert alone.frequencies["kite"] == 2
    assert one.words("search_text") is alone
    assert dict(one.words("context_text").frequencies) == {"kite": 1, "bell": 1}
    assert one.tells("context_text")
    plain = replace(one, texts={"search_text": "red kite kite"})
    assert plain.tells("search_text")
    assert not plain.tells("context_text")
