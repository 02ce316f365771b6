"""The one client of a store, with a deadline on every call, and on to the next address when the server is gone."""

from __future__ import annotations

import asyncio
import re
import warnings
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Self, TypeVar, cast

from simuverse.errors import MissingExtra, StoreError, StoreMismatch, StoreUnavailable
from simuverse.memory.stores.weaviate_address import Address, parse_key
from simuverse.memory.stores.weaviate_breaker import PAUSES, CircuitBreaker
from simuverse.memory.stores.weaviate_errors import CollectionGone, outside_errors

if TYPE_CHECKING:
    from weaviate import WeaviateAsyncClient

T = TypeVar("T")
Work = Callable[["WeaviateAsyncClient"], Awaitable[T]]

DEADLINE = 2.0
"""Seconds for a query. The client alone would try for 63."""

WRITE_DEADLINE = 10.0
"""Seconds for a batch or a change of schema, which are far larger."""

PATIENCE = 20.0
"""Seconds for which several nodes are asked in turn to write. When the one that led them has died they need about ten
to choose another; until then each holds a write, for longer than that, and takes it at once when asked again."""

HEAD_START = 0.3
"""Seconds that an address has before the next one is asked too: a server that lives answers in far less."""

MINIMUM = (1, 30)
"""Of the server: the first whose keyword scores are those of :mod:`simuverse.memory.keyword_index`."""

_CHANNEL = [("grpc.initial_reconnect_backoff_ms", 100), ("grpc.max_reconnect_backoff_ms", 1000)]
"""A server that is back is found within a second; gRPC's own pause grows to two minutes."""


class _Client:
    """A client of the library's with what is under way on it: it is closed when that has ended, and not before.

    Closing it under a call would break that call in ways that no caller expects.
    """

    def __init__(self, client: WeaviateAsyncClient, address: Address) -> None:
        self.address = address
        self.version = ""
        self._client = client
        self._users = 0
        self._retired = False

    @asynccontextmanager
    async def used(self) -> AsyncGenerator[WeaviateAsyncClient]:
        self._users += 1
        try:
            yield self._client
        finally:
            self._users -= 1
            await self._close_if_idle()

    async def retire(self) -> None:
        self._retired = True
        await self._close_if_idle()

    async def _close_if_idle(self) -> None:
        if self._retired and not self._users:
            await self._client.close()


