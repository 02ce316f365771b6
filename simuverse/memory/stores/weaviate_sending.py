"""Sends memories so that what a server has acknowledged is whole on its disk, whenever it may be killed.

Four habits of servers and of their client stand against that (1.39 and 4.24):

- A batch's objects and words are on disk before the server answers, its vectors only with the next change: so batches
  are followed by one. An object that is sent by itself is on disk with all that belongs to it.
- A server that was killed in the middle of a change may hold an object without its words or its vector. When that is
  sent again as it is there, the server takes it as unchanged and mends nothing: so whatever may be there in part is
  sent with another vector, of the same direction and twice the length. Then all of it is written anew.
- Where the vector stays, a text that is sent again as it is may be taken out of the index and put back, as the server
  compares its words in no fixed order: so any change at all may cost an object its words when the server is killed.
- When the server doesn't answer, the client sends a batch or a deletion again by itself, after a second or more, and
  keeps silent about it. So where either took that long, or more than one attempt of ours, the server that answered may
  be another than the one that had the batch, or part of it, or those before it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast
from uuid import UUID

from simuverse.errors import StoreUnavailable
from simuverse.memory.stores.weaviate_connection import Connection, Work
from simuverse.memory.stores.weaviate_errors import AlreadyThere, batch_error
from simuverse.memory.stores.weaviate_objects import Stored, ids_filter
from simuverse.memory.stores.weaviate_partition import Partition

if TYPE_CHECKING:
    from weaviate import WeaviateAsyncClient
    from weaviate.collections.classes.data import DataObject
    from weaviate.collections.classes.types import WeaviateField

T = TypeVar("T")

AT_ONCE = 125
"""Objects in one batch: few enough that one takes far less than :data:`CLIENT_PAUSE`, also on a busy machine."""

BATCHES = 4
"""Batches that are followed by one deletion: few enough that what a lost server costs is soon written anew."""

UNDER_WAY = 2
"""Of those at once: while the server takes one, the client makes the next one ready."""

LEAST = 10
"""Objects for which a batch of their own is worth it, so that there is a next one."""

CLIENT_PAUSE = 1.0
"""Seconds that the client waits, at least, before it sends a batch again by itself."""

ATTEMPTS = 3

_ERASED_AT_ONCE = 500
_NOBODY = UUID(int=0)
"""An id that no memory has."""


class _Attempts(Generic[T]):
    """Work that counts how often it is tried."""

    def __init__(self, work: Work[T]) -> None:
        self._work = work
        self.count = 0

    async def __call__(self, client: WeaviateAsyncClient) -> T:
        self.count += 1
        return await self._work(client)


class _Timed(_Attempts[T]):
    """The same for calls that the client repeats by itself."""

    def __init__(self, work: Work[T]) -> None:
        super().__init__(work)
        self._began = asyncio.get_running_loop().time()

    @property
    def sure(self) -> bool:
        """Whether it was made once until now."""
        return self.count == 1 and asyncio.get_running_loop().time() - self._began < CLIENT_PAUSE


class Sender:
    """To one collection."""

    def __init__(self, connection: Connection, partition: Partition) -> None:
        self._connection = connection
        self._partition = partition

    async def insert(self, one: Stored) -> bool:
        """One memory in one call; False if it is there already, in part perhaps.

        Raises:
            StoreError: it wasn't stored, or nobody knows.
        """
        whole = one.as_object()

        async def insert(client: WeaviateAsyncClient) -> None:
            await self._partition.on(client).data.insert(given(whole), uuid=one.entry.memory.id, vector=whole.vector)

        attempt = _Attempts(insert)
        try:
            await self._connection.write(attempt)
        except AlreadyThere:
            return False
        return attempt.count == 1

    async def send(
        self, changed: Sequence[Stored], *, vectors_change: bool, looked_for: Collection[UUID] = frozenset()
    ) -> None:
        """New ones and others alike. What may be there in part has to be told apart from that by the caller.

        Args:
            vectors_change: of any of them.
            looked_for: those that a filter has to find afterwards, and that are written anew where none does: they may
                have been there without an index that knew of them. Their vectors change.

        Raises:
            StoreError: some of it wasn't stored; the message names which. Doing it again is harmless.
        """
        for start in range(0, len(changed), BATCHES * AT_ONCE):
            some = changed[start : start + BATCHES * AT_ONCE]
            await self._send_whole(some, vectors_change=vectors_change, looked_for=looked_for, written=start)

    async def erase(self, ids: Collection[UUID], *, hidden: Collection[UUID] = ()) -> None:
        """Args:
            hidden: those that no filter finds.

        Raises:
            StoreError: some may be there still.
        """
        wanted, by_place = list(ids), list(hidden)
        for start in range(0, len(wanted), _ERASED_AT_ONCE):
            gone = wanted[start : start + _ERASED_AT_ONCE]
            attempt = _Timed(partial(self._delete, ids=gone, dry_run=False))
            await self._connection.write(attempt)
            if not attempt.sure:
                by_place += gone
        for one in by_place:

            async def erase(client: WeaviateAsyncClient, one: UUID = one) -> bool:
                return await self._partition.on(client).data.delete_by_id(one)

            await self._connection.write(erase)

    async def _send_whole(
        self, objects: Sequence[Stored], *, vectors_change: bool, looked_for: Collection[UUID], written: int
    ) -> None:
        """As many as one deletion comes after."""
        unfound = [one.entry.memory.id for one in objects if one.entry.memory.id in looked_for]
        sure = False
        for _ in range(ATTEMPTS):
            there, told_apart = await self._send(objects, written=written)
            if not (told_apart or vectors_change):
                return
            sure, found = await self._settled(unfound, sent=objects[0].entry.memory.id)
            unfound = [one for one in unfound if one not in found]
            if sure and not unfound:
                return
            # Where it isn't sure, the server that took them, or a node, may have been lost since.
            objects = [one.told_apart() for one in there if not sure or one.entry.memory.id in unfound]
            vectors_change = True
        raise self._never_sure() if not sure else self._never_found(len(unfound))

    async def _settled(self, unfound: Sequence[UUID], *, sent: UUID) -> tuple[bool, set[UUID]]:
        """Whether the deletion was made once, and which of these a filter finds.

        Args:
            sent: one of those before the deletion.
        """
        # Of several nodes, a deletion counts what any of them finds, a search what the one finds that is asked.
        counted = unfound if self._partition.replicas == 1 else ()
        # Of a deletion that finds nothing the server doesn't tell whether it failed.
        attempt = _Timed(partial(self.settle, looked_for=counted or [sent]))
        # Both are waited for in any case, as a task must not outlast its caller.
        count, found = await asyncio.gather(
            self._connection.write(attempt), self._found(() if counted else unfound), return_exceptions=True
        )
        if isinstance(count, BaseException):
            raise count
        if not attempt.sure:
            # What was found of a server that may be lost by now tells nothing.
            return False, set()
        if isinstance(found, BaseException):
            raise found
        if not counted:
            return True, found
        return True, {*counted} if count == len(counted) else await self._found(counted)

    async def _found(self, ids: Sequence[UUID]) -> set[UUID]:
        if not ids:
            return set()

        async def ask(client: WeaviateAsyncClient) -> set[UUID]:
            answer = await self._partition.on(client).query.fetch_objects(
                filters=ids_filter(ids), limit=len(ids), return_properties=False
            )
            return {UUID(int=one.uuid.int) for one in answer.objects}

        return await self._connection.query(ask)

    async def _send(self, objects: Sequence[Stored], *, written: int) -> tuple[list[Stored], bool]:
        """As they were sent at last, and whether any had to be told apart for that."""
        there = {one.entry.memory.id: one for one in objects}
        failed: dict[UUID, str] = {}
        remaining = objects
        for number in range(2):
            failed, sure = await self._send_batches(remaining)
            if sure and not failed:
                return [*there.values()], number > 0
            # Where one isn't sure, the server may have been lost after it had acknowledged another.
            remaining = [one.told_apart() for one in remaining if not sure or one.entry.memory.id in failed]
            there |= {one.entry.memory.id: one for one in remaining}
        if failed:
            raise batch_error(self._connection.address, failed, written=written + len(objects) - len(failed))
        for one in remaining:
            there[one.entry.memory.id] = await self._replace(one)
        return [*there.values()], True

    async def _send_batches(self, objects: Sequence[Stored]) -> tuple[dict[UUID, str], bool]:
        """Id to message of those that weren't stored, and whether all was made once.

        Raises:
            StoreError: some of it wasn't stored, or nobody knows.
        """
        count = max(ceil(len(objects) / AT_ONCE), min(UNDER_WAY, len(objects) // LEAST))
        size = ceil(len(objects) / count)
        waiting = iter([objects[start : start + size] for start in range(0, len(objects), size)])
        failed: dict[UUID, str] = {}
        sure = True

        async def one_after_another() -> None:
            nonlocal sure
            for some in waiting:
                attempt = _Timed(partial(self._batch, objects=[one.as_object() for one in some]))
                failed.update(await self._connection.write(attempt))
                sure &= attempt.sure

        outcomes = await asyncio.gather(*(one_after_another() for _ in range(UNDER_WAY)), return_exceptions=True)
        for outcome in outcomes:
            if outcome is not None:
                raise outcome
        return failed, sure

    async def _replace(self, one: Stored) -> Stored:
        """By itself, which the client never does twice; as it was sent at last."""
        for _ in range(ATTEMPTS):
            whole = one.as_object()

            async def replace(client: WeaviateAsyncClient, id: UUID, whole: DataObject[Any, None]) -> None:
                await self._partition.on(client).data.replace(id, given(whole), vector=whole.vector)

            attempt = _Attempts(partial(replace, id=one.entry.memory.id, whole=whole))
            await self._connection.write(attempt)
            if attempt.count == 1:
                return one
            one = one.told_apart()
        raise self._never_sure()

    async def _batch(self, client: WeaviateAsyncClient, objects: Sequence[DataObject[Any, None]]) -> dict[UUID, str]:
        """Id to message of those that weren't stored."""
        from weaviate.exceptions import WeaviateInsertManyAllFailedError

        try:
            outcome = await self._partition.on(client).data.insert_many(objects)
        except WeaviateInsertManyAllFailedError as error:
            return {UUID(str(one.uuid)): str(error) for one in objects}
        return {UUID(str(objects[number].uuid)): error.message for number, error in outcome.errors.items()}

    async def settle(self, client: WeaviateAsyncClient, *, looked_for: Sequence[UUID] = ()) -> int:
        """Has the vectors of the batches before it written to disk: a deletion that deletes nothing is a change.

        Returns:
            How many of ``looked_for`` a filter finds.
        """
        return await self._delete(client, ids=looked_for or [_NOBODY], dry_run=True)

    async def _delete(self, client: WeaviateAsyncClient, *, ids: Sequence[UUID], dry_run: bool) -> int:
        """How many of them a filter finds.

        Raises:
            StoreUnavailable: the server couldn't write to its disk.
        """
        outcome = await self._partition.on(client).data.delete_many(ids_filter(ids), dry_run=dry_run)
        if outcome.failed:
            raise StoreUnavailable(
                f"{self._connection.description} couldn't write all of a change to its disk, and its log says why; it "
                "may take no writes by now. Making the change again is harmless."
            )
        return outcome.matches

    def _never_sure(self) -> StoreUnavailable:
        return StoreUnavailable(
            f"Weaviate at {self._connection.address.url}: its nodes change too often to be sure that memories are on "
            "their disks; see why, then try again."
        )

    def _never_found(self, count: int) -> StoreUnavailable:
        return StoreUnavailable(
            f"{self._connection.description} took {count} memories and doesn't find them; look into its log."
        )


def given(whole: DataObject[Any, None]) -> dict[str, WeaviateField]:
    """Its properties, without those that are empty, which a batch leaves out by itself."""
    properties = cast("dict[str, WeaviateField]", whole.properties)
    return {name: value for name, value in properties.items() if value is not None}
