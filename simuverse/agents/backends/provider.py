"""What the providers over HTTP share: an address, and how its faults become errors of ours that name the cure.

It knows no vendor's library. Keys are kept out of every text it makes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from math import isfinite
from urllib.parse import urlsplit

from simuverse.errors import (
    ModelError,
    ModelNotFound,
    ModelRateLimited,
    ModelRefused,
    ModelReplyUnusable,
    ModelUnavailable,
    SettingsError,
)

SEEDS = 2**31
"""Seeds are taken modulo this: llama.cpp, which several servers are made of, holds them in 32 bits."""

EXCERPT = 300
"""Characters of a provider's own words that an error quotes: enough for a sentence, too few for an HTML page."""


Faults = Mapping[type[Exception], type[ModelError]]
"""A backend's table: a library's exceptions, and what each is here."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What came back.

    Args:
        seconds: wall time of all attempts together.
        attempts: calls made.
    """

    content: bytes
    seconds: float
    attempts: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Provider:
    """Where calls go, and what to say when they fail.

    Args:
        name: of the model as a user types it, ``ollama:qwen2.5:14b``.
        address: http or https, without a trailing slash.
        start: a sentence on what to do when nothing answers there.
        obtain: a sentence on how to get a model that isn't there.
        key: secret; None where none is sent.

    Raises:
        SettingsError: the address or the key can't be used at all.
    """

    name: str
    address: str
    start: str
    obtain: str
    key: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not _usable(self.address):
            raise SettingsError(
                f"{self.name}: the address must look like http://host:port, without a name or password in it."
            )
        if self.key is not None and not (self.key.isascii() and self.key.isprintable() and " " not in self.key):
            raise SettingsError(f"{self.name}: the key holds characters that no key has; was it pasted whole?")

    async def answer(
        self,
        post: Callable[[], Awaitable[bytes]],
        *,
        timeout: float,
        faults: Faults,
        adapts_to: Callable[[Exception], bool],
        mapped: Callable[[Exception, int], ModelError],
    ) -> Answer:
        """Of a call, made again at once as long as the request can be changed to what the provider takes.

        Args:
            timeout: seconds for all attempts together.
            faults: what ``post`` raises.
            adapts_to: whether the request is another since that fault, so that it should be made again.
            mapped: the error to raise for a fault, given the calls made.

        Raises:
            ModelError: as ``mapped`` has it, or no answer in time.
        """
        loop = asyncio.get_running_loop()
        started = loop.time()
        attempts = 0
        try:
            async with asyncio.timeout(timeout):
                while True:
                    attempts += 1
                    try:
                        content = await post()
                        break
                    except tuple(faults) as error:
                        if not adapts_to(error):
                            raise
        except TimeoutError:
            raise self.late(timeout, attempts=attempts) from None
        except tuple(faults) as error:
            raise mapped(error, attempts) from None
        return Answer(content=content, seconds=loop.time() - started, attempts=attempts)

    def error(
        self, kind: type[ModelError], reason: str, *, retry_after: float | None = None, attempts: int = 1
    ) -> ModelError:
        """The error to raise; ``reason`` is the provider's or the library's own words.

        Args:
            retry_after: seconds that the provider asked to wait.
            attempts: calls made.
        """
        reason = self._quotable(reason)
        error: ModelError
        if issubclass(kind, ModelRateLimited):
            wait = "" if retry_after is None else f" and asks to wait {retry_after:g} s"
            message = f"{self.name}: {self.address} has had too many calls{wait} ({reason})."
            error = ModelRateLimited(message, retry_after=retry_after)
        elif issubclass(kind, ModelUnavailable):
            error = ModelUnavailable(f"{self.name} can't be reached at {self.address} ({reason}). {self.start}")
        elif issubclass(kind, ModelRefused):
            error = ModelRefused(f"{self.name}: {self.address} refuses us ({reason}). Check the key and its rights.")
        elif issubclass(kind, ModelNotFound):
            error = ModelNotFound(f"{self.name}: {self.address} has no such model ({reason}). {self.obtain}")
        else:
            error = kind(f"{self.name} at {self.address} gave no usable reply: {reason}.")
        error.attempts = attempts
        error.retry_after = retry_after
        return error

    def late(self, seconds: float, *, attempts: int = 1) -> ModelError:
        """No answer within ``seconds``."""
        return self.error(ModelUnavailable, f"no answer within {seconds:g} s", attempts=attempts)

    def _quotable(self, reason: str) -> str:
        if self.key:
            reason = reason.replace(self.key, "***")
        reason = " ".join(reason.split()).rstrip(".")
        return reason if len(reason) <= EXCERPT else reason[: EXCERPT - 1] + "…"


def kind_of(error: Exception, faults: Faults) -> type[ModelError]:
    """Which error of ours ``error`` is: the entry of its nearest base class in ``faults``."""
    return next(faults[cls] for cls in type(error).__mro__ if cls in faults)


def kind_of_status(status: int) -> type[ModelError]:
    """Which error an HTTP status of 400 or more is.

    402 is a bill that isn't paid; 407 a proxy that wants a password; 408, 409, 425 and 499 pass by themselves.
    """
    if status in (401, 402, 403, 407):
        return ModelRefused
    if status == 404:
        return ModelNotFound
    if status == 429:
        return ModelRateLimited
    if status in (408, 409, 425, 499) or status >= 500:
        return ModelUnavailable
    return ModelReplyUnusable


def _usable(address: str) -> bool:
    try:
        parts = urlsplit(address)
        return (
            parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and "@" not in parts.netloc
        )
    except ValueError:
        return False


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds of the ``Retry-After`` header (RFC 9110, 10.2.3), 0 or more; None where it is missing or senseless.

    A date is measured against the answer's own ``Date``, so that clocks needn't agree.

    Args:
        headers: with names that match in any case.
    """
    value = headers.get("retry-after", "").strip()
    try:
        seconds = float(value)
    except ValueError:
        try:
            until, sent = parsedate_to_datetime(value), parsedate_to_datetime(headers.get("date", ""))
            seconds = (until - sent).total_seconds()
        except (ValueError, TypeError):
            return None
    return max(0.0, seconds) if isfinite(seconds) else None
