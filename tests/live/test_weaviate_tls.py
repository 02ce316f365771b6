"""TLS, keys and headers before a real Weaviate server: all that is sent is encrypted, and no key is told."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import certifi
import pytest

from simuverse.errors import StoreRefused, StoreUnavailable
from simuverse.memory.records import SearchType
from simuverse.memory.store import SearchRequest
from simuverse.memory.stores.weaviate import WeaviateStore
from simuverse.memory.stores.weaviate_address import Address
from tests.contracts.memory_reference import DIMENSION, entry, vector
from tests.live.test_weaviate_store import PATIENT, prefix_for
from tests.live.tls_proxy import Certificate, certificate, tls_before
from tests.live.weaviate_server import WeaviateServer, settings_with_key

pytestmark = pytest.mark.live

KEY, PASS = "sEcret-root-key", "sEcret-pass"


@pytest.fixture(scope="module")
def locked(weaviate_binary: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WeaviateServer]:
    with WeaviateServer.running(weaviate_binary, tmp_path_factory.mktemp("locked"), settings_with_key(KEY)) as server:
        yield server


@pytest.fixture
def own(tmp_path: Path) -> Certificate:
    return certificate(tmp_path)


@pytest.fixture
def trusted(own: Certificate, monkeypatch: pytest.MonkeyPatch) -> Certificate:
    """As if a public authority had signed it."""
    monkeypatch.delenv("GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", raising=False)
    monkeypatch.setattr(certifi, "where", lambda: str(own.chain))
    return own


async def opened(address: Address, *, prefix: str = "Tls", key: str | None = KEY) -> WeaviateStore:
    return await WeaviateStore.open(
        [address],
        embedder_name="invented",
        dimension=DIMENSION,
        key=key,
        headers={"X-Proxy-Pass": PASS},
        deadline=PATIENT,
        prefix=prefix,
    )


async def test_all_goes_through_tls_on_both_ports_and_no_key_is_told(
    locked: WeaviateServer, trusted: Certificate, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with tls_before(locked.address, trusted) as address:
        store = await opened(address, prefix=prefix_for(tmp_path))
        collection = await store.collection("Jade")
        await collection.add([entry("The bell rang.")])
        request = SearchRequest(search_type=SearchType.HYBRID, terms=("bell",), vector=vector(0))
        assert [hit.memory.summary for hit in await collection.search(request)] == ["The bell rang."]
        assert f"https://127.0.0.1:{address.port}" in store.description
        shown = f"{store.description} {store!r} {vars(store)!r} {collection!r} {vars(collection)!r} {caplog.text}"
        assert "sEcret" not in shown
        assert await store.erase("Jade")
        await store.aclose()


async def test_a_wrong_key_through_tls_is_told_without_it(locked: WeaviateServer, trusted: Certificate) -> None:
    async with tls_before(locked.address, trusted) as address:
        with pytest.raises(StoreRefused, match="doesn't know the key") as caught:
            await opened(address, key="sEcret-wrong-key")
    assert "sEcret" not in str(caught.value)


async def test_a_certificate_that_nobody_vouches_for_is_refused(locked: WeaviateServer, own: Certificate) -> None:
    async with tls_before(locked.address, own) as address:
        with pytest.raises(StoreRefused, match="certificate isn't vouched for"):
            await opened(address)


async def test_tls_asked_of_a_server_without_it_is_told_with_its_cure(locked: WeaviateServer) -> None:
    plain = locked.address
    with pytest.raises(StoreUnavailable, match="doesn't speak TLS there; write http://"):
        await opened(
            Address(host=plain.host, port=plain.port, grpc_host=plain.grpc_host, grpc_port=plain.grpc_port, secure=True)
        )
