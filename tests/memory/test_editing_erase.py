"""What is erased stands nowhere any more; what rested on it goes along or says so."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest

from simuverse.errors import RunFolderError, UsageError
from simuverse.memory.analysis import tokens
from simuverse.memory.dependents import EVIDENCE_ERASED
from simuverse.memory.erasing import Eraser, holds, tells, wordings
from simuverse.memory.records import Memory, Provenance, Source
from tests.contracts.memory_reference import memory
from tests.memory.editing import Desk, desk, exported, found, now

SECRET = "The zephyrine box is under the quince tree."


@pytest.fixture
async def jade(tmp_path: Path) -> AsyncGenerator[Desk]:
    async with desk(tmp_path / "jade.db") as opened:
        yield opened


async def resting_on(jade: Desk, summary: str, *evidence: UUID) -> Memory:
    kept = await jade.pool.keep(summary)
    await jade.collection.update([replace(kept, evidence=evidence)])
    return await now(jade.collection, kept)


def left_in(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())


async def test_no_byte_of_an_erased_memory_is_left_in_store_or_record(jade: Desk, tmp_path: Path) -> None:
    box = await jade.pool.keep(
        SECRET, keywords=("zephyrine",), critical_information="The key hangs by the larder.", episode="e", position=1
    )
    await jade.pool.keep("Nobody else was there.", episode="e", position=2)
    await jade.editor.rewrite(box.id, "The quixotic chest is under the quince tree.", why="zephyrine was a misnomer")
    await jade.editor.forget([box.id], why="The zephyrine box is under the quince tree, they say")
    assert b"zephyrine" in left_in(tmp_path)
    erased = await jade.editor.erase([box.id], why="The quixotic chest is under the quince tree.")
    left = left_in(tmp_path)
    for word in (*tokens(SECRET), "zephyrine", "quixotic", "larder"):
        assert word.encode() not in left, word
    assert await jade.collection.get([box.id]) == []
    assert await found(jade.collection, "zephyrine quixotic quince") == []
    assert erased.texts == (
        "The quixotic chest is under the quince tree.",
        "The zephyrine box is under the quince tree.",
        "The key hangs by the larder.",
    )
    assert [(c.kind, c.by, c.redacted, c.why, c.before, c.ids) for c in await jade.editor.history()] == [
        ("rewrite", "operator", True, "", (), (box.id,)),
        ("forget", "operator", True, "", (), (box.id,)),
        ("erase", "operator", False, "", (), (box.id,)),
    ]


async def test_what_was_erased_cant_be_brought_back(jade: Desk) -> None:
    box, other = await jade.pool.keep(SECRET), await jade.pool.keep("The ferry leaves at noon.")
    await jade.editor.forget([other.id])
    hidden = await jade.editor.forget([box.id])
    gone = await jade.editor.erase([box.id])
    with pytest.raises(UsageError, match=f"change {gone.change.number} erased for good"):
        await jade.editor.undo(gone.change.number)
    with pytest.raises(UsageError, match="a memory that it touched was erased since"):
        await jade.editor.undo(hidden.number)
    await jade.editor.undo()
    assert (await now(jade.collection, other)).forgotten_at is None


async def test_what_rests_on_it_alone_goes_along_and_what_rests_on_more_loses_that_evidence(jade: Desk) -> None:
    box, walk = await jade.pool.keep(SECRET), await jade.pool.keep("Tomas walks there at night.")
    alone = await resting_on(jade, "Someone hides things in the garden.", box.id)
    deeper = await resting_on(jade, "Gardens are good for hiding.", alone.id)
    both = await resting_on(jade, "Tomas hides things.", box.id, walk.id)
    quoting = await resting_on(jade, f"I heard it twice: {SECRET.lower()}", box.id, walk.id)
    apart = await jade.pool.keep("Clouds drift by.")
    erased = await jade.editor.erase([box.id])
    assert erased.change.ids == (box.id,)
    assert set(erased.change.along) == {alone.id, deeper.id, quoting.id}
    assert {entry.memory.id async for entry in jade.collection.scan()} == {walk.id, both.id, apart.id}
    bereft = await now(jade.collection, both)
    assert erased.bereft == (bereft,)
    assert (bereft.evidence, bereft.flags) == ((walk.id,), (EVIDENCE_ERASED,))


async def test_erasing_a_source_of_a_merge_takes_the_merge_apart(jade: Desk) -> None:
    box, chest = await jade.pool.keep(SECRET), await jade.pool.keep("There is a chest under a tree.")
    merge = await jade.editor.merge([box.id, chest.id])
    assert (await now(jade.collection, chest)).superseded_by == merge.ids[0]
    erased = await jade.editor.erase([box.id])
    assert erased.change.along == merge.ids
    assert await now(jade.collection, chest) == chest
    assert b"zephyrine" not in await exported(jade.collection)


async def test_erasing_a_merged_memory_takes_its_sources_along(jade: Desk) -> None:
    box, chest = await jade.pool.keep(SECRET), await jade.pool.keep("There is a chest under a tree.")
    merge = await jade.editor.merge([box.id, chest.id])
    await jade.editor.erase(merge.ids)
    assert await jade.collection.get([box.id, chest.id, *merge.ids]) == []


async def test_a_fact_that_was_superseded_stays_past_when_the_later_one_is_erased(jade: Desk) -> None:
    old, new = await jade.pool.keep("Mira lives in Alder Street."), await jade.pool.keep("Mira lives by the quay.")
    await jade.editor.supersede(old.id, by=new.id)
    await jade.editor.erase([new.id])
    assert not (await now(jade.collection, old)).current


async def test_what_says_the_same_elsewhere_is_told_not_erased(jade: Desk) -> None:
    box = await jade.pool.keep(SECRET)
    twin = await jade.pool.keep(f"Jade: {SECRET}", provenance=Provenance(source=Source.SAID_BY, speaker="Mira"))
    short = await jade.pool.keep("The zephyrine box is under the tree. Who knows.")
    await jade.pool.keep("A box is no tree.")
    erased = await jade.editor.erase([box.id])
    assert erased.restating == (twin, short)


async def test_nothing_is_erased_along_that_is_anchored(jade: Desk) -> None:
    box = await jade.pool.keep(SECRET)
    rests = await resting_on(jade, "Someone hides things in the garden.", box.id)
    await jade.editor.anchor([rests.id])
    with pytest.raises(UsageError, match=f"memory {rests.id} is anchored"):
        await jade.editor.erase([box.id])
    assert await jade.collection.count() == 2


class _Locked:
    """A place that can't be cleared now."""

    async def erase(self, memories: Sequence[Memory]) -> None:
        raise RunFolderError("it is being written")


