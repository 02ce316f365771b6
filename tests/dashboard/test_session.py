from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager

import msgspec
import pytest

from simuverse.dashboard.session import Session
from simuverse.errors import LimitReached, StoreUnavailable, UnknownAgent
from simuverse.world.simulation import Simulation
from tests.dashboard.staged import PARTS, Stage
from tests.dashboard.waiting import at_rest, state, until


@pytest.fixture
def stage() -> Stage:
    return Stage()


@pytest.fixture
def paused(stage: Stage) -> Generator[Session]:
    with Session(stage.open, pause=0, running=False) as session:
        yield session


def test_the_run_goes_on_by_itself_with_no_one_looking(stage: Stage) -> None:
    with Session(stage.open, pause=0) as session:
        assert until(session, lambda shown: shown["tick"] >= 5)["running"]


def test_a_paused_run_stands_still_and_shows_its_world(paused: Session) -> None:
    shown = state(paused)
    assert (shown["tick"], shown["running"]) == (0, False)
    assert [agent["name"] for agent in shown["agents"]] == ["Jade", "Jamal", "James", "Jesse"]
    assert paused.parts == PARTS


def test_a_step_is_one_tick_and_three_steps_are_three(paused: Session) -> None:
    assert paused.step().ok
    until(paused, lambda shown: shown["tick"] == 1 and not shown["stepping"])
    for _ in range(3):
        paused.step()
    until(paused, lambda shown: shown["tick"] == 4 and not shown["stepping"])
    assert paused.since(paused.snapshot().seq) is None


@contextmanager
def _thinking() -> Generator[tuple[Session, threading.Event]]:
    """A session in the middle of its first tick, which goes on when the event is set."""
    thinking, leave = threading.Event(), threading.Event()

    async def think(name: str, tick: int) -> None:
        thinking.set()
        await asyncio.to_thread(leave.wait, 10)

    with Session(Stage(before_turn=think).open, pause=0) as session:
        assert thinking.wait(10)
        yield session, leave


def test_a_step_while_running_finishes_the_tick_under_way_and_pauses() -> None:
    with _thinking() as (session, leave):
        answer = session.step()
        leave.set()
        assert answer.ok
        assert at_rest(session)["tick"] == 1


def test_commands_are_answered_while_a_tick_is_lived_and_pause_lets_it_finish() -> None:
    with _thinking() as (session, leave):
        busy = until(session, lambda shown: all(agent["phase"] == "deciding" for agent in shown["agents"]))
        assert busy["stepping"]
        assert sum("busy" in element["classes"] for element in busy["elements"]) == 4
        assert session.place("Jade", 410, 205).ok
        assert session.pause().ok
        assert state(session)["stepping"]
        leave.set()
        assert at_rest(session)["tick"] == 1


def test_an_answer_names_the_first_state_that_shows_what_became_of_it(paused: Session) -> None:
    answer = paused.place("James", 222, 333)
    assert answer.ok
    assert answer.seq == paused.snapshot().seq
    james = next(agent for agent in state(paused)["agents"] if agent["name"] == "James")
    assert (james["x"], james["y"]) == (222, 333)


def test_the_world_may_refuse_a_place_and_says_why(paused: Session) -> None:
    before = state(paused)["agents"]
    answer = paused.place("James", 5, 5)
    assert not answer.ok
    assert "50" in answer.message
    after = state(paused)
    assert [agent["x"] for agent in after["agents"]] == [agent["x"] for agent in before]
    assert after["events"][-1]["kind"] == "refused"
    assert after["events"][-1]["text"] == answer.message


def test_strength_changes_the_temperature_that_is_shown_and_used(paused: Session, stage: Stage) -> None:
    assert paused.set_strength("Jade", 1.0).ok
    jade = next(agent for agent in state(paused)["agents"] if agent["name"] == "Jade")
    assert (jade["strength"], jade["temperature"]) == (1.0, 0.1)
    assert stage.simulation is not None
    assert stage.simulation.agent("Jade").conscious.persona.strength == 1.0


def test_nonsense_is_refused_and_changes_nothing(paused: Session) -> None:
    seq = paused.snapshot().seq
    with pytest.raises(UnknownAgent, match="Joan"):
        paused.set_strength("Joan", 0.5)
    with pytest.raises(ValueError, match="0 to 1"):
        paused.set_strength("Jade", 1.5)
    with pytest.raises(ValueError, match="speed"):
        paused.set_speed(0)
    with pytest.raises(ValueError, match="speed"):
        paused.set_speed(float("nan"))
    with pytest.raises(ValueError, match="no position"):
        paused.place("Jade", float("nan"), 100)
    with pytest.raises(ValueError, match="pause"):
        Session(Stage().open, pause=-1)
    assert paused.snapshot().seq == seq


def test_a_change_of_speed_ends_a_long_pause(stage: Stage) -> None:
    with Session(stage.open, pause=20) as session:
        session.step()
        until(session, lambda shown: shown["tick"] == 1 and not shown["stepping"])
        session.play()
        assert state(session)["tick"] == 1
        session.set_speed(100)
        until(session, lambda shown: shown["tick"] >= 2 and shown["speed"] == 100)


def test_a_state_is_written_once_and_is_the_same_for_all_until_something_happens(paused: Session) -> None:
    assert paused.snapshot().body is paused.snapshot().body
    seq = paused.snapshot().seq
    assert paused.since(seq) is None
    paused.place("Jade", 400, 300)
    news = paused.since(seq)
    assert news is not None
    assert [event["kind"] for event in msgspec.json.decode(news)["events"]] == ["operator"]