class Connection:
    """Opened by :meth:`open`, bound to the loop that opened it. ``repr`` and errors never hold the key."""

    def __init__(
        self,
        addresses: Sequence[Address],
        *,
        key: str | None,
        headers: Mapping[str, str],
        deadline: float,
        probed: str,
        pauses: Sequence[float],
    ) -> None:
        self._addresses = tuple(addresses)
        self._key = key
        self._headers = dict(headers)
        self._secrets = (key or "", *self._headers.values())
        self._deadline = deadline
        self._probed = probed
        self._client: _Client | None = None
        self._closed = False
        self._moving: asyncio.Task[None] | None = None
        self._breaker = CircuitBreaker(self._connect_to_any, pauses=pauses)

    @classmethod
    async def open(
        cls,
        addresses: Sequence[Address],
        *,
        key: str | None,
        headers: Mapping[str, str],
        deadline: float,
        probed: str,
        pauses: Sequence[float] = PAUSES,
    ) -> Self:
        """Connects to the first address that answers on both of its ports.

        Args:
            key: API key; blank is none.
            headers: sent with every call.
            deadline: seconds for a query.
            probed: a collection that needn't exist, asked for to see whether queries are answered.
            pauses: seconds before each probe of a server that doesn't answer.

        Raises:
            MissingExtra: the client isn't installed.
            SettingsError: the key holds what no header can carry.
            StoreUnavailable, StoreRefused, StoreMismatch: none can be used; the message is that of the first.
        """
        _import_client()
        connection = cls(
            addresses,
            key=parse_key(key),
            headers=headers,
            deadline=deadline,
            probed=probed,
            pauses=pauses,
        )
        await connection._connect_to_any()
        return connection

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.description}>"

    @property
    def description(self) -> str:
        """Server, version and whether a key is used, for people."""
        version = "" if self._client is None else self._client.version
        return f"Weaviate {version} at {self.address.url}, {'API key' if self._key else 'no key'}"

    @property
    def address(self) -> Address:
        """The one in use."""
        return self._addresses[0] if self._client is None else self._client.address

    async def query(self, work: Work[T]) -> T:
        """Raises:
        StoreError: no answer before the deadline, or a refusal.
        """
        return await self._run(work, self._deadline, patience=0)

    async def look_up(self, work: Work[T]) -> T:
        """A question about collections or tenants, which several nodes answer only while one of them leads.

        Raises:
            StoreError: no answer before the deadline, from any node before :data:`PATIENCE`, or a refusal.
        """
        return await self._run(work, self._deadline, patience=PATIENCE)

    async def write(self, work: Work[T]) -> T:
        """Something that may be done twice without harm.

        Raises:
            StoreError: no answer before :data:`WRITE_DEADLINE`, from any node before :data:`PATIENCE`, or a refusal.
        """
        return await self._run(work, max(WRITE_DEADLINE, self._deadline), patience=PATIENCE)

    async def aclose(self) -> None:
        """Closing twice does nothing."""
        if self._closed:
            return
        self._closed = True
        await self._breaker.aclose()
        if self._moving is not None:
            self._moving.cancel()
            await asyncio.gather(self._moving, return_exceptions=True)
        if self._client is not None:
            await self._client.retire()

    async def _run(self, work: Work[T], deadline: float, *, patience: float) -> T:
        if self._closed:
            raise StoreUnavailable(f"{self.description} is closed; open the store again.")
        began = self._breaker.check()
        client = self._client
        assert client is not None
        try:
            result = await self._by_any_node(work, client, deadline, patience)
        except StoreUnavailable as error:
            self._breaker.failed(error, began=began)
            raise
        except StoreError:
            self._breaker.succeeded()
            raise
        self._breaker.succeeded()
        return result

    async def _by_any_node(self, work: Work[T], client: _Client, deadline: float, patience: float) -> T:
        """By this node, or by the next ones in turn, each but the last in no more time than a query may take."""
        loop = asyncio.get_running_loop()
        end = loop.time() + patience
        further = len(self._addresses) > 1
        while further:
            try:
                return await self._within(min(deadline, self._deadline), client, work)
            except StoreUnavailable:
                client = await self._moved_on_from(client)
                further = loop.time() < end
        return await self._within(deadline, client, work)

    async def _moved_on_from(self, client: _Client) -> _Client:
        """Raises:
        StoreError: no address answers, which all who ask for it meanwhile are told at once.
        """
        if self._client is client:
            self._breaker.check()
            if self._moving is None:
                self._moving = asyncio.create_task(self._move())
                self._moving.add_done_callback(_seen)
            # Others wait for it too, so it goes on if this caller doesn't.
            await asyncio.shield(self._moving)
        assert self._client is not None
        return self._client

    async def _move(self) -> None:
        try:
            await self._connect_to_any()
        except StoreUnavailable as error:
            self._breaker.open(error)
            raise
        finally:
            self._moving = None

    async def _within(self, deadline: float, client: _Client, work: Work[T]) -> T:
        with outside_errors(client.address, with_key=self._key is not None, secrets=self._secrets):
            async with client.used() as bare, asyncio.timeout(deadline):
                return await work(bare)

    async def _connect_to_any(self) -> None:
        """To the first that answers. The one in use is asked last, as it is the one that failed.

        Raises:
            StoreError: none does within twice the deadline and :data:`HEAD_START` for each; that of the first.
        """
        start = 0 if self._client is None else self._addresses.index(self._client.address) + 1
        asked = [
            asyncio.create_task(self._connected(address, after=number * HEAD_START))
            for number, address in enumerate((*self._addresses[start:], *self._addresses[:start]))
        ]
        try:
            waiting = {*asked}
            while waiting and not any(map(_answered, asked)):
                _, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in asked:
                one.cancel()
            outcomes = await asyncio.gather(*asked, return_exceptions=True)
            unused = [one for one in outcomes if isinstance(one, _Client)]
            if unused:
                before, self._client = self._client, unused.pop(0)
                unused += [] if before is None else [before]
            for client in unused:
                await client.retire()
        faults = [one for one in outcomes if isinstance(one, BaseException)]
        if len(faults) == len(asked):
            raise faults[0]

    async def _connected(self, address: Address, *, after: float) -> _Client:
        """One that both ports answered.

        Args:
            after: seconds to wait before.
        """
        await asyncio.sleep(after)
        client = _Client(self._new_client(address), address)
        try:
            loop = asyncio.get_running_loop()
            # A busy machine may need longer for the first handshake than for a query.
            end = loop.time() + 2 * self._deadline
            await self._within(2 * self._deadline, client, lambda bare: bare.connect())
            client.version = await self._within(end - loop.time(), client, _version)
            _check_version(client.version, address)
            await self._ask_by_grpc(client, end - loop.time())
        except BaseException:
            await client.retire()
            raise
        return client

    async def _ask_by_grpc(self, client: _Client, deadline: float) -> None:
        """Raises:
        StoreUnavailable: the gRPC port doesn't answer.
        """

        async def ask(client: WeaviateAsyncClient) -> None:
            await client.collections.use(self._probed).query.fetch_objects(limit=1)

        try:
            await self._within(deadline, client, ask)
        except StoreUnavailable as error:
            raise StoreUnavailable(
                f"Weaviate at {client.address.url} answers there, but not on its gRPC port {client.address.grpc}, "
                "which queries need: open that port too, or say where it is with ?grpc_port= and ?grpc_host= in the "
                "address."
            ) from error
        except CollectionGone:
            pass

    def _new_client(self, address: Address) -> WeaviateAsyncClient:
        import weaviate
        from weaviate.classes.init import AdditionalConfig, Auth, Timeout
        from weaviate.config import GrpcConfig

        longest = max(WRITE_DEADLINE, self._deadline)
        return weaviate.use_async_with_custom(
            http_host=address.host,
            http_port=address.port,
            http_secure=address.secure,
            grpc_host=address.grpc_host,
            grpc_port=address.grpc_port,
            grpc_secure=address.secure,
            headers=self._headers or None,
            auth_credentials=Auth.api_key(self._key) if self._key else None,
            additional_config=AdditionalConfig(
                timeout=Timeout(init=longest, query=longest, insert=longest),
                grpc_config=GrpcConfig(channel_options=_CHANNEL),
            ),
            # Its own checks ask a package index for newer versions.
            skip_init_checks=True,
        )


