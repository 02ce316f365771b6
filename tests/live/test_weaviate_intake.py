"""Drafts on their way into a real Weaviate server: merged, in another's place, linked; recorded there and undone."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from simuverse.memory.audit import AuditLog
from simuverse.memory.clock import ManualClock
from simuverse.memory.editing import MemoryEditor
from simuverse.memory.embedders.hashing import HashingEmbedder
from simuverse.memory.intake import Intake, Taken
from simuverse.memory.records import Memory, Provenance, Source, memory_id
from simuverse.memory.store import MemoryStore
from tests.contracts.memory_reference import memory
from tests.memory.editing import TODAY
from tests.test_beside import left_after

pytestmark = pytest.mark.live

FERRY = "The ferry leaves the pier at half past four."


def draft(number: int, text: str, *, by: str = "Mira", days: float = 0) -> Memory:
    provenance = Provenance(source=Source.SAID_BY, speaker=by, messages=(f"m{number}",))
    at = TODAY + timedelta(days=days)
    return replace(
        memory(f"{by}: {text}", number, provenance=provenance),
        id=memory_id("Jade", "told", number),
        created_at=at,
        last_accessed_at=at,
    )


async def test_it_becomes_there_what_it_becomes_in_a_file(store: MemoryStore) -> None:
    collection = await store.collection("Jade")
    audit, clock = AuditLog.within(store, dimension=HashingEmbedder.dimension), ManualClock(TODAY)
    intake = Intake(collection, HashingEmbedder(), clock, audit)

    async def take(one: Memory) -> Taken:
        return await intake.take([one])

    [ferry] = (await take(draft(1, FERRY))).written
    [merged] = (await take(draft(2, "At half past four the ferry leaves the pier."))).merged
    [linked] = (await take(draft(3, FERRY, by="Joel"))).written
    [home] = (await take(draft(4, "I live in Orvale."))).written
    moved = await take(draft(5, "I live in Brenmoor now.", days=2))

    assert (merged.id, merged.provenance.messages) == (ferry.id, ("m1", "m2"))
    assert linked.restates == ferry.id
    assert [past.id for past in moved.past] == [home.id]
    assert await collection.get([ferry.id, linked.id]) == [merged, linked]
    assert await collection.count() == 3
    editor = MemoryEditor(collection, HashingEmbedder(), clock, audit)
    assert [change.kind for change in await editor.history()] == ["merge", "supersede"]
    await editor.undo()
    await editor.undo()
    assert await collection.count() == 5


@pytest.mark.parametrize("lasts", [False, True])
async def test_tallies_and_kept_exchanges_last_beside_a_path_and_else_end_with_the_process(
    store: MemoryStore, tmp_path: Path, lasts: bool
) -> None:
    left = await left_after(store, tmp_path / "mira" if lasts else None)
    assert left.memories >= 1
    assert (left.shown, left.unwritten) == ((1, 1) if lasts else (0, 0))
