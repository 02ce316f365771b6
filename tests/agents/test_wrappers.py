from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simuverse.agents.backends.scripted import Scripted
from simuverse.agents.chat import ChatModel, ChatRequest, Completion
from simuverse.agents.wrappers import Exchange, Limited, Recorded, Retrying
from simuverse.errors import (
    ModelError,
    ModelNotFound,
    ModelRateLimited,
    ModelRefused,
    ModelReplyUnusable,
    ModelUnavailable,
)
from tests.contracts.chat_model import REQUEST, ChatModelContract


class FakeTime:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.waits: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.seconds += seconds

    def now(self) -> float:
        return self.seconds


class Highest(Random):
    """Always draws the upper end."""

    def uniform(self, a: float, b: float) -> float:
        return b


def retrying(
    model: ChatModel, time: FakeTime, *, attempts: int = 4, total: float = 300.0, chance: Random | None = None
) -> Retrying:
    return Retrying(model, chance=chance or Highest(), attempts=attempts, total=total, sleep=time.sleep, now=time.now)


def down() -> ModelError:
    return ModelUnavailable("closed port")


class TestRetryingContract(ChatModelContract):
    @pytest.fixture
    def model(self) -> ChatModel:
        return Retrying(Scripted(lambda _: "<ok/>"), chance=Random(1))


class TestLimitedContract(ChatModelContract):
    @pytest.fixture
    def model(self) -> ChatModel:
        return Limited(Scripted(lambda _: "<ok/>"), asyncio.Semaphore(1))


class TestRecordedContract(ChatModelContract):
    @pytest.fixture
    def model(self) -> ChatModel:
        return Recorded(Scripted(lambda _: "<ok/>"), lambda _: None)


async def test_what_passes_is_tried_again_and_all_calls_are_counted() -> None:
    time, script = FakeTime(), Scripted([down(), ModelRateLimited("busy"), "<ok/>"])
    completion = await retrying(script, time).complete(REQUEST)
    script.assert_used_up()
    assert (completion.text, completion.attempts) == ("<ok/>", 3)
    assert completion.seconds == sum(time.waits)


async def test_calls_that_a_backend_made_by_itself_are_counted_too() -> None:
    error, reply = down(), Completion(text="<ok/>", model="m", attempts=2)
    error.attempts = 3
    completion = await retrying(Scripted([error, reply]), FakeTime()).complete(REQUEST)
    assert completion.attempts == 5


@pytest.mark.parametrize("kind", [ModelRefused, ModelNotFound, ModelReplyUnusable])
async def test_what_does_not_pass_is_not_tried_again(kind: type[ModelError]) -> None:
    time, script = FakeTime(), Scripted([down(), kind("no")])
    with pytest.raises(kind) as caught:
        await retrying(script, time).complete(REQUEST)
    script.assert_used_up()
    assert caught.value.attempts == 2
    assert len(time.waits) == 1


async def test_faults_of_ours_are_raised_as_they_are() -> None:
    with pytest.raises(ZeroDivisionError):
        await retrying(Scripted([ZeroDivisionError()]), FakeTime()).complete(REQUEST)


async def test_the_last_error_is_raised_with_the_count_of_calls() -> None:
    time, script = FakeTime(), Scripted([down(), down(), down(), ModelUnavailable("the last")])
    with pytest.raises(ModelUnavailable, match="the last") as caught:
        await retrying(script, time).complete(REQUEST)
    script.assert_used_up()
    assert caught.value.attempts == 4
    assert len(time.waits) == 3


async def test_waits_double_up_to_the_cap() -> None:
    time = FakeTime()
    with pytest.raises(ModelUnavailable):
        await retrying(Scripted(lambda _: down()), time, attempts=8).complete(REQUEST)
    assert time.waits == [1, 2, 4, 8, 16, 20, 20]


@given(seed=st.integers(0, 2**32))
async def test_jitter_is_full_and_comes_from_the_seed_alone(seed: int) -> None:
    waits: list[list[float]] = []
    for _ in range(2):
        time = FakeTime()
        with pytest.raises(ModelUnavailable):
            await retrying(Scripted(lambda _: down()), time, attempts=6, chance=Random(seed)).complete(REQUEST)
        waits.append(time.waits)
    assert waits[0] == waits[1]
    assert all(0 <= wait <= 2**n for n, wait in enumerate(waits[0]))


@pytest.mark.parametrize("error", [ModelRateLimited("busy", retry_after=45), down()])
async def test_what_the_provider_asks_is_waited_in_full(error: ModelError) -> None:
    error.retry_after = 45
    time = FakeTime()
    await retrying(Scripted([error, "<ok/>"]), time, chance=Random(3)).complete(REQUEST)
    (wait,) = time.waits
    assert 45 < wait < 46


