"""Parts that fail when told to, around parts that work."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, cast
from uuid import UUID

from simuverse.agents.chat import ChatModel, ChatRequest, Completion
from simuverse.errors import ModelUnavailable, StoreUnavailable
from simuverse.memory.records import Hit
from simuverse.memory.store import Entry, MemoryCollection, SearchRequest
from simuverse.world.simulation import Simulation

MODEL_DOWN = "the model is away for lunch"
STORE_DOWN = "the store is being painted"


class FailingModel:
    """Refuses the calls made for these purposes while :attr:`down`."""

    def __init__(self, model: ChatModel, *purposes: str) -> None:
        self.name = model.name
        self.down = True
        self._model = model
        self._purposes = purposes

    async def complete(self, request: ChatRequest) -> Completion:
        if self.down and request.purpose in self._purposes:
            raise ModelUnavailable(MODEL_DOWN)
        return await self._model.complete(request)

    async def aclose(self) -> None:
        await self._model.aclose()


class FailingCollection:
    """A collection whose methods of these names fail while :attr:`down`."""

    def __init__(self, collection: MemoryCollection, *names: str) -> None:
        self.owner = collection.owner
        self.down = True
        self._collection = collection
        self._names = names

    def __getattr__(self, name: str) -> Any:
        return getattr(self._collection, name)

    async def search(self, request: SearchRequest) -> list[Hit]:
        self._check("search")
        return await self._collection.search(request)

    async def search_all(self, requests: Sequence[SearchRequest]) -> list[list[Hit]]:
        self._check("search")
        return await self._collection.search_all(requests)

    async def touch(self, ids: Sequence[UUID], at: datetime) -> None:
        self._check("touch")
        await self._collection.touch(ids, at)

    async def add(self, entries: Sequence[Entry]) -> None:
        self._check("add")
        await self._collection.add(entries)

    def _check(self, name: str) -> None:
        if self.down and name in self._names:
            raise StoreUnavailable(STORE_DOWN)


def break_models(simulation: Simulation, agent: str, *purposes: str) -> FailingModel:
    """Both minds of ``agent`` are given a model that fails for these purposes."""
    one = simulation.agent(agent)
    failing = FailingModel(one.conscious.model, *purposes)
    one.conscious.model = failing
    if one.subconscious is not None:
        one.subconscious.model = failing
    return failing


def break_store(simulation: Simulation, agent: str, *names: str) -> FailingCollection:
    """The memories of ``agent`` can't be searched, touched or added to."""
    mind = simulation.agent(agent).subconscious
    assert mind is not None
    failing = FailingCollection(mind.collection, *names)
    mind.collection = cast("MemoryCollection", failing)
    return failing
