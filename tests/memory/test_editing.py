"""What each change of memories does, how it is undone, and what the record says of it."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from simuverse.errors import StoreCorrupt, StoreRefused, StoreUnavailable, UsageError
from simuverse.memory import audit_lines
from simuverse.memory.audit import AuditLog
from simuverse.memory.records import Category, Provenance, SearchType, Source
from tests.memory.editing import TODAY, Desk, desk, exported, found, now

LIE = "The lighthouse keeper owns a parrot."


@pytest.fixture
async def jade(tmp_path: Path) -> AsyncGenerator[Desk]:
    async with desk(tmp_path / "jade.db") as opened:
        yield opened


async def test_what_is_forgotten_is_found_by_no_search_and_undo_brings_it_back(jade: Desk) -> None:
    parrot = await jade.pool.keep(LIE, keywords=("parrot",))
    await jade.pool.keep("The ferry leaves at noon.")
    before = await exported(jade.collection)
    change = await jade.editor.forget([parrot.id], why="said in jest")
    for by in SearchType:
        assert LIE not in await found(jade.collection, "parrot of the lighthouse keeper", by=by)
    assert LIE not in [memory.summary for memory in await jade.collection.recent(10)]
    assert (await now(jade.collection, parrot)).forgotten_at == TODAY
    await jade.editor.undo(change.number)
    assert await exported(jade.collection) == before
    assert LIE in await found(jade.collection, "parrot of the lighthouse keeper")


async def test_a_rewritten_memory_is_found_by_its_new_wording_alone_and_the_old_one_stands_in_the_history(
    jade: Desk,
) -> None:
    parrot = await jade.pool.keep(
        LIE,
        keywords=("parrot", "lighthouse"),
        critical_information="The parrot is called Ludo.",
        episode="e",
        position=1,
        provenance=Provenance(source=Source.SAID_BY, speaker="Mira"),
    )
    await jade.pool.keep("Nobody laughed.", episode="e", position=2)
    await jade.editor.rewrite(parrot.id, "The lighthouse holds a foghorn.")
    new = await now(jade.collection, parrot)
    assert (new.keywords, new.critical_information) == (("lighthouse",), "")
    assert new.provenance == parrot.provenance
    assert new.flags == ("edited_by:operator",)
    for by in SearchType:
        assert LIE not in await found(jade.collection, "parrot Ludo keeper", by=by)
        assert new.summary in await found(jade.collection, new.summary, by=by)
    [change] = await jade.editor.history(parrot.id)
    assert (change.before, change.after) == ((parrot,), (new,))
    [hit, *_] = await found(jade.collection, "foghorn", by=SearchType.SEMANTIC)
    assert hit == new.summary


async def test_particulars_may_be_changed_without_the_wording(jade: Desk) -> None:
    parrot = await jade.pool.keep(LIE, keywords=("parrot",))
    await jade.editor.rewrite(
        parrot.id, importance=9, category=Category.KNOWLEDGE, keywords=["bird"], critical_information="Ludo"
    )
    new = await now(jade.collection, parrot)
    assert (new.summary, new.importance, new.category) == (LIE, 9, Category.KNOWLEDGE)
    assert (new.keywords, new.critical_information) == (("bird",), "Ludo")


async def test_a_merge_keeps_all_that_its_sources_held(jade: Desk) -> None:
    short = await jade.pool.keep(
        "Mira sells boats.",
        keywords=("Mira", "boats"),
        importance=8,
        provenance=Provenance(source=Source.SAID_BY, speaker="Mira", messages=("m1",)),
    )
    rich = await jade.pool.keep(
        "Mira sells wooden boats in the old harbour hall.",
        keywords=("boats", "harbour"),
        critical_information="Boat 7 is sold.",
        importance=3,
        provenance=Provenance(source=Source.SAID_BY, speaker="Mira", messages=("m2",)),
    )
    before = await exported(jade.collection)
    change = await jade.editor.merge([short.id, rich.id])
    [new_id] = change.ids
    [one] = await jade.collection.get([new_id])
    assert one.summary == rich.summary
    assert one.keywords == ("boats", "harbour", "Mira")
    assert (one.importance, one.critical_information) == (8, "Boat 7 is sold.")
    assert set(one.evidence) == {short.id, rich.id}
    assert one.provenance == Provenance(source=Source.SAID_BY, speaker="Mira", messages=("m2", "m1"))
    assert one.created_at == min(short.created_at, rich.created_at)
    assert [memory.id for memory in await jade.collection.recent(10)] == [new_id]
    for source in (short, rich):
        assert (await now(jade.collection, source)).superseded_by == new_id
    await jade.editor.undo()
    assert await exported(jade.collection) == before
    assert (await jade.editor.merge([rich.id, short.id])).ids == (new_id,)


async def test_a_wording_of_ones_own_over_several_sources_is_nobodys_word(jade: Desk) -> None:
    said = await jade.pool.keep("Mira sells boats.", provenance=Provenance(source=Source.SAID_BY, speaker="Mira"))
    seen = await jade.pool.keep("A shop full of boats.")
    change = await jade.editor.merge([said.id, seen.id], summary="Mira's shop is full of boats.")
    assert change.after[0].provenance.source is Source.OPERATOR
    await jade.editor.undo()
    assert (await jade.as_("model").merge([said.id, seen.id], summary="Boats.")).after[0].provenance.source is (
        Source.INFERRED
    )


async def test_a_fact_that_changed_is_past_and_linked_both_ways(jade: Desk) -> None:
    old, new = await jade.pool.keep("Mira lives in Alder Street."), await jade.pool.keep("Mira lives by the quay.")
    await jade.editor.supersede(old.id, by=new.id)
    assert (await now(jade.collection, old)).superseded_by == new.id
    assert (await now(jade.collection, old)).superseded_at == TODAY
    assert (await now(jade.collection, new)).supersedes == old.id
    assert await found(jade.collection, "Where does Mira live?") == [new.summary]


async def test_what_was_linked_by_mistake_is_by_itself_again_and_outlasts_what_it_was_linked_to(jade: Desk) -> None:
    barn, walk = await jade.pool.keep("The barn is on the hill."), await jade.pool.keep("Mira walked up the hill.")
    linked = replace(
        await jade.pool.keep("The barn on the hill has bats."), restates=barn.id, evidence=(barn.id, walk.id)
    )
    await jade.collection.update([linked])
    before = await exported(jade.collection)
    change = await jade.editor.separate([linked.id, walk.id], why="bats are new")
    assert (change.kind, change.ids, change.why) == ("separate", (linked.id,), "bats are new")
    assert await now(jade.collection, linked) == replace(linked, restates=None, evidence=(walk.id,))
    with pytest.raises(UsageError, match="nothing to separate"):
        await jade.editor.separate([linked.id])
    await jade.editor.undo()
    assert await exported(jade.collection) == before
    await jade.editor.separate([linked.id])
    assert (await jade.editor.erase([barn.id])).change.along == ()
    assert (await now(jade.collection, linked)).group == linked.id


async def test_what_is_anchored_is_changed_by_nobody_until_an_operator_takes_the_anchor_away(jade: Desk) -> None:
    self_, other = await jade.pool.keep("I am a carpenter."), await jade.pool.keep("I build chairs.")
    await jade.editor.anchor([self_.id])
    before = await exported(jade.collection)
    for editor in (jade.editor, jade.as_("model"), jade.as_("rules")):
        for attempt in (
            editor.forget([self_.id]),
            editor.rewrite(self_.id, "I am a sailor."),
            editor.merge([self_.id, other.id]),
            editor.supersede(self_.id, by=other.id),
            editor.separate([self_.id]),
            *([editor.erase([self_.id])] if editor is jade.editor else []),
        ):
            with pytest.raises(UsageError, match=f"{self_.id} is anchored, so it isn't .* unanchor {self_.id}"):
                await attempt
    with pytest.raises(UsageError, match="only an operator"):
        await jade.as_("model").unanchor([self_.id])
    with pytest.raises(UsageError, match="only an operator"):
        await jade.as_("model").undo()
    with pytest.raises(UsageError, match="only an operator"):
        await jade.as_("model").anchor([other.id])
    assert await exported(jade.collection) == before
    assert [change.kind for change in await jade.editor.history()] == ["anchor"]
    await jade.editor.unanchor([self_.id])
    await jade.editor.rewrite(self_.id, "I am a sailor.")


async def test_a_model_neither_erases_nor_undoes_what_an_operator_did(jade: Desk) -> None:
    parrot = await jade.pool.keep(LIE)
    await jade.editor.forget([parrot.id])
    with pytest.raises(UsageError, match="only an operator erases for good"):
        await jade.as_("model").erase([parrot.id])
    with pytest.raises(UsageError, match="change 1 is an operator's"):
        await jade.as_("rules").undo()
    await jade.editor.undo()
    own = await jade.as_("model").rewrite(parrot.id, "Nobody owns a parrot.")
    await jade.as_("model").undo(own.number)
    assert await now(jade.collection, parrot) == parrot


async def test_looking_into_the_history_writes_nothing(jade: Desk, tmp_path: Path) -> None:
    files = sorted(tmp_path.iterdir())
    assert await jade.editor.history() == []
    assert sorted(tmp_path.iterdir()) == files


async def test_the_record_says_who_when_why_before_and_after_in_one_line_a_change(jade: Desk, tmp_path: Path) -> None:
    parrot = await jade.pool.keep(LIE)
    await jade.as_("model").rewrite(parrot.id, "Nobody owns a parrot.", why="Mira took it back")
    first, second = (tmp_path / "jade.db.audit.jsonl").read_text(encoding="utf-8").splitlines()
    line = json.loads(first)
    assert (line["number"], line["kind"], line["owner"], line["by"]) == (1, "rewrite", "Jade", "model")
    assert (line["at"], line["why"], line["ids"]) == ("2026-04-02T09:00:00Z", "Mira took it back", [str(parrot.id)])
    assert line["before"][0]["summary"] == LIE
    assert line["after"][0]["summary"] == "Nobody owns a parrot."
    assert json.loads(second) == {"settles": 1, "state": "done"}


async def test_the_record_only_grows(jade: Desk, tmp_path: Path) -> None:
    parrot = await jade.pool.keep(LIE)
    written = b""
    for step in (
        jade.editor.forget([parrot.id]),
        jade.editor.undo(),
        jade.editor.rewrite(parrot.id, "x y"),
        jade.editor.undo(),
    ):
        await step
        longer = (tmp_path / "jade.db.audit.jsonl").read_bytes()
        assert longer.startswith(written)
        assert len(longer) > len(written)
        written = longer


async def test_undo_goes_back_one_by_one_and_an_undo_can_be_undone(jade: Desk) -> None:
    parrot = await jade.pool.keep(LIE)
    await jade.editor.rewrite(parrot.id, "Second wording.")
    await jade.editor.rewrite(parrot.id, "Third wording.")
    await jade.editor.undo()
    assert (await now(jade.collection, parrot)).summary == "Second wording."
    back = await jade.editor.undo()
    assert (await now(jade.collection, parrot)).summary == LIE
    assert back.undoes == 1
    with pytest.raises(UsageError, match="there is no change to undo"):
        await jade.editor.undo()
    with pytest.raises(UsageError, match="change 1 was undone already"):
        await jade.editor.undo(1)
    again = await jade.editor.undo(back.number)
    assert (await now(jade.collection, parrot)).summary == "Second wording."
    await jade.editor.undo(again.number)
    assert (await now(jade.collection, parrot)).summary == LIE


async def test_a_named_change_is_undone_unless_another_rests_on_it(jade: Desk) -> None:
    parrot, ferry = await jade.pool.keep(LIE), await jade.pool.keep("The ferry leaves at noon.")
    await jade.editor.rewrite(parrot.id, "Second wording.")
    await jade.editor.forget([ferry.id])
    await jade.editor.rewrite(parrot.id, "Third wording.")
    with pytest.raises(UsageError, match="change 1 can't be undone before change 3"):
        await jade.editor.undo(1)
    await jade.editor.undo(2)
    assert (await now(jade.collection, ferry)).forgotten_at is None
    await jade.collection.touch([parrot.id], TODAY)
    await jade.editor.undo(3)
    after = await now(jade.collection, parrot)
    assert (after.summary, after.last_accessed_at) == ("Second wording.", TODAY)


async def test_a_change_is_not_undone_under_later_ones_that_happen_to_end_where_it_did(jade: Desk) -> None:
    parrot = await jade.pool.keep(LIE)
    await jade.editor.anchor([parrot.id])
    await jade.editor.unanchor([parrot.id])
    await jade.editor.anchor([parrot.id])
    with pytest.raises(UsageError, match="undo change 3 first"):
        await jade.editor.undo(1)


async def test_what_was_changed_without_a_record_is_not_undone_over(jade: Desk) -> None:
    parrot = await jade.pool.keep(LIE)
    change = await jade.editor.forget([parrot.id])
    await jade.collection.erase([parrot.id])
    with pytest.raises(UsageError, match="was changed since without a record"):
        await jade.editor.undo(change.number)


async def test_a_merge_that_something_rests_on_is_not_undone(jade: Desk) -> None:
    one, other = await jade.pool.keep("Mira sells boats."), await jade.pool.keep("Mira sells many boats.")
    change = await jade.editor.merge([one.id, other.id])
    third = await jade.pool.keep("Mira sells boats for a living.")
    second = await jade.editor.merge([change.ids[0], third.id])
    with pytest.raises(UsageError, match=f"undo change {second.number} first"):
        await jade.editor.undo(change.number)


@pytest.mark.parametrize("kind", ["forget", "merge", "supersede", "rewrite", "anchor"])
async def test_what_makes_no_sense_is_refused_and_leaves_no_line(jade: Desk, tmp_path: Path, kind: str) -> None:
    parrot, ferry = await jade.pool.keep(LIE), await jade.pool.keep("The ferry leaves at noon.")
    await jade.collection.forget([ferry.id], TODAY)
    nobody, editor = uuid4(), jade.editor
    attempts = {
        "forget": [editor.forget([ferry.id]), editor.forget([nobody])],
        "merge": [editor.merge([parrot.id, parrot.id]), editor.merge([parrot.id, ferry.id])],
        "supersede": [editor.supersede(parrot.id, by=parrot.id), editor.supersede(ferry.id, by=parrot.id)],
        "rewrite": [
            editor.rewrite(parrot.id, LIE),
            editor.rewrite(parrot.id, "  "),
            editor.rewrite(parrot.id, importance=11),
            editor.rewrite(nobody, "x"),
        ],
        "anchor": [editor.unanchor([parrot.id]), editor.anchor([nobody])],
    }
    for every, ones in attempts.items():
        for attempt in ones:
            if every != kind:
                attempt.close()
                continue
            with pytest.raises(UsageError):
                await attempt
    assert await editor.history() == []
    assert not (tmp_path / "jade.db.audit.jsonl").exists()


async def test_every_owner_has_a_history_of_ones_own_in_the_record_of_the_store(tmp_path: Path) -> None:
    file = tmp_path / "all.db"
    async with desk(file, owner="Jade") as jade, desk(file, owner="Mira") as mira:
        first = await jade.pool.keep(LIE)
        second = await mira.pool.keep("I never said that.")
        await jade.editor.forget([first.id])
        await mira.editor.forget([second.id])
        assert [change.number for change in await mira.editor.history()] == [2]
        await jade.editor.undo()
        assert (await now(mira.collection, second)).forgotten_at == TODAY


async def test_a_store_in_memory_has_its_record_there(jade: Desk) -> None:
    async with desk(None) as here:
        parrot = await here.pool.keep(LIE)
        await here.editor.forget([parrot.id])
        await here.editor.undo()
        await here.editor.rewrite(parrot.id, "Another wording.")
        erased = await here.editor.erase([parrot.id])
        assert [(change.kind, change.state) for change in await here.editor.history()] == [
            ("forget", "done"),
            ("undo", "done"),
            ("rewrite", "done"),
            ("erase", "done"),
        ]
        assert all(change.redacted for change in (await here.editor.history())[:3])
        assert erased.texts == (LIE, "Another wording.")


async def test_a_damaged_record_is_told_by_line_and_a_torn_last_line_is_none(jade: Desk, tmp_path: Path) -> None:
    parrot = await jade.pool.keep(LIE)
    await jade.editor.forget([parrot.id])
    file = tmp_path / "jade.db.audit.jsonl"
    whole = file.read_bytes()
    file.write_bytes(whole + whole[:40])
    assert [change.kind for change in await jade.editor.history()] == ["forget"]
    await jade.editor.undo()
    assert file.read_bytes().startswith(whole + b'{"number":2')
    file.write_bytes(b"{}\n" + whole)
    with pytest.raises(StoreCorrupt, match=r"jade\.db\.audit\.jsonl, line 1 is damaged"):
        await jade.editor.forget([parrot.id])


async def test_without_a_record_nothing_is_changed(jade: Desk, tmp_path: Path) -> None:
    parrot = await jade.pool.keep(LIE)
    (tmp_path / "jade.db.audit.jsonl").mkdir()
    with pytest.raises(StoreRefused, match="Nothing is changed without it"):
        await jade.editor.forget([parrot.id])
    assert (await now(jade.collection, parrot)).forgotten_at is None


async def test_a_change_waits_for_another_programs_and_says_so_after_a_while(
    jade: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parrot = await jade.pool.keep(LIE)
    monkeypatch.setattr(audit_lines, "WAIT", 0.01)
    async with AuditLog.beside(tmp_path / "jade.db").held():
        with pytest.raises(StoreUnavailable, match="another program has been changing memories"):
            await jade.editor.forget([parrot.id])
    await jade.editor.forget([parrot.id])
