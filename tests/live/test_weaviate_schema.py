"""The schema of collections on a real Weaviate server: what isn't as it was made is refused, with its cure."""

from __future__ import annotations

from pathlib import Path

import pytest

from simuverse.errors import StoreMismatch
from simuverse.memory.reembedding import renew
from simuverse.memory.stores import weaviate_schema
from simuverse.memory.stores.weaviate_address import Address, Layout, StoreAddress
from simuverse.memory.stores.weaviate_kept import WeaviateKept
from tests.contracts.kept_store import MADE_BY, fill, nothing
from tests.live.test_weaviate_layouts import cleared, opened
from tests.live.test_weaviate_store import prefix_for
from tests.live.weaviate_server import own_client

pytestmark = pytest.mark.live


async def test_a_collection_of_several_shards_is_refused_and_can_be_made_anew(
    weaviate_address: Address, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prefix, place = prefix_for(tmp_path), StoreAddress(addresses=(weaviate_address,))
    kept = await WeaviateKept.open("weaviate:here", place, new=MADE_BY, prefix=prefix)
    with monkeypatch.context() as patched:
        patched.setattr(weaviate_schema, "SHARDS", 3)
        await fill(kept)
    refusal = "has 3 shards, each of which scores words by itself.*store rebuild weaviate:"
    async with opened(weaviate_address, prefix, Layout.COLLECTIONS, embedder=MADE_BY.name) as store:
        with pytest.raises(StoreMismatch, match=refusal):
            await store.collection("Jade")
    before = [one async for one in (await kept.collection("Jade", MADE_BY)).scan()]
    assert all(fault.endswith("has 3 shards, each of which scores words by itself") for fault in await kept.damage())
    assert await kept.damage()
    async with kept.renewal(None) as renewal:
        await renew(renewal, embedder=None, on_progress=nothing)
    await kept.aclose()
    async with opened(weaviate_address, prefix, Layout.COLLECTIONS, embedder=MADE_BY.name) as store:
        after = [one async for one in (await store.collection("Jade")).scan()]
    assert [one.memory for one in after] == [one.memory for one in before]
    async with own_client(weaviate_address) as client:
        await client.alias.delete(alias_name=f"{prefix}___live")
    await cleared(weaviate_address, prefix)
