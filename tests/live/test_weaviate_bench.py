"""Benches on a real Weaviate server: they measure there what they claim to, and leave nothing."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest

from simuverse.bench.latency import Latency
from tests.commands import Here
from tests.live.weaviate_server import WeaviateServer

pytestmark = pytest.mark.live


@pytest.fixture(scope="module")
def server(weaviate_binary: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WeaviateServer]:
    with WeaviateServer.running(weaviate_binary, tmp_path_factory.mktemp("bench")) as server:
        yield server


def test_a_server_is_measured_beside_a_file_and_beside_its_client_alone(here: Here, server: WeaviateServer) -> None:
    store = f"weaviate:{server.url}"
    ended = here(
        "bench", "latency", "--sizes", "30", "--store", "sqlite", "--store", store, "--embedder", "hashing", "--json"
    )
    assert ended.code == 0, ended.text
    in_file, on_server = msgspec.json.decode(ended.out, type=list[Latency])
    assert in_file.store.startswith("SQLite")
    assert in_file.sizes[0].client is None
    assert on_server.store.startswith("Weaviate")
    client = on_server.sizes[0].client
    assert client is not None
    assert min(client.search_ratio, client.new_ratio) > 0
    assert min(client.single_writes, client.batch_writes, client.single_ratio, client.batch_ratio) > 0
    assert "memories: none" in here("doctor", "--store", store, "--embedder", "hashing").out
