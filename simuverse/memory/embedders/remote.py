"""What the embedders over HTTP share: an address, batches with a time limit, and how faults become errors of ours.

It knows no vendor's library. Keys are kept out of every text it makes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, Self
from urllib.parse import urlsplit

import numpy as np

from simuverse.errors import BadVector, EmbedderError, EmbedderRefused, EmbedderUnavailable, SettingsError
from simuverse.memory.embedders.texts import batches, checked, prefixed
from simuverse.memory.embedding import TextKind, Vectors, unit_vectors

BATCH = 64
"""Texts a call: few enough for any server's limits and for a time-out to mean something."""

EXCERPT = 300
"""Characters of a server's own words that an error quotes: enough for a sentence, too few for an HTML page."""

_PROBE = "What is the length of a vector?"

Faults = Mapping[type[Exception], type[EmbedderError]]
"""A backend's table: a library's exceptions, and what each is here."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Server:
    """Where calls go, and what to say when they fail.

    Args:
        name: of the embedder as a user types it, ``ollama:nomic-embed-text``.
        model: as the server names it.
        address: http or https.
        start: a sentence on what to do when nothing answers there.
        obtain: a sentence on how to get a model that isn't there.
        key: secret; None where none is sent.
        timeout: seconds for one call.

    Raises:
        SettingsError: the address, the key or the time-out can't be used at all.
    """

    name: str
    model: str
    address: str
    start: str
    obtain: str
    key: str | None = field(default=None, repr=False)
    timeout: float

    def __post_init__(self) -> None:
        if not _usable(self.address):
            raise SettingsError(f"{self.name}: the address must look like http://host:port, without a password in it.")
        if self.key is not None and not (self.key.isascii() and self.key.isprintable() and " " not in self.key):
            raise SettingsError(f"{self.name}: the key holds characters that no key has; was it pasted whole?")
        if not self.timeout > 0:
            raise SettingsError(f"{self.name}: a time-out of {self.timeout:g} s leaves no time for an answer.")

    def error(self, kind: type[EmbedderError], reason: str, *, wait: float | None = None) -> EmbedderError:
        """The error to raise.

        Args:
            reason: the server's or the library's own words.
            wait: seconds that the server asks for.
        """
        reason = self._quotable(reason)
        if issubclass(kind, EmbedderUnavailable):
            cure = self.start if wait is None else f"It asks to wait {wait:g} s."
            return kind(f"{self.name}: no vectors from {self.address} ({reason}). {cure}")
        if issubclass(kind, EmbedderRefused):
            return kind(f"{self.name}: {self.address} refuses ({reason}). {self.obtain}")
        return kind(f"{self.name} at {self.address} gave no vectors but {reason}.")

    def status_error(self, status: int, reason: str, *, wait: float | None = None) -> EmbedderError:
        """For an HTTP status of 400 or more. 408, 409, 425, 429, 499 and the 500s pass by themselves."""
        passes = status in (408, 409, 425, 429, 499) or status >= 500
        return self.error(EmbedderUnavailable if passes else EmbedderRefused, f"{status}: {reason}", wait=wait)

    def _quotable(self, reason: str) -> str:
        if self.key:
            reason = reason.replace(self.key, "***")
        reason = " ".join(reason.split()).rstrip(".")
        return reason if len(reason) <= EXCERPT else reason[: EXCERPT - 1] + "…"


class Connection(Protocol):
    """What a backend supplies."""

    @property
    def server(self) -> Server: ...

    async def ask(self, texts: list[str]) -> Sequence[Sequence[float]]:
        """One call: a row of numbers a text.

        Raises:
            EmbedderError: by :meth:`Server.error` or :meth:`Server.status_error`.
        """
        ...

    async def aclose(self) -> None: ...


class RemoteEmbedder:
    """An :class:`~simuverse.memory.embedding.Embedder` on a connection, which it closes."""

    def __init__(self, connection: Connection, dimension: int) -> None:
        self.name = connection.server.name
        self.dimension = dimension
        self._connection = connection

    @classmethod
    async def on(cls, connection: Connection) -> Self:
        """Asks once, to learn the vectors' length; closes the connection where that fails.

        Raises:
            EmbedderUnavailable, EmbedderRefused, BadVector: it gives no vectors.
        """
        try:
            rows = await _call(connection, [_PROBE])
            dimension = len(rows[0]) if rows else 0
            if dimension == 0:
                raise connection.server.error(BadVector, "an empty list")
            unit_vectors(rows, count=1, dimension=dimension, embedder=connection.server.name)
        except BaseException:
            await connection.aclose()
            raise
        return cls(connection, dimension)

    async def embed(self, texts: Sequence[str], *, kind: TextKind = "document") -> Vectors:
        """In batches, one after the other; see :meth:`Embedder.embed`."""
        ready = prefixed(checked(texts), model=self._connection.server.model, kind=kind)
        vectors = [np.zeros((0, self.dimension), dtype=np.float32)]
        for batch in batches(ready, BATCH):
            rows = await _call(self._connection, batch)
            vectors.append(unit_vectors(rows, count=len(batch), dimension=self.dimension, embedder=self.name))
        return np.concatenate(vectors)

    async def aclose(self) -> None:
        await self._connection.aclose()


async def _call(connection: Connection, texts: list[str]) -> Sequence[Sequence[float]]:
    server = connection.server
    try:
        async with asyncio.timeout(server.timeout):
            return await connection.ask(texts)
    except TimeoutError:
        raise server.error(EmbedderUnavailable, f"no answer within {server.timeout:g} s") from None


def kind_of(error: Exception, faults: Faults) -> type[EmbedderError]:
    """Which error of ours ``error`` is: the entry of its nearest base class in ``faults``."""
    return next(faults[cls] for cls in type(error).__mro__ if cls in faults)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that ``Retry-After`` asks for; None where it is missing, a date or senseless.

    Args:
        headers: with names that match in any case.
    """
    value = headers.get("retry-after", "").strip()
    return float(value) if value.isascii() and value.isdigit() else None


def _usable(address: str) -> bool:
    try:
        parts = urlsplit(address)
        return (
            parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and "@" not in parts.netloc
        )
    except ValueError:
        return False
