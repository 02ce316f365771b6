"""A store with an outbox before it: while it works, nothing is other than without."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path

from simuverse.memory.outbox import Outbox, OutboxCollection
from simuverse.memory.store import MemoryStore
from simuverse.memory.stores.sqlite import SQLiteStore
from tests.contracts.memory_reference import DIMENSION, entry
from tests.contracts.memory_store import EMBEDDER, MemoryStoreContract, everything
from tests.memory.outboxes import opened


class OutboxStore:
    """A store all of whose collections have an outbox."""

    def __init__(self, store: MemoryStore, outbox: Outbox, stack: AsyncExitStack) -> None:
        self._store, self._outbox, self._stack = store, outbox, stack

    @property
    def description(self) -> str:
        return self._store.description

    async def collection(self, owner: str) -> OutboxCollection:
        return self._outbox.collection(await self._store.collection(owner))

    async def owners(self) -> list[str]:
        return await self._store.owners()

    async def erase(self, owner: str) -> bool:
        return await self._store.erase(owner)

    async def aclose(self) -> None:
        await self._stack.aclose()


class TestStoreWithOutbox(MemoryStoreContract):
    """While the store works, nothing is other than without an outbox."""

    async def open(self, place: Path, *, embedder: str = EMBEDDER) -> MemoryStore:
        async with AsyncExitStack() as stack:
            store = await SQLiteStore.open(place / "memories.db", embedder_name=embedder, dimension=DIMENSION)
            stack.push_async_callback(store.aclose)
            number = sum(1 for _ in place.glob("outbox-*"))
            outbox = await stack.enter_async_context(opened(store, place / f"outbox-{number}.jsonl"))
            return OutboxStore(store, outbox, stack.pop_all())

    async def test_erasing_one_owner_leaves_the_others_byte_by_byte(self, store: MemoryStore) -> None:
        """And what is added to the erased one's collection afterwards waits, where it is refused without an outbox."""
        jade, twin = await store.collection("Jade"), await store.collection("jade")
        await jade.add([entry("The bell rang.", 0)])
        await twin.add([entry("Clouds drift by.", 0, owner="jade")])
        before = await everything(twin)
        assert await store.erase("Jade")
        assert await everything(twin) == before
        await jade.add([entry("The otter found a shell.", 1)])
        assert isinstance(jade, OutboxCollection)
        assert jade.backlog.waiting == 1
        assert await store.owners() == ["jade"]
