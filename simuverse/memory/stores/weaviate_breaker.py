"""Spares callers from waiting, again and again, for a server that doesn't answer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence

from simuverse.errors import StoreError, StoreUnavailable

THRESHOLD = 3
"""Calls in a row without an answer until none is made any more."""

PAUSES = (0.5, 1.0, 2.0)
"""Seconds before each probe in the background; the last goes on for good."""

_log = logging.getLogger(__name__)


class CircuitBreaker:
    """Open after :data:`THRESHOLD` failures in a row: then calls are refused at once, until a probe succeeds.

    Args:
        probe: asks the server something that needs all of it; raises StoreError if that fails.
        pauses: seconds before each probe.
    """

    def __init__(self, probe: Callable[[], Awaitable[None]], *, pauses: Sequence[float] = PAUSES) -> None:
        self._probe = probe
        self._pauses = pauses
        self._failures = 0
        self._last: StoreUnavailable | None = None
        self._probing: asyncio.Task[None] | None = None

    @property
    def is_open(self) -> bool:
        return self._probing is not None

    def check(self) -> int:
        """Before a call; the number is to be handed to :meth:`failed`.

        Raises:
            StoreUnavailable: open; the message is that of the last failure.
        """
        if self.is_open:
            raise StoreUnavailable(
                f"{self._last} It is asked again in the background; nothing is sent until it answers."
            )
        return self._failures

    def failed(self, error: StoreUnavailable, *, began: int) -> None:
        """Args:
        began: what :meth:`check` gave; calls that were under way together count as one failure.
        """
        self._last = error
        if began != self._failures:
            return
        self._failures += 1
        if self._failures >= THRESHOLD:
            self.open(error)

    def open(self, error: StoreUnavailable) -> None:
        """At once, as where all that could be asked was asked."""
        self._last = error
        if self._probing is None:
            self._probing = asyncio.create_task(self._until_it_answers())
            self._probing.add_done_callback(self._ended)

    def succeeded(self) -> None:
        self._failures = 0

    async def aclose(self) -> None:
        if self._probing is not None:
            self._probing.cancel()
            await asyncio.gather(self._probing, return_exceptions=True)

    def _ended(self, probing: asyncio.Task[None]) -> None:
        """However the probes ended, calls are made again, and meet by themselves a fault that ended them."""
        self._failures = 0
        self._probing = None
        error = None if probing.cancelled() else probing.exception()
        if error is not None:
            _log.error("the probes of a server ended by a fault of this program", exc_info=error)

    async def _until_it_answers(self) -> None:
        number = 0
        while True:
            await asyncio.sleep(self._pauses[min(number, len(self._pauses) - 1)])
            number += 1
            try:
                await self._probe()
            except StoreUnavailable as error:
                self._last = error
            except StoreError:
                # It answers, if only to refuse: callers shall hear that themselves.
                return
            else:
                return