async def test_if_a_copy_cant_be_cleared_nothing_is_erased_now_or_later(jade: Desk) -> None:
    box = await jade.pool.keep(SECRET)
    before = await exported(jade.collection)
    with pytest.raises(RunFolderError):
        await jade.as_("operator", copies=[_Locked()]).erase([box.id])
    assert [change.state for change in await jade.editor.history()] == ["abandoned"]
    assert await exported(jade.collection) == before


# --- words ----------------------------------------------------------------------------------------------------------


def test_the_words_of_a_memory_are_what_was_said_and_what_must_survive() -> None:
    said = memory("Mira: The boat & the oar are mine.", provenance=Provenance(source=Source.SAID_BY, speaker="Mira"))
    assert wordings([said]) == ("The boat & the oar are mine.",)
    assert wordings([replace(said, summary="Jade: Yes.")]) == ()
    assert wordings([replace(said, critical_information="Mira")]) == wordings([said])


def test_words_are_looked_for_as_xml_and_json_write_them() -> None:
    text = 'He said "no" & left.'
    for written in (
        'He said "no" & left.',
        r"He said \"no\" & left.",
        r"He said \"no\" &amp; left.",
        "He said &quot;no&quot; &amp; left.",
    ):
        assert holds(f"so: {written}".encode(), [text])
    assert not holds(b"He said no and left.", [text])
    assert tells(memory('HE said  "No" & left. Twice.'), [text])


@pytest.mark.parametrize(
    ("text", "without"),
    [
        ("I know. Mira sells boats & oars by the quay! Good.", "I know. [erased]! Good."),
        ("<text>Mira sells boats &amp; oars by the quay</text>", "<text>[erased]</text>"),
        ("By the quay, boats and oars sells Mira.", "[erased]."),
        ("Mira sells boats.", "[erased]."),
        ("Boats at the quay? By Mira.", "Boats at the quay? By Mira."),
        ("Mira sells fish.", "Mira sells fish."),
        (
            "<flashbacks><flashback><summary>Mira sells boats &amp; oars by the quay</summary>"
            "<time>noon</time></flashback><flashback><summary>Else.</summary></flashback></flashbacks>",
            "<flashbacks><flashback>[erased]</flashback><flashback><summary>Else.</summary></flashback></flashbacks>",
        ),
    ],
)
def test_a_text_loses_words_recollections_and_restatements(text: str, without: str) -> None:
    assert Eraser([memory("Mira sells boats & oars by the quay")]).text(text) == without


def test_a_value_loses_records_and_messages_by_their_ids() -> None:
    one = memory("Yes.", provenance=Provenance(source=Source.SAID_BY, speaker="Mira", messages=("m1",)))
    record = {"id": str(one.id), "summary": "Yes.", "keywords": ["yes"], "critical_information": "9", "importance": 5}
    value = {"heard": [{"id": "m1", "text": "Yes."}, {"id": "m2", "text": "Yes."}], "memory": record}
    assert Eraser([one]).value(value) == {
        "heard": [{"id": "m1", "text": "[erased]"}, {"id": "m2", "text": "Yes."}],
        "memory": {**record, "summary": "[erased]", "keywords": [], "critical_information": ""},
    }
