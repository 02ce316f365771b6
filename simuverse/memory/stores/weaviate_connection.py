"""The one client of a store, with a deadline on every call, and on to the next address when the server is gone."""

from __future__ import annotations

import asyncio
import re
import warnings
from collections.abc import Awaitable, Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Self, TypeVar, cast

from simuverse.errors import MissingExtra, StoreError, StoreMismatch, StoreUnavailable
from simuverse.memory.stores.weaviate_address import Address
from simuverse.memory.stores.weaviate_breaker import PAUSES, CircuitBreaker
from simuverse.memory.stores.weaviate_errors import CollectionGone, outside_errors

if TYPE_CHECKING:
    from weaviate import WeaviateAsyncClient

T = TypeVar("T")
Work = Callable[["WeaviateAsyncClient"], Awaitable[T]]

DEADLINE = 2.0
"""Seconds for a query. The client alone would try for 63."""

WRITE_DEADLINE = 10.0
"""Seconds for a batch or a change of schema, which are far larger. A node whose leader has just died may hold a write
for half a minute, and takes it at once when asked again."""

MINIMUM = (1, 30)
"""Of the server: the first whose keyword scores are those of :mod:`simuverse.memory.keyword_index`."""

_CHANNEL = [("grpc.initial_reconnect_backoff_ms", 100), ("grpc.max_reconnect_backoff_ms", 1000)]
"""A server that is back is found within a second; gRPC's own pause grows to two minutes."""


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
        self._deadline = deadline
        self._probed = probed
        self._address = self._addresses[0]
        self._client: WeaviateAsyncClient | None = None
        self._version = ""
        self._closed = False
        self._moving = asyncio.Lock()
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
            StoreUnavailable, StoreRefused, StoreMismatch: none can be used; the message is that of the first.
        """
        _import_client()
        connection = cls(
            addresses,
            key=(key or "").strip() or None,
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
        return f"Weaviate {self._version} at {self._address.url}, {'API key' if self._key else 'no key'}"

    @property
    def address(self) -> Address:
        """The one in use."""
        return self._address

    async def query(self, work: Work[T]) -> T:
        """Raises:
        StoreError: no answer before the deadline, or a refusal.
        """
        return await self._run(work, self._deadline)

    async def write(self, work: Work[T]) -> T:
        """Something that may be done twice without harm.

        Raises:
            StoreError: no answer before :data:`WRITE_DEADLINE`, or a refusal.
        """
        return await self._run(work, max(WRITE_DEADLINE, self._deadline))

    async def aclose(self) -> None:
        """Closing twice does nothing."""
        if self._closed:
            return
        self._closed = True
        await self._breaker.aclose()
        if self._client is not None:
            await self._client.close()

    async def _run(self, work: Work[T], deadline: float) -> T:
        if self._closed:
            raise StoreUnavailable(f"{self.description} is closed; open the store again.")
        began = self._breaker.check()
        client = self._client
        try:
            try:
                result = await self._within(deadline, client, self._address, work)
            except StoreUnavailable:
                if len(self._addresses) == 1:
                    raise
                await self._move_on_from(client)
                result = await self._within(deadline, self._client, self._address, work)
        except StoreUnavailable as error:
            self._breaker.failed(error, began=began)
            raise
        except StoreError:
            self._breaker.succeeded()
            raise
        self._breaker.succeeded()
        return result

    async def _within(self, deadline: float, client: WeaviateAsyncClient | None, address: Address, work: Work[T]) -> T:
        assert client is not None
        with outside_errors(address, with_key=self._key is not None):
            async with asyncio.timeout(deadline):
                return await work(client)

    async def _move_on_from(self, client: WeaviateAsyncClient | None) -> None:
        async with self._moving:
            if self._client is client:
                await self._connect_to_any()

    async def _connect_to_any(self) -> None:
        first: StoreError | None = None
        for address in self._addresses:
            try:
                client, version = await self._connected(address)
            except StoreError as error:
                first = first or error
                continue
            before, self._client = self._client, client
            self._address, self._version = address, version
            if before is not None:
                await before.close()
            return
        assert first is not None
        raise first

    async def _connected(self, address: Address) -> tuple[WeaviateAsyncClient, str]:
        """A client that both ports answered."""
        client = self._new_client(address)
        try:
            # A busy machine may need longer for the first handshake than for a query.
            deadline = 2 * self._deadline
            await self._within(deadline, client, address, lambda client: client.connect())
            version = await self._within(deadline, client, address, _version)
            _check_version(version, address)
            await self._ask_by_grpc(client, address, deadline)
        except BaseException:
            await client.close()
            raise
        return client, version

    async def _ask_by_grpc(self, client: WeaviateAsyncClient, address: Address, deadline: float) -> None:
        """Raises:
        StoreUnavailable: the gRPC port doesn't answer.
        """

        async def ask(client: WeaviateAsyncClient) -> None:
            await client.collections.use(self._probed).query.fetch_objects(limit=1)

        try:
            await self._within(deadline, client, address, ask)
        except StoreUnavailable as error:
            raise StoreUnavailable(
                f"Weaviate at {address.url} answers there, but not on its gRPC port {address.grpc}, which queries "
                "need: open that port too, or say where it is with ?grpc_port= and ?grpc_host= in the address."
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
