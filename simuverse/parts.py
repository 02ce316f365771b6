"""Names in, parts out: the only module that names concrete backends.

Nothing asked for is ever replaced by something else: what can't be had is an error that names the cure.
"""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Awaitable, Callable, Mapping
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from simuverse.agents.backends.rehearsal import Rehearsal
from simuverse.agents.chat import ChatModel
from simuverse.agents.wrappers import Limited, Retrying
from simuverse.config import Secret, Settings, placed
from simuverse.errors import SettingsError
from simuverse.memory.embedding import Embedder
from simuverse.memory.kept import EmbedderRecord, KeptStore
from simuverse.memory.store import MemoryCollection, MemoryStore

if TYPE_CHECKING:
    from simuverse.memory.stores.weaviate_bare import BareCalls

IN_MEMORY = "memory:"
WEAVIATE = "weaviate:"

OLLAMA_PORT = 11434

PATIENCE = 300.0
"""Seconds that one call may take at least, retries and waiting for its turn included; but for a model in the process,
where a call waits for however many others there are and then has its own time."""

LOCAL_CALLS, REMOTE_CALLS = 2, 8
"""Calls to one provider at once: a model on this machine gains nothing from more; a service takes them."""


# --- models ---------------------------------------------------------------------------------------------------------


async def _ollama(model: str, settings: Settings) -> ChatModel:
    from simuverse.agents.backends.ollama import ADDRESS, OllamaModel

    with placed(settings, "ollama_host"):
        return OllamaModel(model, base_url=_ollama_address(settings) or ADDRESS, timeout=settings.model_timeout)


def _ollama_address(settings: Settings) -> str | None:
    """Ollama's own variable may hold a host alone, or a host and a port."""
    host = settings.ollama_host
    if not host or "://" in host:
        return host
    return f"http://{host}" if ":" in host else f"http://{host}:{OLLAMA_PORT}"


async def _openai(model: str, settings: Settings) -> ChatModel:
    from simuverse.agents.backends.openai import ADDRESS, OpenAIModel

    with placed(settings, "openai_api_key", "openai_base_url"):
        return OpenAIModel(
            model,
            key=_revealed(settings.openai_api_key),
            base_url=settings.openai_base_url or ADDRESS,
            timeout=settings.model_timeout,
        )


async def _anthropic(model: str, settings: Settings) -> ChatModel:
    from simuverse.agents.backends.anthropic import ADDRESS, AnthropicModel

    with placed(settings, "anthropic_api_key", "anthropic_base_url"):
        return AnthropicModel(
            model,
            key=_revealed(settings.anthropic_api_key),
            base_url=settings.anthropic_base_url or ADDRESS,
            timeout=settings.model_timeout,
        )


async def _local(model: str, settings: Settings) -> ChatModel:
    from simuverse.agents.backends.local import LocalModel

    return await LocalModel.open(model, timeout=settings.model_timeout)


_MODELS: Mapping[str, Callable[[str, Settings], Awaitable[ChatModel]]] = {
    "ollama": _ollama,
    "openai": _openai,
    "anthropic": _anthropic,
    "local": _local,
}
_EXAMPLES = "rehearsal, ollama:qwen2.5:14b, anthropic:claude-sonnet-4-5, openai:gpt-4o-mini, local:smollm2"


async def open_model(name: str, settings: Settings) -> ChatModel:
    """The model of that name, with retries and a limit on calls at once.

    Raises:
        SettingsError: no such provider. MissingExtra, MissingKey: of the provider in use.
    """
    if name == Rehearsal.name:
        return Rehearsal()
    provider, _, model = name.partition(":")
    with placed(settings, "model", "subconscious_model", value=name):
        if provider not in _MODELS or not model:
            raise SettingsError(f"{name!r} is not a model. Models are written provider:model, for example {_EXAMPLES}")
        opened = await _MODELS[provider](model, settings)
    calls = settings.model_calls or (LOCAL_CALLS if provider in ("ollama", "local") else REMOTE_CALLS)
    # Inside the retries, so that a call that waits to be tried again takes no one's place.
    return Retrying(
        Limited(opened, asyncio.Semaphore(calls)),
        chance=random.Random(settings.seed),
        total=inf if provider == "local" else max(PATIENCE, 2 * settings.model_timeout),
    )


# --- embedders and stores -------------------------------------------------------------------------------------------


async def open_embedder(name: str, settings: Settings) -> Embedder:
    """One for sentences has the default's table of single words beside it.

    Raises:
        SettingsError: no such embedder. MissingExtra, MissingKey, EmbedderError: it can't be used.
    """
    from simuverse.memory.embedders.wordllama import WordLlamaEmbedder

    if name == WordLlamaEmbedder.name:
        return await WordLlamaEmbedder.open()
    with placed(settings, "embedder", value=name):
        embedder = await _open_named(name, settings)
    if embedder.name == "hashing":
        return embedder
    from simuverse.memory.embedders.with_words import WithWords

    return WithWords(embedder, await WordLlamaEmbedder.open())


def described(embedder: Embedder) -> str:
    """What is really in use, for people."""
    from simuverse.memory.embedders.with_words import WithWords

    words = f"; single words by {embedder.words}" if isinstance(embedder, WithWords) else ""
    return f"{embedder.name}, {embedder.dimension} dimensions{words}"


