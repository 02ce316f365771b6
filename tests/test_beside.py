"""What a mind keeps outside its store, where that is no file of its own: it lasts beside a path, and only there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from simuverse import wiring
from simuverse.config import Settings
from simuverse.errors import StoreUnavailable
from simuverse.memory.embedders.hashing import HashingEmbedder
from simuverse.memory.store import MemoryStore
from simuverse.memory.stores.sqlite import SQLiteStore

FACT = "The granary key hangs under the loom of old Hanne."


@dataclass(frozen=True, kw_only=True, slots=True)
class Left:
    """What a later opening finds.

    Args:
        shown: how often the one memory came to mind.
        unwritten: exchanges that are still to be written down.
        memories: in the store.
    """

    shown: int
    unwritten: int
    memories: int


async def left_after(store: MemoryStore, beside: Path | None) -> Left:
    """Mira is told something, is asked for it, answers, and can't write down what is said then; later she is back."""
    for later in (False, True):
        async with wiring.open_subconscious(
            "Mira", store=store, embedder=HashingEmbedder(), beside=beside, settings=Settings()
        ) as mind:
            if later:
                found = await mind.collection.recent(10)
                tallies = [await mind.ledger.tally(memory.id) for memory in found]
                return Left(
                    shown=sum(tally.shown for tally in tallies),
                    unwritten=len(await mind.unwritten.all()),
                    memories=len(found),
                )
            await mind.remember(FACT, said_by="Per")
            recollection = await mind.recollect("Where does the granary key hang?", said_by="Per")
            assert len(recollection) == 1
            await mind.remember("It hangs under her loom.", said_by="Mira", recollection=recollection)
            with pytest.MonkeyPatch.context() as patched:
                patched.setattr(mind.collection, "add", _refused)
                assert (await mind.remember("The mill pond froze over in a single night.", said_by="Per")).failed
    raise AssertionError


async def _refused(_: object) -> None:
    raise StoreUnavailable("gone")


@pytest.mark.parametrize("lasts", [False, True])
async def test_tallies_and_kept_exchanges_last_beside_a_path_and_else_end_with_the_process(
    tmp_path: Path, lasts: bool
) -> None:
    store = await SQLiteStore.open(None, embedder_name="hashing", dimension=HashingEmbedder.dimension)
    left = await left_after(store, tmp_path / "mira" if lasts else None)
    await store.aclose()
    assert left.memories >= 1
    assert (left.shown, left.unwritten) == ((1, 1) if lasts else (0, 0))
    assert any(tmp_path.iterdir()) is lasts
