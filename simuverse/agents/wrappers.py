"""ChatModels around a ChatModel: retries, a limit on calls at once, a record. None changes a reply.

From the outside in: ``Recorded(Retrying(Limited(model, limiter)))``, so that a call that waits to be tried again holds
no place that another could use, and one record stands for all tries.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from random import Random

from simuverse.agents.chat import ChatModel, ChatRequest, Completion
from simuverse.errors import ModelError, ModelRateLimited, ModelUnavailable


class Retrying:
    """Tries again what may pass by itself: ModelUnavailable and ModelRateLimited, nothing else.

    Waits are exponential with full jitter: uniform between 0 and ``base * 2**n`` seconds, at most ``cap``
    (https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter). What the provider asks to wait is waited
    in full, with up to ``base`` seconds on top, so that those who were told the same don't come back as one.

    Args:
        attempts: calls at most, 1 or more.
        base: seconds.
        cap: seconds; doesn't bound what the provider asks for.
        total: seconds for all calls and waits. A wait that wouldn't end in time isn't begun.
        chance: for the jitter.
        sleep: waits that many seconds.
        now: seconds on a clock that never goes back.
    """

    def __init__(
        self,
        model: ChatModel,
        *,
        chance: Random,
        attempts: int = 4,
        base: float = 1.0,
        cap: float = 20.0,
        total: float = 300.0,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        if attempts < 1:
            raise ValueError(f"attempts must be 1 or more, not {attempts}")
        self._model = model
        self._chance = chance
        self._attempts = attempts
        self._base = base
        self._cap = cap
        self._total = total
        self._sleep = sleep
        self._now = now

    @property
    def name(self) -> str:
        return self._model.name

    async def complete(self, request: ChatRequest) -> Completion:
        """The first reply; the last error if there is none. Both count all calls, and a reply's time all waits."""
        started = self._now()
        calls = 0
        for attempt in range(1, self._attempts + 1):
            left = self._total - (self._now() - started)
            try:
                completion = await self._within(left, request)
            except ModelError as error:
                calls += error.attempts
                error.attempts = calls
                passing = isinstance(error, ModelUnavailable | ModelRateLimited)
                wait = self._wait(attempt, error.retry_after)
                left = self._total - (self._now() - started)
                if not passing or attempt == self._attempts or wait >= left:
                    raise
                await self._sleep(wait)
            else:
                return replace(completion, attempts=calls + completion.attempts, seconds=self._now() - started)
        raise AssertionError("the last attempt returns or raises")

    async def aclose(self) -> None:
        await self._model.aclose()

    async def _within(self, seconds: float, request: ChatRequest) -> Completion:
        try:
            async with asyncio.timeout(seconds):
                return await self._model.complete(request)
        except TimeoutError:
            raise ModelUnavailable(f"{self.name} gave no reply within {self._total:g} s, all tries together.") from None

    def _wait(self, attempt: int, asked: float | None) -> float:
        if asked is not None:
            return asked + self._chance.uniform(0, self._base)
        return self._chance.uniform(0, min(self._cap, self._base * 2 ** (attempt - 1)))


class Limited:
    """Lets only so many calls through at once.

    Args:
        limiter: shared by all models of one provider.
    """

    def __init__(self, model: ChatModel, limiter: asyncio.Semaphore) -> None:
        self._model = model
        self._limiter = limiter

    @property
    def name(self) -> str:
        return self._model.name

    async def complete(self, request: ChatRequest) -> Completion:
        """The reply, when its turn has come."""
        async with self._limiter:
            return await self._model.complete(request)

    async def aclose(self) -> None:
        await self._model.aclose()


@dataclass(frozen=True, kw_only=True, slots=True)
class Exchange:
    """A call and what came of it: either ``completion`` or ``error``."""

    request: ChatRequest
    completion: Completion | None = None
    error: ModelError | None = None


class Recorded:
    """Hands every call to ``sink`` as it ends, in the order in which they end. A cancelled call is none."""

    def __init__(self, model: ChatModel, sink: Callable[[Exchange], None]) -> None:
        self._model = model
        self._sink = sink

    @property
    def name(self) -> str:
        return self._model.name

    async def complete(self, request: ChatRequest) -> Completion:
        """The reply, once it is on record."""
        try:
            completion = await self._model.complete(request)
        except ModelError as error:
            self._sink(Exchange(request=request, error=error))
            raise
        self._sink(Exchange(request=request, completion=completion))
        return completion

    async def aclose(self) -> None:
        await self._model.aclose()