def _seen(moving: asyncio.Task[None]) -> None:
    """Its failure is known, though every caller may be gone by now."""
    if not moving.cancelled():
        moving.exception()


def _answered(asked: asyncio.Task[_Client]) -> bool:
    return asked.done() and not asked.cancelled() and asked.exception() is None


async def _version(client: WeaviateAsyncClient) -> str:
    meta = cast("Mapping[str, object]", await client.get_meta())  # pyright: ignore[reportUnknownMemberType]
    return str(meta.get("version", ""))


def _check_version(version: str, address: Address) -> None:
    """Raises:
    StoreMismatch: older than :data:`MINIMUM`, or none at all.
    """
    found = re.match(r"(\d+)\.(\d+)", version)
    if found is None or (int(found[1]), int(found[2])) < MINIMUM:
        raise StoreMismatch(
            f"The server at {address.url} is Weaviate {version or 'of no known version'}; "
            f"{MINIMUM[0]}.{MINIMUM[1]} or newer is needed. Upgrade it, one minor version at a time."
        )


def _import_client() -> None:
    """Raises:
    MissingExtra: it isn't installed.
    """
    # The import switches on all warnings of the process, and gives some of its own.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            import_module("weaviate")
        except ImportError as error:
            raise MissingExtra('Weaviate needs its client: pip install "simu-verse[weaviate]"') from error
