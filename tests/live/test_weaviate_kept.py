"""Memories on a real Weaviate server as a whole, in both layouts."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import ClassVar

import pytest

from simuverse.memory.kept import EmbedderRecord, KeptStore
from simuverse.memory.stores.weaviate_address import Address, Layout, StoreAddress
from simuverse.memory.stores.weaviate_kept import WeaviateKept
from tests.contracts.kept_store import KeptStoreContract
from tests.live.test_weaviate_store import prefix_for
from tests.live.weaviate_server import own_client

pytestmark = pytest.mark.live


class TestCollections(KeptStoreContract):
    layout: ClassVar[Layout | None] = None

    @pytest.fixture(autouse=True)
    async def emptied(self, weaviate_address: Address) -> AsyncIterator[None]:
        """All on one server; each place is a prefix of its own, and leaves nothing there."""
        self.address = weaviate_address
        self.prefixes: set[str] = set()
        yield
        ours = tuple(self.prefixes)
        async with own_client(self.address) as client:
            for name in await client.collections.list_all():
                if name.startswith(ours):
                    await client.collections.delete(name)
            for name in await client.alias.list_all():
                if name.startswith(ours):
                    await client.alias.delete(alias_name=name)

    @asynccontextmanager
    async def open_kept(self, place: Path, *, new: EmbedderRecord | None = None) -> AsyncGenerator[KeptStore]:
        self.prefixes.add(prefix_for(place))
        where = StoreAddress(addresses=(self.address,), layout=self.layout)
        store = await WeaviateKept.open("weaviate:here", where, new=new, prefix=prefix_for(place))
        try:
            yield store
        finally:
            await store.aclose()


class TestTenants(TestCollections):
    layout = Layout.TENANTS