async def test_a_wait_that_would_pass_the_total_is_not_begun() -> None:
    time, script = FakeTime(), Scripted([ModelRateLimited("come back tomorrow", retry_after=86_400)])
    with pytest.raises(ModelRateLimited, match="tomorrow"):
        await retrying(script, time, total=60).complete(REQUEST)
    assert time.waits == []


async def test_the_total_bounds_a_call_that_hangs() -> None:
    class Hanging(Scripted):
        async def complete(self, request: ChatRequest) -> Completion:
            await asyncio.Event().wait()
            raise AssertionError

    with pytest.raises(ModelUnavailable, match=r"0\.05 s"):
        await retrying(Hanging([]), FakeTime(), total=0.05).complete(REQUEST)


async def test_against_a_storm_of_429_no_call_is_lost() -> None:
    refusals = {seed: seed % 4 for seed in range(40)}

    def stormy(request: ChatRequest) -> str | ModelError:
        if refusals[request.seed]:
            refusals[request.seed] -= 1
            return ModelRateLimited("busy", retry_after=1)
        return f"<ok n='{request.seed}'/>"

    model = retrying(Limited(Scripted(stormy), asyncio.Semaphore(4)), FakeTime())
    completions = await asyncio.gather(*(model.complete(replace(REQUEST, seed=seed)) for seed in range(40)))
    assert [completion.text for completion in completions] == [f"<ok n='{seed}'/>" for seed in range(40)]
    assert [completion.attempts for completion in completions] == [1 + seed % 4 for seed in range(40)]


@pytest.mark.parametrize("most", [1, 3])
async def test_no_more_calls_at_once_than_allowed_whichever_model_makes_them(most: int) -> None:
    running, highest, full, gate = 0, 0, asyncio.Event(), asyncio.Event()

    class Slow(Scripted):
        async def complete(self, request: ChatRequest) -> Completion:
            nonlocal running, highest
            running += 1
            highest = max(highest, running)
            if running == most:
                full.set()
            await gate.wait()
            running -= 1
            return await super().complete(request)

    limiter = asyncio.Semaphore(most)
    models = [Limited(Slow(lambda _: "<ok/>"), limiter) for _ in range(2)]
    async with asyncio.TaskGroup() as group:
        for _ in range(4):
            for model in models:
                group.create_task(model.complete(REQUEST))
        await full.wait()
        gate.set()
    assert highest == most


async def test_a_place_is_given_back_after_an_error() -> None:
    model = Limited(Scripted([down(), "<ok/>"]), asyncio.Semaphore(1))
    with pytest.raises(ModelUnavailable):
        await model.complete(REQUEST)
    assert (await model.complete(REQUEST)).text == "<ok/>"


async def test_every_call_is_on_record_in_order() -> None:
    record: list[Exchange] = []
    error = down()
    model = Recorded(Scripted(["<a/>", error, "<b/>"]), record.append)
    requests = [replace(REQUEST, seed=seed) for seed in range(3)]
    first = await model.complete(requests[0])
    with pytest.raises(ModelUnavailable):
        await model.complete(requests[1])
    last = await model.complete(requests[2])
    assert record == [
        Exchange(request=requests[0], completion=first),
        Exchange(request=requests[1], error=error),
        Exchange(request=requests[2], completion=last),
    ]


WRAPPERS: list[Callable[[ChatModel], ChatModel]] = [
    lambda model: Retrying(model, chance=Random(5)),
    lambda model: Limited(model, asyncio.Semaphore(2)),
    lambda model: Recorded(model, lambda _: None),
]


@given(
    text=st.text(min_size=1).filter(str.strip),
    tokens=st.none() | st.integers(0, 10**6),
    wraps=st.lists(st.sampled_from(WRAPPERS), max_size=4),
)
async def test_wrapping_changes_neither_reply_nor_request_nor_name(
    text: str, tokens: int | None, wraps: list[Callable[[ChatModel], ChatModel]]
) -> None:
    reply = Completion(text=text, model="m", input_tokens=tokens, output_tokens=tokens, finish="length")
    script = Scripted([reply], name="ollama:m")
    model: ChatModel = script
    for wrap in wraps:
        model = wrap(model)
    completion = await model.complete(REQUEST)
    assert replace(completion, seconds=0.0) == reply
    assert script.requests == [REQUEST]
    assert model.name == "ollama:m"


@pytest.mark.parametrize("wrap", WRAPPERS)
async def test_closing_reaches_the_model_inside(wrap: Callable[[ChatModel], ChatModel]) -> None:
    closed: list[bool] = []

    class Closing(Scripted):
        async def aclose(self) -> None:
            closed.append(True)

    await wrap(Closing([])).aclose()
    assert closed == [True]
