"""Two ways to keep owners apart on a real server: which one is used, and that nothing is left of who is erased."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from simuverse.errors import SettingsError, StoreMismatch, StoreRefused, StoreUnavailable
from simuverse.memory.records import SearchType
from simuverse.memory.store import SearchRequest
from simuverse.memory.stores.weaviate import WeaviateStore
from simuverse.memory.stores.weaviate_address import Address, Layout
from simuverse.memory.stores.weaviate_connection import Connection
from simuverse.memory.stores.weaviate_names import LONG_NAMES, collection_name, tenant_name
from tests.commands import Here
from tests.contracts.memory_reference import DIMENSION, entry, vector
from tests.contracts.memory_store import EMBEDDER
from tests.live.test_weaviate_erasing import lost_after
from tests.live.test_weaviate_store import PATIENT, prefix_for
from tests.live.weaviate_server import WeaviateServer, own_client

pytestmark = pytest.mark.live

BOTH = pytest.mark.parametrize("layout", Layout)


@asynccontextmanager
async def opened(
    address: Address, prefix: str, layout: Layout | None, *, replication: int | None = None, embedder: str = EMBEDDER
) -> AsyncGenerator[WeaviateStore]:
    store = await WeaviateStore.open(
        [address],
        embedder_name=embedder,
        dimension=DIMENSION,
        deadline=PATIENT,
        prefix=prefix,
        layout=layout,
        replication=replication,
    )
    try:
        yield store
    finally:
        await store.aclose()


async def cleared(address: Address, prefix: str) -> None:
    async with own_client(address) as client:
        for name in await client.collections.list_all(simple=True):
            if name.startswith(prefix):
                await client.collections.delete(name)


async def test_what_is_there_is_recognised_and_a_new_server_gets_collections(
    weaviate_address: Address, tmp_path: Path
) -> None:
    prefix = prefix_for(tmp_path)
    async with own_client(weaviate_address) as client:
        for layout, name in (
            (None, collection_name("Jade", prefix=prefix)),
            (Layout.TENANTS, prefix),
        ):
            async with opened(weaviate_address, prefix, layout) as store:
                await (await store.collection("Jade")).add([entry("The bell rang.")])
            assert await client.collections.exists(name)
            async with opened(weaviate_address, prefix, None) as store:
                assert await store.owners() == ["Jade"]
                assert await (await store.collection("Jade")).count() == 1
            await cleared(weaviate_address, prefix)


@BOTH
async def test_the_other_layout_is_refused_rather_than_found_empty(
    weaviate_address: Address, tmp_path: Path, layout: Layout
) -> None:
    prefix = prefix_for(tmp_path)
    (other,) = set(Layout) - {layout}
    async with opened(weaviate_address, prefix, layout) as store:
        await store.collection("Jade")
    with pytest.raises(StoreMismatch, match=f"leave layout={other} out"):
        async with opened(weaviate_address, prefix, other):
            pass
    await cleared(weaviate_address, prefix)


async def test_an_emptied_layout_is_in_nobody_s_way(weaviate_address: Address, tmp_path: Path) -> None:
    prefix = prefix_for(tmp_path)
    async with opened(weaviate_address, prefix, Layout.TENANTS) as store:
        await store.collection("Jade")
        await store.erase("Jade")
    async with opened(weaviate_address, prefix, Layout.COLLECTIONS) as store:
        await store.collection("Jade")
    async with opened(weaviate_address, prefix, None) as store:
        assert await store.owners() == ["Jade"]
    with pytest.raises(StoreMismatch, match="leave layout=tenants out"):
        async with opened(weaviate_address, prefix, Layout.TENANTS):
            pass
    await cleared(weaviate_address, prefix)


async def test_a_store_that_was_opened_before_there_were_tenants_makes_no_collection_beside_them(
    weaviate_address: Address, tmp_path: Path
) -> None:
    prefix = prefix_for(tmp_path)
    async with opened(weaviate_address, prefix, None) as early:
        async with opened(weaviate_address, prefix, Layout.TENANTS) as store:
            await store.collection("Jade")
        with pytest.raises(StoreMismatch, match="open it again"):
            await early.collection("Jade")
    await cleared(weaviate_address, prefix)


async def test_an_erased_owner_s_tenant_is_gone_and_so_is_a_long_name(
    weaviate_address: Address, tmp_path: Path
) -> None:
    prefix, long = prefix_for(tmp_path), "x" * 200
    async with opened(weaviate_address, prefix, Layout.TENANTS) as store, own_client(weaviate_address) as client:
        tenants = client.collections.use(prefix).tenants
        for owner in ("Jade", "jade", long):
            await (await store.collection(owner)).add([entry("The bell rang.", owner=owner)])
        assert set(await tenants.get()) == {"_Jade", "jade", tenant_name(long), LONG_NAMES}
        assert await store.erase("Jade")
        assert await store.erase(long)
        assert not await store.erase("Jade")
        assert set(await tenants.get()) == {"jade", LONG_NAMES}
        names = client.collections.use(prefix).with_tenant(LONG_NAMES)
        assert (await names.query.fetch_objects()).objects == []
        assert await store.owners() == ["jade"]
        assert await (await store.collection("jade")).count() == 1
    await cleared(weaviate_address, prefix)


async def test_an_erasure_of_a_long_name_that_breaks_off_at_any_step_is_made_again(
    weaviate_address: Address, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prefix, long = prefix_for(tmp_path), "x" * 200
    left: list[tuple[bool, bool]] = []
    broke_off = True
    async with opened(weaviate_address, prefix, Layout.TENANTS) as store, own_client(weaviate_address) as client:
        tenants = client.collections.use(prefix).tenants
        names = client.collections.use(prefix).with_tenant(LONG_NAMES)
        while broke_off:
            await (await store.collection(long)).add([entry("The bell rang.", owner=long)])
            assert await store.owners() == [long]
            with monkeypatch.context() as patched:
                patched.setattr(Connection, "write", lost_after(len(left) + 1))
                try:
                    assert await store.erase(long)
                    broke_off = False
                except StoreUnavailable:
                    pass
            named = bool((await names.query.fetch_objects()).objects)
            left.append((await tenants.exists(tenant_name(long)), named))
            assert await store.owners() == [long] * named
            assert await store.erase(long) is named
            assert await store.owners() == []
            assert set(await tenants.get()) == {LONG_NAMES}
            assert (await names.query.fetch_objects()).objects == []
    assert left == [(False, True), (False, False), (False, False)]
    await cleared(weaviate_address, prefix)


async def test_an_inactive_tenant_is_told_with_its_cure(weaviate_address: Address, tmp_path: Path) -> None:
    prefix, long = prefix_for(tmp_path), "x" * 200
    inactive = "someone set this tenant inactive; set it ACTIVE again"
    async with opened(weaviate_address, prefix, Layout.TENANTS) as store, own_client(weaviate_address) as client:
        collection = await store.collection("Jade")
        await collection.add([entry("The bell rang.")])
        await store.collection(long)
        tenants = client.collections.use(prefix).tenants
        for name in await tenants.get():
            await tenants.deactivate(name)
        for ask in (
            lambda: collection.recent(3),
            collection.count,
            lambda: collection.search(SearchRequest(search_type=SearchType.SEMANTIC, vector=vector(0), limit=1)),
            lambda: collection.add([entry("One more.", 1)]),
            lambda: collection.add([entry(f"Bell {number} rang.", number) for number in range(20)]),
            lambda: collection.erase([entry("The bell rang.").memory.id]),
            store.owners,
            lambda: store.erase(long),
        ):
            with pytest.raises(StoreRefused, match=inactive):
                await ask()
        async with httpx.AsyncClient(base_url=weaviate_address.url) as rest:
            active = [{"name": name, "activityStatus": "ACTIVE"} for name in await tenants.get()]
            (await rest.put(f"/v1/schema/{prefix}/tenants", json=active)).raise_for_status()
        await collection.add([entry("One more.", 1)])
        assert await collection.count() == 2
        assert await store.owners() == ["Jade", long]
    await cleared(weaviate_address, prefix)


async def test_a_collection_in_the_place_of_the_tenants_is_left_alone(
    weaviate_address: Address, tmp_path: Path
) -> None:
    prefix = prefix_for(tmp_path)
    async with own_client(weaviate_address) as client:
        await client.collections.create(prefix, description="Holiday photos")
        async with opened(weaviate_address, prefix, Layout.TENANTS) as store:
            with pytest.raises(StoreMismatch, match="made by something else"):
                await store.collection("Jade")
        assert await client.collections.exists(prefix)
    await cleared(weaviate_address, prefix)


@BOTH
async def test_more_copies_than_nodes_are_refused_with_the_cure(
    weaviate_address: Address, tmp_path: Path, layout: Layout
) -> None:
    async with opened(weaviate_address, prefix_for(tmp_path), layout, replication=9) as store:
        with pytest.raises(StoreRefused, match="fewer nodes than replication= asks for"):
            await store.collection("Jade")
        assert await store.owners() == []


def test_a_run_on_tenants_goes_as_on_collections(here: Here, weaviate_binary: str, tmp_path: Path) -> None:
    told: list[list[str]] = []
    kept = {
        Layout.COLLECTIONS: "layout collections, 4 collections",
        Layout.TENANTS: "layout tenants, 1 collection, 4 tenants",
    }
    for layout in Layout:
        folder = tmp_path / f"server of {layout}"
        folder.mkdir()
        with WeaviateServer.running(weaviate_binary, folder) as server:
            store = f"weaviate:{server.url}&layout={layout}"
            ran = here("run", "--ticks", "8", "--out", layout, "--store", store, "--embedder", "hashing")
            assert ran.code == 0, ran.text
            told.append([line for line in ran.out.splitlines() if "recalled" in line])
            seen = here("memories", layout, "list", "--agent", "Jade")
            assert "lab_door" in seen.out
            examined = here("doctor", "--store", f"weaviate:{server.url}", "--embedder", "hashing")
            assert f"{kept[layout]}, replication 1, recorded embedder hashing (256 numbers)" in examined.out
    assert told[0] == told[1] != []


def test_a_layout_that_isn_t_one_ends_the_command(here: Here) -> None:
    ended = here("run", "--store", "weaviate:http://localhost?layout=rooms", "--embedder", "hashing")
    assert ended.code == SettingsError.exit_code
    assert "it takes collections or tenants" in ended.err
