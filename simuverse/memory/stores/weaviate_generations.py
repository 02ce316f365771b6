"""Which generation of its collections a store on a Weaviate server uses, when all of them are made anew beside the old.

A generation is all collections of one prefix: ``Memories_…`` is the first, ``MemoriesV2_…`` the second. An alias of the
server, ``Memories___live``, points to the marker of the one in use, an empty collection named ``MemoriesV2___marker``.
So one call of the server moves all owners from one generation to the next, or none. Without an alias the first is used.
An alias couldn't bear the name of a collection itself, as the server takes none of a collection that is there, and the
old generation is to stay.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from simuverse.errors import StoreMismatch
from simuverse.memory.stores.weaviate_connection import Connection
from simuverse.memory.stores.weaviate_schema import PROGRAM

if TYPE_CHECKING:
    from weaviate import WeaviateAsyncClient

# No owner's name begins so: after the prefix comes one underscore, and two more only before a hash.
_ALIAS, _MARKER = "___live", "___marker"
_ALREADY_THERE = 422


class _Ours(msgspec.Struct):
    """What every description of ours says."""

    program: str


async def live_prefix(connection: Connection, prefix: str) -> str:
    """Of the generation in use: ``prefix`` itself for the first.

    Raises:
        StoreMismatch: the alias points to something else.
    """
    # The server follows the alias for whoever may read the collections. Asked for the alias itself, it would tell a key
    # without a right to aliases that there is none.
    marker = await connection.query(lambda client: _followed(client, prefix + _ALIAS))
    marker = marker or await connection.query(lambda client: _pointed_to(client, prefix + _ALIAS))
    if marker is None:
        return prefix
    live = marker.removesuffix(_MARKER)
    if live == marker or _number(live, prefix) is None:
        raise StoreMismatch(
            f"The alias {prefix}{_ALIAS} at {connection.address.url} points to {marker}, which is no generation of "
            "Simu-Verse's; point it to the marker of one, or delete it to use the first."
        )
    return live


class Generations:
    """Those of one prefix on one server."""

    def __init__(self, connection: Connection, prefix: str) -> None:
        self._connection = connection
        self._prefix = prefix

    async def require_aliases(self) -> None:
        """Raises:
        StoreMismatch: the server knows none yet.
        """
        from weaviate.exceptions import WeaviateUnsupportedFeatureError

        async def ask(client: WeaviateAsyncClient) -> bool:
            try:
                await client.alias.exists(alias_name=self._prefix + _ALIAS)
            except WeaviateUnsupportedFeatureError:
                return False
            return True

        if not await self._connection.query(ask):
            raise StoreMismatch(
                f"{self._connection.description} has no aliases, by which a new version takes the place of the old: "
                "upgrade it to 1.32 or newer."
            )

    async def live(self) -> str:
        """The prefix in use."""
        return await live_prefix(self._connection, self._prefix)

    async def others(self) -> list[str]:
        """Prefixes of all that isn't in use, oldest first: older ones that are kept, newer ones that are unfinished."""
        live = await self.live()
        prefixes = {name.partition("_")[0] for name in await self._names()}
        numbers = {prefix: _number(prefix, self._prefix) for prefix in prefixes if prefix != live}
        return sorted((one for one, number in numbers.items() if number), key=lambda one: numbers[one] or 0)

    async def older(self) -> list[str]:
        """Kept from before the one in use."""
        live = self.number(await self.live())
        return [one for one in await self.others() if self.number(one) < live]

    async def newer(self) -> list[str]:
        """Begun, and never used."""
        live = self.number(await self.live())
        return [one for one in await self.others() if self.number(one) > live]

    def number(self, prefix: str) -> int:
        """1 for the first."""
        return _number(prefix, self._prefix) or 1

    def after(self, prefix: str) -> str:
        """The prefix of the generation that follows on this one."""
        return f"{self._prefix}V{self.number(prefix) + 1}"

    async def switch(self, to: str) -> None:
        """From here on whoever opens the store uses that one: in one step of the server."""
        marker, alias = to + _MARKER, self._prefix + _ALIAS

        async def make(client: WeaviateAsyncClient) -> None:
            from weaviate.exceptions import UnexpectedStatusCodeError

            try:
                await client.collections.create(marker, description=msgspec.json.encode(_Ours(PROGRAM)).decode())
            except UnexpectedStatusCodeError as error:
                if error.status_code != _ALREADY_THERE:
                    raise

        async def point(client: WeaviateAsyncClient) -> None:
            if not await client.alias.update(alias_name=alias, new_target_collection=marker):
                await client.alias.create(alias_name=alias, target_collection=marker)

        await self._connection.write(make)
        await self._connection.write(point)

    async def drop(self, prefix: str) -> int:
        """Deletes a generation that isn't in use; returns of how many collections it was."""
        if prefix == await self.live():
            raise ValueError(f"generation {prefix} is in use")
        names = [name for name in await self._names() if name.partition("_")[0] == prefix]
        for name in names:

            async def delete(client: WeaviateAsyncClient, name: str = name) -> None:
                await client.collections.delete(name)

            await self._connection.write(delete)
        return len(names)

    async def _names(self) -> list[str]:
        """Of all collections that are ours, whatever their prefix."""
        found = await self._connection.query(lambda client: client.collections.list_all(simple=True))
        return [name for name, config in found.items() if _is_ours(config.description)]


async def _followed(client: WeaviateAsyncClient, alias: str) -> str | None:
    """The name of the collection that is found under an alias."""
    from weaviate.exceptions import UnexpectedStatusCodeError

    try:
        return (await client.collections.use(alias).config.get(simple=True)).name
    except UnexpectedStatusCodeError as error:
        if error.status_code == 404:
            return None
        raise


async def _pointed_to(client: WeaviateAsyncClient, alias: str) -> str | None:
    """The name that an alias points to, whether such a collection is there or not."""
    from weaviate.exceptions import WeaviateUnsupportedFeatureError

    try:
        found = await client.alias.get(alias_name=alias)
    except WeaviateUnsupportedFeatureError:
        # Before 1.32 there are no aliases, and so no second generation.
        return None
    return None if found is None else found.collection


def _number(prefix: str, first: str) -> int | None:
    """1 for ``Memories``, 2 for ``MemoriesV2``; None for a prefix of something else."""
    if prefix == first:
        return 1
    found = re.fullmatch(rf"{first}V([1-9][0-9]*)", prefix)
    return int(found[1]) if found and int(found[1]) > 1 else None


def _is_ours(description: str | None) -> bool:
    try:
        return msgspec.json.decode(description or "", type=_Ours).program == PROGRAM
    except msgspec.MsgspecError:
        return False
