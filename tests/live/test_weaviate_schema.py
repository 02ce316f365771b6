"""The schema of collections on a real Weaviate server: what isn't as it was made is refused, with what is otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

from simuverse.errors import StoreMismatch
from simuverse.memory.stores import weaviate_schema
from simuverse.memory.stores.weaviate_address import Address, Layout
from tests.live.test_weaviate_layouts import cleared, opened
from tests.live.test_weaviate_store import prefix_for

pytestmark = pytest.mark.live


async def test_a_collection_of_several_shards_is_not_used_in_silence(
    weaviate_address: Address, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prefix = prefix_for(tmp_path)
    async with opened(weaviate_address, prefix, Layout.COLLECTIONS) as store:
        with monkeypatch.context() as patched:
            patched.setattr(weaviate_schema, "SHARDS", 3)
            await store.collection("Jade")
        with pytest.raises(StoreMismatch, match="it has 3 shards, each of which scores words by itself"):
            await store.collection("Jade")
    await cleared(weaviate_address, prefix)
