"""Carries memories from a file of lines or a store into another store, so that nothing is lost or there twice.

Looked at before anything is written: whether the vectors fit, and whether what is there already is of the same making.
Interrupted, the same call goes on where it stopped: what is there is passed over.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from simuverse.errors import StoreCorrupt, StoreMismatch, UnknownAgent, UsageError
from simuverse.memory.copying import AT_ONCE, Fingerprints, agreeing, entry_fingerprint, fingerprints
from simuverse.memory.exchange import Contents, read_contents, read_entries
from simuverse.memory.kept import EmbedderRecord, KeptStore, Progress
from simuverse.memory.store import Entry


class Freight(Protocol):
    """What is carried."""

    @property
    def name(self) -> str:
        """Where it is from, for people."""
        ...

    async def contents(self) -> Contents: ...

    def entries(self) -> AsyncIterator[Entry]:
        """All of its memories; one that is there twice has its last form last."""
        ...


class FileFreight:
    """A file of lines, as :mod:`simuverse.memory.exchange` reads it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._contents: Contents | None = None

    @property
    def name(self) -> str:
        return str(self._path)

    async def contents(self) -> Contents:
        """Raises:
        UsageError: a line isn't good; or there is none at all.
        """
        if self._contents is not None:
            return self._contents
        contents = self._contents = read_contents(self._path)
        if not contents.memories and not contents.changes:
            raise UsageError(f"{self._path} holds no memories, so there is nothing to import. Name another file")
        return contents

    async def entries(self) -> AsyncIterator[Entry]:
        for entry in read_entries(self._path):
            yield entry


class StoreFreight:
    """All of a store, or one agent of it."""

    def __init__(self, store: KeptStore, *, agent: str | None = None) -> None:
        self._store = store
        self._agent = agent

    @property
    def name(self) -> str:
        return self._store.name

    async def contents(self) -> Contents:
        """Raises:
        UnknownAgent: there is no such agent.
        """
        embedders = await chosen(self._store, self._agent)
        memories: dict[str, Fingerprints] = {}
        for owner, embedder in embedders.items():
            memories[owner] = await fingerprints(await self._store.collection(owner, embedder))
        return Contents(embedders=embedders, memories=memories, changes=await self._store.audit.lines_of(self._agent))

    async def entries(self) -> AsyncIterator[Entry]:
        for owner, embedder in (await chosen(self._store, self._agent)).items():
            collection = await self._store.collection(owner, embedder)
            async for entry in collection.scan():
                yield entry


async def chosen(store: KeptStore, agent: str | None) -> dict[str, EmbedderRecord]:
    """The embedders of all agents, or of one.

    Raises:
        UnknownAgent: there is no such agent.
    """
    embedders = await store.embedders()
    if agent is None:
        return embedders
    if agent not in embedders:
        raise UnknownAgent(f"there is no agent {agent} in {store.name}. Agents: {', '.join(embedders) or 'none'}")
    return {agent: embedders[agent]}


@dataclass(frozen=True, kw_only=True, slots=True)
class Carried:
    """How much it was.

    Args:
        memories, agents: carried by this call or an earlier one, all verified to be there.
        written: memories that this call wrote; the others were there.
        changes: lines of the record of changes that are new there.
    """

    memories: int
    agents: int
    written: int
    changes: int


async def carry(freight: Freight, target: KeptStore, *, merge: bool, on_progress: Progress) -> Carried:
    """Args:
        merge: also into an agent's memories that hold others; of a memory that is there in another form, the one that
            is carried stays.

    Raises:
        UsageError: the target holds what it doesn't carry, or otherwise, and ``merge`` is not set.
        StoreMismatch: vectors of another embedder.
        StoreCorrupt: afterwards the target doesn't hold all of it.
        StoreError: as the stores raise them.
    """
    contents = await freight.contents()
    there = await _there(freight, contents, target)
    if not merge:
        _refuse_others(freight, contents.memories, there, target)
    for owner, embedder in contents.embedders.items():
        await target.collection(owner, embedder)
    total = sum(map(len, contents.memories.values()))
    written = seen = 0
    waiting: dict[str, list[Entry]] = {}

    async def write(owner: str) -> None:
        collection = await target.collection(owner, contents.embedders[owner])
        await collection.add(waiting.pop(owner))

    async for entry in freight.entries():
        owner = entry.memory.owner
        seen += 1
        wanted = contents.memories[owner].get(entry.memory.id)
        # Not an earlier form of what stands there again later on.
        if wanted == entry_fingerprint(entry) != there[owner].get(entry.memory.id):
            waiting.setdefault(owner, []).append(entry)
            written += 1
        if len(waiting.get(owner, ())) == AT_ONCE:
            await write(owner)
        on_progress(owner, min(seen, total), total)
    for owner in list(waiting):
        await write(owner)
    await _verify(freight, contents, target)
    changes = 0
    if contents.changes:
        async with target.audit.held():
            changes = await target.audit.carry(contents.changes)
    return Carried(memories=total, agents=len(contents.memories), written=written, changes=changes)


async def _there(freight: Freight, contents: Contents, target: KeptStore) -> dict[str, Fingerprints]:
    """What the target holds of the owners that are carried.

    Raises:
        StoreMismatch: vectors of another embedder.
    """
    known = await target.embedders()
    for owner, embedder in contents.embedders.items():
        held = target.one_embedder or known.get(owner)
        if held is not None and held != embedder:
            raise StoreMismatch(
                f"{owner}'s vectors in {freight.name} are of the embedder {embedder}, and {target.name} holds those of "
                f"{held}. Carry them into a store of their own, then compute them anew there: "
                f"simuverse store reembed STORE --embedder {held.name}"
            )
    return {
        owner: await fingerprints(await target.collection(owner, embedder)) if owner in known else {}
        for owner, embedder in contents.embedders.items()
    }


def _refuse_others(
    freight: Freight, ours: Mapping[str, Fingerprints], there: Mapping[str, Fingerprints], target: KeptStore
) -> None:
    for owner, theirs in there.items():
        others = len(theirs.keys() - ours.get(owner, {}).keys())
        changed = len(theirs) - others - agreeing(ours.get(owner, {}), theirs)
        if others or changed:
            raise UsageError(
                f"{target.name} holds {others} memories of {owner} that {freight.name} doesn't, and {changed} in "
                "another form. Name an empty place, or add to it with --merge: what is carried then stands in place of "
                "what has the same id. Nothing was written"
            )


async def _verify(freight: Freight, contents: Contents, target: KeptStore) -> None:
    for owner, ours in contents.memories.items():
        written = await fingerprints(await target.collection(owner, contents.embedders[owner]))
        right = agreeing(written, ours)
        if right != len(ours):
            raise StoreCorrupt(
                f"{target.name} holds {right} of {owner}'s {len(ours)} memories as they are in {freight.name}. End "
                "what else writes to either, and start again: nothing doubles"
            )
