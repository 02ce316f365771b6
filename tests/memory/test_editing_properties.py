"""Whatever is changed, undoing all of it gives back every byte."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simuverse.errors import UsageError
from simuverse.memory.audit import Change
from simuverse.memory.merging import merged
from tests.contracts.memory_reference import memory
from tests.memory.editing import Desk, desk, exported

TEXTS = (
    "The heron stole a fish.",
    "Mira sells boats.",
    "Mira sells 3 wooden boats in the harbour.",
    "The bell rang at noon.",
    "Tomas lives in Alder Street.",
)

Kind = Literal["forget", "rewrite", "merge", "supersede", "separate", "anchor", "unanchor", "undo", "undo the latest"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """A change of the memories at these places, counted among all there are at that time."""

    kind: Kind
    places: tuple[int, int]
    text: str
    number: int


STEPS = st.builds(
    Step,
    kind=st.sampled_from(get_args(Kind)),
    places=st.tuples(st.integers(0, 9), st.integers(0, 9)),
    text=st.sampled_from(TEXTS),
    number=st.integers(1, 10),
)


async def make(step: Step, here: Desk) -> Change:
    ids = [entry.memory.id async for entry in here.collection.scan()]
    one, other = (ids[place % len(ids)] for place in step.places)
    editor = here.editor
    match step.kind:
        case "forget":
            return await editor.forget([one, other])
        case "rewrite":
            return await editor.rewrite(one, step.text, importance=step.number)
        case "merge":
            return await editor.merge([one, other])
        case "supersede":
            return await editor.supersede(one, by=other)
        case "separate":
            return await editor.separate([one])
        case "anchor":
            return await editor.anchor([one])
        case "unanchor":
            return await editor.unanchor([one])
        case "undo":
            return await editor.undo(step.number)
        case "undo the latest":
            return await editor.undo()


@settings(max_examples=100, deadline=None)
@given(st.lists(STEPS, max_size=12))
async def test_any_changes_undone_one_by_one_leave_an_export_of_the_same_bytes(steps: list[Step]) -> None:
    async with desk(None) as here:
        kept = [await here.pool.keep(text, keywords=("boats",), episode="e", position=len(text)) for text in TEXTS]
        await here.collection.update([replace(kept[2], restates=kept[1].id)])
        before = await exported(here.collection)
        made = 0
        for step in steps:
            try:
                await make(step, here)
                made += 1
            except UsageError:
                continue
        for _ in range(made):
            try:
                await here.editor.undo()
            except UsageError:
                break
        with pytest.raises(UsageError, match="there is no change to undo"):
            await here.editor.undo()
        assert await exported(here.collection) == before


@given(st.permutations(range(len(TEXTS))))
def test_in_which_order_memories_are_merged_is_no_matter(order: list[int]) -> None:
    several = [
        memory(text, number, keywords=(f"word{number}", "boats"), importance=number + 1)
        for number, text in enumerate(TEXTS)
    ]
    assert merged([several[n] for n in order], by="rules") == merged(several, by="rules")
