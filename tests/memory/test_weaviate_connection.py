"""Connecting to a Weaviate server, as far as a played one will do."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from simuverse.errors import MissingExtra, SettingsError, StoreError
from simuverse.memory.stores.weaviate import WeaviateStore
from simuverse.memory.stores.weaviate_address import Address
from tests.fakes.http_server import fake_server, json_answer

ADDRESS = Address(host="127.0.0.1", port=9, grpc_host="127.0.0.1", grpc_port=10)

LOOK_AT_FILTERS = """
import warnings
before = list(warnings.filters)
from simuverse.memory.stores import weaviate_connection
assert "weaviate" not in __import__("sys").modules
weaviate_connection._import_client()
assert "weaviate" in __import__("sys").modules
assert warnings.filters == before
"""


async def test_without_its_client_the_install_line_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "weaviate", None)
    with pytest.raises(MissingExtra, match=r'pip install "simu-verse\[weaviate\]"'):
        await WeaviateStore.open([ADDRESS], embedder_name="invented", dimension=4)


def test_the_client_is_loaded_late_and_leaves_the_warnings_of_the_process_as_they_were() -> None:
    ended = subprocess.run([sys.executable, "-c", LOOK_AT_FILTERS], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.parametrize("key", [None, "sEcret-key"])
async def test_headers_and_key_are_sent_and_the_key_isn_t_told(key: str | None) -> None:
    async with fake_server() as fake:
        fake.script(json_answer({"version": "1.20.0"}))
        with pytest.raises(StoreError) as caught:
            await WeaviateStore.open(
                [Address.parse(f"{fake.address}?grpc_port=10")],
                embedder_name="invented",
                dimension=4,
                key=key,
                headers={"X-Proxy-Pass": "village"},
            )
    assert fake.received
    for request in fake.received:
        assert request.headers["x-proxy-pass"] == "village"
        assert request.headers.get("authorization") == (None if key is None else f"Bearer {key}")
    assert "sEcret" not in str(caught.value)


@pytest.mark.parametrize("key", ["sEcret-a\nsEcret-b", "sEcret-schlüssel"])
async def test_a_key_that_can_t_be_sent_is_refused_before_anything_is_asked(key: str) -> None:
    async with fake_server() as fake:
        with pytest.raises(SettingsError, match="WEAVIATE_API_KEY") as caught:
            await WeaviateStore.open(
                [Address.parse(f"{fake.address}?grpc_port=10")], embedder_name="invented", dimension=4, key=key
            )
    assert fake.received == []
    assert "sEcret" not in str(caught.value)


async def test_key_and_headers_stay_secret_even_if_they_are_repeated() -> None:
    async with fake_server() as fake:
        fake.script(json_answer({"message": "no Bearer sEcret-key, a=sEcret-cookie, X: place 1"}, status=500))
        with pytest.raises(StoreError, match="X: place 1") as caught:
            await WeaviateStore.open(
                [Address.parse(f"{fake.address}?grpc_port=10")],
                embedder_name="invented",
                dimension=4,
                key="sEcret-key",
                headers={"Cookie": "a=sEcret-cookie; b=1", "X-Proxy": "village 1"},
            )
        with pytest.raises(StoreError) as unsendable:
            await WeaviateStore.open(
                [Address.parse(f"{fake.address}?grpc_port=10")],
                embedder_name="invented",
                dimension=4,
                headers={"X-Proxy": "sEcret-a\nsEcret-b"},
            )
    assert "sEcret" not in f"{caught.value} {unsendable.value}"


async def test_headers_and_key_go_to_the_grpc_port_too() -> None:
    seen: list[dict[str, str]] = []
    async with fake_server() as fake, _fake_grpc(seen) as port:
        fake.script(json_answer({"version": "1.39.0"}))
        with pytest.raises(StoreError) as caught:
            await WeaviateStore.open(
                [Address.parse(f"{fake.address}?grpc_port={port}")],
                embedder_name="invented",
                dimension=4,
                key="sEcret-key",
                headers={"X-Proxy-Pass": "sEcret-village"},
            )
    assert seen
    for metadata in seen:
        assert metadata["x-proxy-pass"] == "sEcret-village"
        assert metadata["authorization"] == "Bearer sEcret-key"
    assert "sEcret" not in str(caught.value)


@asynccontextmanager
async def _fake_grpc(seen: list[dict[str, str]]) -> AsyncGenerator[int]:
    """Answers nothing that it is asked, and keeps what was sent along."""
    import grpc  # type: ignore[import-untyped]

    class Handler(grpc.GenericRpcHandler):  # type: ignore[misc]
        def service(self, handler_call_details: grpc.HandlerCallDetails) -> None:
            seen.append({name: str(value) for name, value in handler_call_details.invocation_metadata})

    server = grpc.aio.server()
    server.add_generic_rpc_handlers([Handler()])
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield port
    finally:
        await server.stop(grace=None)


@pytest.mark.parametrize("prefix", ["", "memories", "With space", "With_line", "Ü"])
async def test_a_prefix_that_would_make_names_ambiguous_is_refused(prefix: str) -> None:
    with pytest.raises(ValueError, match="prefix"):
        await WeaviateStore.open([ADDRESS], embedder_name="invented", dimension=4, prefix=prefix)


async def test_a_store_needs_an_address() -> None:
    with pytest.raises(ValueError, match="address"):
        await WeaviateStore.open([], embedder_name="invented", dimension=4)