def test_a_number_from_another_run_gets_everything(paused: Session) -> None:
    paused.place("Jade", 400, 300)
    news = paused.since(10_000)
    assert news is not None
    assert len(msgspec.json.decode(news)["events"]) == 1


def test_turns_are_the_traces_themselves(paused: Session, stage: Stage) -> None:
    paused.step()
    until(paused, lambda shown: shown["tick"] == 1 and not shown["stepping"])
    assert stage.simulation is not None
    assert dict(paused.snapshot().turns) == stage.simulation.last


def test_a_fault_of_ours_stops_the_run_is_shown_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def break_down(name: str, tick: int) -> None:
        if tick == 3 and name == "Jade":
            raise ZeroDivisionError("a slip of ours")

    stage = Stage(before_turn=break_down)
    with Session(stage.open, pause=0) as session:
        shown = until(session, lambda shown: bool(shown["banners"]))
        assert shown["banners"][0]["kind"] == "fault"
        assert "ZeroDivisionError: a slip of ours" in shown["banners"][0]["text"]
        assert shown["events"][-1]["kind"] == "fault"
        assert not shown["running"]
        assert isinstance(session.fault, ZeroDivisionError)
        for answer in (session.play(), session.step(), session.place("Jade", 300, 300)):
            assert not answer.ok
        assert state(session)["tick"] == 3
    assert stage.closed == 1
    assert "a slip of ours" in caplog.text


@pytest.mark.parametrize("error", [StoreUnavailable("the disk is full"), LimitReached("100 calls were made")])
def test_something_outside_pauses_the_run_and_play_tries_again(error: Exception) -> None:
    async def fail_once(name: str, tick: int) -> None:
        if tick == 2 and name == "Jade":
            raise error

    with Session(Stage(before_turn=fail_once).open, pause=0) as session:
        shown = until(session, lambda shown: bool(shown["banners"]))
        assert shown["banners"] == [{"kind": "outage", "text": f"Paused: {error}"}]
        assert not shown["running"]
        assert session.fault is None
        session.play()
        assert until(session, lambda shown: shown["tick"] >= 4)["banners"] == []


def test_what_several_agents_meet_at_once_is_told_once() -> None:
    async def run_out(name: str, tick: int) -> None:
        raise LimitReached("100 calls were made")

    with Session(Stage(before_turn=run_out).open, pause=0) as session:
        shown = until(session, lambda shown: bool(shown["banners"]))
        assert shown["banners"] == [{"kind": "outage", "text": "Paused: 100 calls were made"}]


def test_a_fault_of_ours_among_others_is_the_one_that_is_told() -> None:
    async def fail(name: str, tick: int) -> None:
        raise StoreUnavailable("the disk is full") if name == "Jade" else ZeroDivisionError("a slip of ours")

    with Session(Stage(before_turn=fail).open, pause=0) as session:
        assert until(session, lambda shown: bool(shown["banners"]))["banners"][0]["kind"] == "fault"
        assert isinstance(session.fault, ZeroDivisionError)


def test_a_model_that_fails_is_shown_within_the_tick_and_a_long_outage_pauses() -> None:
    with Session(Stage(unanswered=lambda tick: True).open, pause=0, running=False) as session:
        session.step()
        shown = until(session, lambda shown: bool(shown["banners"]))
        assert shown["tick"] == 1
        assert {banner["kind"] for banner in shown["banners"]} == {"problem"}
        assert any("gives no answer" in banner["text"] for banner in shown["banners"])
        assert [event["kind"] for event in shown["events"]].count("problem") == 4
        session.play()
        shown = until(session, lambda shown: any(banner["kind"] == "outage" for banner in shown["banners"]))
        assert not shown["running"]
        assert shown["tick"] == 3


def test_opening_may_fail_and_the_reason_reaches_whoever_starts() -> None:
    @asynccontextmanager
    async def broken() -> AsyncGenerator[Simulation]:
        raise StoreUnavailable("no such store")
        yield

    session = Session(broken)
    with pytest.raises(StoreUnavailable, match="no such store"):
        session.start()
    assert session.ended
    session.stop()
    assert not session.play().ok


def test_stopping_closes_the_world_once_even_in_the_middle_of_a_tick() -> None:
    thinking = threading.Event()

    async def think(name: str, tick: int) -> None:
        thinking.set()
        await asyncio.Event().wait()

    stage = Stage(before_turn=think)
    session = Session(stage.open, pause=0)
    session.start()
    assert thinking.wait(10)
    session.stop()
    session.stop()
    assert (stage.opened, stage.closed) == (1, 1)
    assert session.ended
    assert session.step().message == "The run isn't open."


def test_what_closing_the_world_raises_reaches_whoever_stops() -> None:
    stage = Stage()

    @asynccontextmanager
    async def leaky() -> AsyncGenerator[Simulation]:
        async with stage.open() as simulation:
            try:
                yield simulation
            finally:
                raise StoreUnavailable("it could not be closed")

    session = Session(leaky, running=False)
    session.start()
    with pytest.raises(StoreUnavailable, match="could not be closed"):
        session.stop()


def test_commands_from_many_threads_are_all_answered_in_turn(paused: Session) -> None:
    seqs: list[int] = []

    def move(x: int) -> None:
        seqs.append(paused.place("Jade", 100 + x, 300).seq)

    threads = [threading.Thread(target=move, args=(x,)) for x in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(seqs)) == 20
