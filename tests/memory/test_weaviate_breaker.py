"""The circuit breaker before a server that doesn't answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from simuverse.errors import StoreRefused, StoreUnavailable
from simuverse.memory.stores.weaviate_breaker import THRESHOLD, CircuitBreaker

DOWN = StoreUnavailable("no answer.")


class Server:
    """Its probes end when :meth:`say` tells how."""

    def __init__(self) -> None:
        self.probes = 0
        self._said = asyncio.Queue[Exception | None]()

    def say(self, outcome: Exception | None) -> None:
        self._said.put_nowait(outcome)

    async def probe(self) -> None:
        self.probes += 1
        outcome = await self._said.get()
        self._said.task_done()
        if outcome is not None:
            raise outcome

    async def heard(self) -> None:
        await self._said.join()
        for _ in range(5):
            await asyncio.sleep(0)


@pytest.fixture
async def server() -> Server:
    return Server()


@pytest.fixture
async def breaker(server: Server) -> AsyncIterator[CircuitBreaker]:
    breaker = CircuitBreaker(server.probe, pauses=(0,))
    yield breaker
    await breaker.aclose()


def fail(breaker: CircuitBreaker, times: int = THRESHOLD) -> None:
    for _ in range(times):
        breaker.failed(DOWN, began=breaker.check())


async def test_it_opens_after_failures_in_a_row(breaker: CircuitBreaker) -> None:
    fail(breaker, THRESHOLD - 1)
    breaker.check()
    fail(breaker, 1)
    with pytest.raises(StoreUnavailable, match=r"no answer\. It is asked again in the background"):
        breaker.check()


async def test_a_success_between_starts_the_count_again(breaker: CircuitBreaker) -> None:
    fail(breaker, THRESHOLD - 1)
    breaker.succeeded()
    fail(breaker, THRESHOLD - 1)
    assert not breaker.is_open


async def test_calls_under_way_together_count_once(breaker: CircuitBreaker) -> None:
    began = breaker.check()
    for _ in range(10):
        breaker.failed(DOWN, began=began)
    assert not breaker.is_open


async def test_it_closes_when_a_probe_is_answered(breaker: CircuitBreaker, server: Server) -> None:
    fail(breaker)
    server.say(DOWN)
    await server.heard()
    assert breaker.is_open
    assert server.probes == 2
    server.say(None)
    await server.heard()
    assert not breaker.is_open
    fail(breaker, THRESHOLD - 1)
    assert not breaker.is_open


async def test_a_refusal_is_an_answer(breaker: CircuitBreaker, server: Server) -> None:
    fail(breaker)
    server.say(StoreRefused("wrong key."))
    await server.heard()
    assert not breaker.is_open


async def test_a_fault_of_the_program_in_a_probe_is_logged_and_calls_are_made_again(
    breaker: CircuitBreaker, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    fail(breaker)
    server.say(KeyError("a slip"))
    await server.heard()
    assert not breaker.is_open
    assert "KeyError: 'a slip'" in caplog.text
    fail(breaker)
    assert breaker.is_open
    server.say(None)
    await server.heard()
    assert not breaker.is_open


async def test_closing_it_ends_the_probes(breaker: CircuitBreaker, server: Server) -> None:
    fail(breaker)
    await breaker.aclose()
    server.say(None)
    assert server.probes == 0