async def _open_named(name: str, settings: Settings) -> Embedder:
    provider, _, model = name.partition(":")
    match provider, model:
        case "hashing", "":
            from simuverse.memory.embedders.hashing import HashingEmbedder

            return await HashingEmbedder.open()
        case "ollama", model if model:
            from simuverse.memory.embedders.ollama import OllamaEmbedder

            with placed(settings, "ollama_host"):
                return await OllamaEmbedder.open(model, host=_ollama_address(settings))
        case "openai", model if model:
            from simuverse.memory.embedders.openai import OpenAIEmbedder

            with placed(settings, "openai_api_key", "openai_base_url"):
                return await OpenAIEmbedder.open(
                    model, key=_revealed(settings.openai_api_key), base_url=settings.openai_base_url
                )
        case "sentence-transformers", model if model:
            from simuverse.memory.embedders.sentence_transformers import SentenceTransformersEmbedder

            return await SentenceTransformersEmbedder.open(model)
        case _:
            raise SettingsError(
                f"{name!r} is not an embedder. Embedders: wordllama, hashing, sentence-transformers:NAME, "
                "ollama:nomic-embed-text, openai:text-embedding-3-small"
            )


async def open_store(
    name: str, embedder: Embedder, settings: Settings | None = None, *, deadline: float | None = None
) -> MemoryStore:
    """Args:
        settings: hold the key of a store on a server.
        deadline: seconds for a query to a server, where not the usual ones.

    Raises:
        SettingsError: no such kind of store. MissingExtra: its client isn't installed. StoreError: it can't be opened.
    """
    with placed(settings, "store", value=name):
        if is_on_server(name):
            from simuverse.memory.stores.weaviate import WeaviateStore
            from simuverse.memory.stores.weaviate_address import StoreAddress
            from simuverse.memory.stores.weaviate_connection import DEADLINE

            place = StoreAddress.parse(name.removeprefix(WEAVIATE))
            return await WeaviateStore.open(
                place.addresses,
                layout=place.layout,
                replication=place.replication,
                deadline=deadline or DEADLINE,
                embedder_name=embedder.name,
                dimension=embedder.dimension,
                key=_weaviate_key(settings) if settings else None,
                headers=_headers(settings) if settings else None,
            )
        from simuverse.memory.stores.sqlite import SQLiteStore

        return await SQLiteStore.open(store_path(name), embedder_name=embedder.name, dimension=embedder.dimension)


async def open_kept(
    name: str, settings: Settings, *, read_only: bool = False, new: EmbedderRecord | None = None
) -> KeptStore:
    """A store as a whole, whatever embedder made its vectors, which needn't be there.

    Args:
        read_only: of a file: nothing is made or changed.
        new: makes a file that isn't there, for vectors of this embedder.

    Raises:
        SettingsError: no such kind of store, or one in memory. MissingExtra, StoreError: it can't be opened.
    """
    if is_on_server(name):
        from simuverse.memory.stores.weaviate_address import StoreAddress
        from simuverse.memory.stores.weaviate_kept import WeaviateKept

        return await WeaviateKept.open(
            name,
            StoreAddress.parse(name.removeprefix(WEAVIATE)),
            key=_weaviate_key(settings),
            headers=_headers(settings),
            new=new,
        )
    path = store_path(name)
    if path is None:
        raise SettingsError(f"{name} ends with its process, so there is nothing to care for. Name a file or a server")
    from simuverse.memory.stores.sqlite_kept import SQLiteKept

    return await SQLiteKept.open(path, read_only=read_only, new=new)


async def server_details(store: MemoryStore) -> str | None:
    """How memories are kept on a server, for people; None where there is no server."""
    from simuverse.memory.stores.weaviate import WeaviateStore

    return await store.details() if isinstance(store, WeaviateStore) else None


def bare_calls(collection: MemoryCollection) -> BareCalls | None:
    """What a server's client alone would do for this collection; None where there is no server."""
    from simuverse.memory.stores.weaviate import WeaviateCollection

    return collection.bare() if isinstance(collection, WeaviateCollection) else None


def store_path(name: str) -> Path | None:
    """The file of a store's name; None for one in memory.

    Raises:
        SettingsError: no such kind of store.
    """
    kind, _, where = name.partition(":")
    if name == IN_MEMORY:
        return None
    if kind != "sqlite" or not where:
        raise SettingsError(
            f"{shown(name)!r} is not a store. Stores: sqlite:FILE, memory:, {WEAVIATE}http://localhost:8080"
        )
    return Path(where).expanduser()


def shown(name: str) -> str:
    """A store's name, right or wrong, without the parts that a key may have been written into."""
    return re.sub(r".*(?:@|%40)|[?#].*", "...", name, flags=re.DOTALL)


def is_on_server(name: str) -> bool:
    """Whether a store's name is a server's address, or several, rather than a file."""
    return name.startswith(WEAVIATE)


def _weaviate_key(settings: Settings) -> str | None:
    from simuverse.memory.stores.weaviate_address import parse_key

    with placed(settings, "weaviate_api_key"):
        return parse_key(_revealed(settings.weaviate_api_key))


def _headers(settings: Settings) -> Mapping[str, str]:
    from simuverse.memory.stores.weaviate_address import parse_headers

    with placed(settings, "weaviate_headers"):
        return parse_headers(_revealed(settings.weaviate_headers) or "")


def _revealed(secret: Secret | None) -> str | None:
    return None if secret is None else secret.reveal()
