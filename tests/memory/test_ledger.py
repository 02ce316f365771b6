"""What became of flashbacks: judged by rule, measured on a labelled set, counted once a turn, and never a reason to
delete."""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from simuverse.memory.fates import Fate, Judged, judged
from simuverse.memory.ledger import NEVER, Ledger, Tally
from simuverse.memory.records import Category, Memory, Provenance, Source, memory_id
from tests.memory.labelled_flashbacks import LABELLED, Labelled

AT = datetime(2026, 3, 1, 9, tzinfo=UTC)
TRUST = Path(__file__).parents[2] / "docs" / "trust.md"
ONE, TWO = uuid4(), uuid4()


def memory(text: str, *, number: int = 0) -> Memory:
    speaker, colon, _ = text.partition(": ")
    source = Provenance(source=Source.OBSERVED)
    if colon:
        own = speaker == "Mira"
        source = Provenance(source=Source.OWN_ACTION if own else Source.SAID_BY, speaker=None if own else speaker)
    return Memory(
        id=memory_id("Mira", "then", number),
        owner="Mira",
        summary=text,
        category=Category.CONVERSATION,
        created_at=AT,
        last_accessed_at=AT,
        provenance=source,
    )


def fate(one: Labelled) -> Fate:
    speaker, _, text = one.heard.partition(": ")
    [found] = judged([memory(one.remembered)], owner="Mira", reply=one.reply, heard=[(speaker, text)], perceived=[])
    return found.fate


def fates(*texts: str, reply: str, heard: tuple[str, str] = ("Per", "Hello."), seen: str = "") -> list[str]:
    memories = [memory(text, number=number) for number, text in enumerate(texts)]
    return [one.fate for one in judged(memories, owner="Mira", reply=reply, heard=[heard], perceived=[seen])]


# --- judging ----------------------------------------------------------------------------------------------------------


def test_on_a_hundred_labelled_flashbacks_the_rule_is_as_right_as_the_page_says() -> None:
    found = Counter((one.fate, fate(one)) for one in LABELLED)
    assert sum(found.values()) == 100
    table = dict(re.findall(r"^\| `(used|ignored|contradicted)` \|(.+)\|$", TRUST.read_text("utf-8"), re.MULTILINE))
    for label in Fate:
        right = found[label, label]
        called = sum(count for (_, said), count in found.items() if said is label)
        labelled = sum(count for (true, _), count in found.items() if true is label)
        figures = [cell.strip() for cell in table[label].split("|")]
        assert figures == [f"{labelled}", f"{right} of {called}", f"{right} of {labelled}"]


def test_what_was_in_sight_or_said_already_is_taken_from_no_memory() -> None:
    ball = "Jade: The red ball lies by the fountain."
    assert fates(ball, reply="By the fountain.", heard=("Per", "Where is the ball?")) == ["used"]
    assert fates(ball, reply="By the fountain.", heard=("Per", "Is the ball by the fountain?")) == ["ignored"]
    seen = "red_ball lies by the fountain."
    assert fates(ball, reply="By the fountain.", heard=("Per", "Where is the ball?"), seen=seen) == ["ignored"]


def test_what_several_memories_hold_is_taken_from_the_one_that_holds_most_of_it() -> None:
    told, near = "Jade: The otter sleeps in the reeds by the mill.", "Per: The mill is loud."
    assert fates(near, told, reply="It sleeps in the reeds by the mill.") == ["ignored", "used"]


def test_a_name_in_a_greeting_is_no_use() -> None:
    assert fates("Per: I mend nets.", reply="Good morning, Per.") == ["ignored"]


def test_a_silent_turn_uses_nothing() -> None:
    assert fates("Jade: The red ball lies by the fountain.", reply="") == ["ignored"]
    assert judged([], owner="Mira", reply="Hello.", heard=[], perceived=[]) == ()


def test_a_warning_denies_nothing() -> None:
    assert fates("Edda: Take the cliff path.", reply="Don't take the cliff path!") != ["contradicted"]
    assert fates("Edda: The cliff path is safe.", reply="The cliff path is not safe.") == ["contradicted"]


# --- counting ---------------------------------------------------------------------------------------------------------


def turn(*found: tuple[UUID, Fate]) -> list[Judged]:
    return [Judged(memory=which, fate=what) for which, what in found]


async def test_tallies_are_kept_over_openings(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "mira.db")
    await ledger.enter("Mira", "t1", turn((ONE, Fate.USED), (TWO, Fate.IGNORED)))
    await ledger.enter("Mira", "t2", turn((ONE, Fate.IGNORED), (TWO, Fate.IGNORED)))
    await ledger.enter("Mira", "t3", turn((TWO, Fate.CONTRADICTED)))

    for one in (ledger, Ledger(tmp_path / "mira.db")):
        assert await one.tally(ONE) == Tally(used=1, ignored=1, in_a_row=1)
        assert await one.tally(TWO) == Tally(ignored=2, contradicted=1)
        assert await one.tally(uuid4()) == NEVER
        assert set(await one.tallies()) == {ONE, TWO}
    assert (await ledger.tally(TWO)).describe() == "shown 3 times: used 0, ignored 2, contradicted 1"


@pytest.mark.parametrize("kept", [False, True])
async def test_a_turn_that_is_remembered_again_counts_once(tmp_path: Path, kept: bool) -> None:
    ledger = Ledger(tmp_path / "mira.db" if kept else None)
    for _ in range(3):
        await ledger.enter("Mira", "t1", turn((ONE, Fate.USED)))
        ledger = Ledger(tmp_path / "mira.db") if kept else ledger
    await ledger.enter("Jade", "t1", turn((TWO, Fate.USED)))

    assert await ledger.tally(ONE) == Tally(used=1)
    assert await ledger.tally(TWO) == Tally(used=1)


async def test_a_line_cut_short_costs_that_line_alone(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "mira.db")
    await ledger.enter("Mira", "t1", turn((ONE, Fate.USED)))
    await ledger.enter("Mira", "t2", turn((ONE, Fate.USED)))
    assert ledger.path is not None
    ledger.path.write_bytes(ledger.path.read_bytes()[:-20])

    again = Ledger(tmp_path / "mira.db")
    await again.enter("Mira", "t3", turn((ONE, Fate.IGNORED)))

    assert await Ledger(tmp_path / "mira.db").tally(ONE) == Tally(used=1, ignored=1, in_a_row=1)


async def test_it_holds_no_words(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "mira.db")
    found = judged([memory("Jade: heron")], owner="Mira", reply="heron", heard=[], perceived=[])
    await ledger.enter("Mira", "t1", found)
    assert ledger.path is not None
    assert b"heron" not in ledger.path.read_bytes()
