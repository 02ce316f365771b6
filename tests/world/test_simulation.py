"""Steps of the world: everyone acts, failures cost what they touch and no more, and a run repeats exactly."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import pytest

from simuverse.agents.backends.scripted import Scripted
from simuverse.agents.chat import ChatModel
from simuverse.agents.turn import Reflection, ToolCall, Turn
from simuverse.agents.xml import render_turn
from simuverse.config import Settings
from simuverse.errors import UnknownAgent
from simuverse.memory.records import MemoryFilter
from simuverse.wiring import open_simulation
from simuverse.world.journal import read_events, read_info, read_turns
from simuverse.world.simulation import Simulation
from simuverse.world.state import Position, state_hash
from simuverse.world.tools import apply, begin_tick
from tests.commands import finish, start
from tests.world.failing import MODEL_DOWN, STORE_DOWN, break_models, break_store

EVERYONE = {"Jade", "Jamal", "James", "Jesse"}
FAST = Settings(embedder="hashing", seed=7)
DELIBERATE = replace(FAST, subconscious_model="rehearsal")


async def hash_of(settings: Settings, folder: Path, *, ticks: int = 6) -> str | None:
    async with open_simulation(settings, folder=folder) as simulation:
        for _ in range(ticks):
            await simulation.step()
        return simulation.journal_sha256


def all_models(simulation: Simulation, model: ChatModel) -> None:
    for agent in simulation.agents.values():
        agent.conscious.model = model


# --- repeating ------------------------------------------------------------------------------------------------------


async def test_the_same_seed_lives_the_same_world_however_many_think_at_once(tmp_path: Path) -> None:
    hashes = [
        await hash_of(replace(settings, concurrency=concurrency), tmp_path / f"{name}-{concurrency}")
        for name, settings in (("reflex", FAST), ("deliberate", DELIBERATE))
        for concurrency in (1, 8)
    ]
    assert hashes[0] == hashes[1]
    assert hashes[2] == hashes[3]
    assert hashes[0] != hashes[2]


async def test_another_seed_lives_another_world(tmp_path: Path) -> None:
    assert await hash_of(FAST, tmp_path / "7") != await hash_of(replace(FAST, seed=8), tmp_path / "8")


async def test_the_hash_is_that_of_the_journal_file(tmp_path: Path) -> None:
    told = await hash_of(FAST, tmp_path / "run", ticks=2)
    assert told == sha256((tmp_path / "run" / "journal.jsonl").read_bytes()).hexdigest()


async def test_without_a_folder_no_record_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with open_simulation(FAST) as simulation:
        await simulation.step()
        assert simulation.journal_sha256 is None
    assert list(tmp_path.iterdir()) == []


def test_processes_in_other_time_zones_with_other_hash_seeds_live_the_same_world(tmp_path: Path) -> None:
    there = [
        ("1", {"TZ": "Asia/Seoul", "PYTHONHASHSEED": "1"}),
        ("8", {"TZ": "America/St_Johns", "PYTHONHASHSEED": "2"}),
    ]
    words = ("run", "--ticks", "8", "--seed", "7")
    processes = [
        start(*words, "--concurrency", many, "--out", f"run{many}", folder=tmp_path, environment=environment)
        for many, environment in there
    ]
    ended = [finish(process) for process in processes]
    assert [one.code for one in ended] == [0, 0]
    last = [one.out.splitlines()[-1] for one in ended]
    assert last[0].startswith("journal sha256: ")
    assert last[0] == last[1]
    journals = [(tmp_path / f"run{many}" / "journal.jsonl").read_bytes() for many, _ in there]
    assert last[0] == f"journal sha256: {sha256(journals[0]).hexdigest()}"
    assert journals[0] == journals[1]


# --- a step ---------------------------------------------------------------------------------------------------------


async def test_everyone_acts_once_a_tick_and_time_goes_by() -> None:
    async with open_simulation(FAST) as simulation:
        begin = simulation.time
        orders: set[tuple[str, ...]] = set()
        for tick in range(1, 11):
            traces = await simulation.step()
            assert {trace.agent for trace in traces} == EVERYONE
            assert [trace.tick for trace in traces] == [tick] * 4
            assert {trace.observation.time for trace in traces} == {begin + timedelta(minutes=tick)}
            assert all(trace.outcome.sentence for trace in traces)
            assert simulation.last == {trace.agent: trace for trace in traces}
            orders.add(tuple(trace.agent for trace in traces))
        assert simulation.tick == 10
        assert len(orders) > 1


async def test_all_perceive_the_world_as_it_was_before_anyone_acted() -> None:
    async with open_simulation(FAST) as simulation:
        all_models(simulation, Scripted(lambda request: _says(f"I am {request.agent}.")))
        first = await simulation.step()
        assert all(trace.observation.heard == () for trace in first)


async def test_the_world_changes_through_apply_alone(tmp_path: Path) -> None:
    async with open_simulation(FAST, folder=tmp_path / "run") as simulation:
        world = simulation.world
        for _ in range(15):
            traces = await simulation.step()
            world = begin_tick(world)
            for trace in traces:
                applied = apply(world, trace.agent, trace.decision.call, turn=trace.observation.turn)
                assert applied.outcome == trace.outcome
                world = applied.world
            assert state_hash(world) == state_hash(simulation.world)
    states = [event.body["state"] for event in read_events(tmp_path / "run") if event.kind == "tick"]
    assert len(states) == 15
    assert states[-1] == state_hash(world)


async def test_the_journal_holds_each_step_as_it_was_returned(tmp_path: Path) -> None:
    async with open_simulation(DELIBERATE, folder=tmp_path / "run") as simulation:
        lived = [trace for _ in range(3) for trace in await simulation.step()]
    assert list(read_turns(tmp_path / "run")) == lived
    kinds = [event.kind for event in read_events(tmp_path / "run")]
    assert kinds == ["start", *["turn"] * 4, "tick", *["turn"] * 4, "tick", *["turn"] * 4, "tick"]


async def test_an_agent_may_have_a_name_of_any_characters(tmp_path: Path) -> None:
    file = tmp_path / "pair.toml"
    file.write_text(
        'title = "Two"\nstart = 2026-06-01T08:00:00Z\n'
        '[[agents]]\nname = "Ann/Bo"\nx = 100\ny = 100\ndescription = "I am one."\n'
        '[[agents]]\nname = "민지"\nx = 120\ny = 100\ndescription = "I am the other."\n',
        encoding="utf-8",
    )
    async with open_simulation(replace(FAST, scenario=str(file)), folder=tmp_path / "run") as simulation:
        assert {trace.agent for trace in await simulation.step()} == {"Ann/Bo", "민지"}


# --- failures -------------------------------------------------------------------------------------------------------


async def test_a_model_that_fails_a_character_makes_it_wait_and_nobody_else(tmp_path: Path) -> None:
    async with open_simulation(DELIBERATE, folder=tmp_path / "run") as simulation:
        failing = break_models(simulation, "James", "turn")
        traces = {trace.agent: trace for trace in await simulation.step()}
        james = traces.pop("James")
        assert james.decision.failed
        assert james.decision.call == ToolCall(tool="wait")
        assert any(MODEL_DOWN in problem for problem in james.decision.problems)
        assert james.recollection.considered
        assert not any(trace.problems for trace in traces.values())
        failing.down = False
        assert not any(trace.problems for trace in await simulation.step())
    assert [trace.problems for trace in read_turns(tmp_path / "run", agent="James", tick=1)] == [james.problems]


async def test_a_model_that_fails_the_queries_leaves_the_situation_to_ask() -> None:
    async with open_simulation(DELIBERATE) as simulation:
        break_models(simulation, "James", "memory_queries")
        james = next(trace for trace in await simulation.step() if trace.agent == "James")
        assert any(MODEL_DOWN in problem for problem in james.recollection.problems)
        assert james.recollection.queries
        assert james.recollection.considered
        assert not james.decision.failed
        assert not james.remembered.problems


async def test_a_model_that_fails_the_memory_leaves_the_turn_and_keeps_what_was_to_be_remembered() -> None:
    async with open_simulation(DELIBERATE) as simulation:
        break_models(simulation, "Jade", "memory")
        jade = next(trace for trace in await simulation.step() if trace.agent == "Jade")
        assert not jade.recollection.problems
        assert not jade.decision.failed
        assert any(MODEL_DOWN in problem for problem in jade.remembered.problems)
        assert jade.remembered.written == ()
        assert jade.remembered.raw


@pytest.mark.parametrize(
    ("method", "part"), [("search", "recollection"), ("touch", "recollection"), ("add", "remembered")]
)
async def test_a_store_that_fails_costs_that_half_of_the_turn(method: str, part: str) -> None:
    async with open_simulation(FAST) as simulation:
        failing = break_store(simulation, "James", method)
        problems: list[str] = []
        for _ in range(12):
            for trace in await simulation.step():
                assert not trace.decision.failed
                if trace.agent != "James":
                    assert not trace.problems
                    continue
                problems += getattr(trace, part).problems
                assert getattr(trace, part).problems == trace.problems
        assert problems
        assert all(STORE_DOWN in problem for problem in problems)
        failing.down = False
        assert not any(trace.problems for trace in await simulation.step())


async def test_calls_without_a_reply_are_counted_until_one_is_answered() -> None:
    async with open_simulation(DELIBERATE) as simulation:
        failing = [break_models(simulation, name, "turn", "memory", "memory_queries") for name in EVERYONE]
        await simulation.step()
        assert simulation.unanswered == 12
        for one in failing:
            one.down = False
        await simulation.step()
        assert simulation.unanswered == 0


async def test_a_fault_of_ours_is_raised_and_the_ticks_before_it_stay(tmp_path: Path) -> None:
    async with open_simulation(FAST, folder=tmp_path / "run") as simulation:
        await simulation.step()
        all_models(simulation, Scripted([ZeroDivisionError("ours")]))
        with pytest.raises(ExceptionGroup) as raised:
            await simulation.step()
    assert raised.group_contains(ZeroDivisionError, match="ours")
    assert {trace.tick for trace in read_turns(tmp_path / "run")} == {1}


@pytest.mark.parametrize("reply", ["", "half a pair \udcff", "<turn>\x00</turn>", "<turn", "no XML", "<a>" * 3000])
async def test_whatever_a_model_replies_the_turn_ends_and_can_be_read_again(reply: str, tmp_path: Path) -> None:
    async with open_simulation(FAST, folder=tmp_path / "run") as simulation:
        all_models(simulation, Scripted(lambda _: reply))
        traces = await simulation.step()
    assert all(trace.decision.failed for trace in traces)
    assert list(read_turns(tmp_path / "run")) == list(traces)


# --- runs on one store ----------------------------------------------------------------------------------------------


async def test_a_second_run_on_a_store_adds_to_it_and_overwrites_nothing(tmp_path: Path) -> None:
    settings = replace(FAST, store=f"sqlite:{tmp_path / 'shared.db'}")
    found: list[dict[str, str]] = []
    for name in ("one", "two"):
        async with open_simulation(settings, folder=tmp_path / name) as simulation:
            for _ in range(10):
                await simulation.step()
            mind = simulation.agent("Jade").subconscious
            assert mind is not None
            ever = MemoryFilter(include_superseded=True)
            found.append({str(m.id): m.summary for m in await mind.collection.recent(10_000, filter=ever)})
    first, second = found
    assert len(second) > len(first)
    assert {one: second[one] for one in first} == first
    assert read_info(tmp_path / "one").id != read_info(tmp_path / "two").id


async def test_memories_forgotten_in_between_do_not_bring_an_old_run_back(tmp_path: Path) -> None:
    settings = replace(FAST, store=f"sqlite:{tmp_path / 'shared.db'}")
    async with open_simulation(settings) as simulation:
        first = simulation.run
        for agent in simulation.agents.values():
            mind = agent.subconscious
            assert mind is not None
            await mind.collection.forget([m.id for m in await mind.collection.recent(100)], simulation.time)
    async with open_simulation(settings) as simulation:
        assert simulation.run != first


async def test_seeds_are_given_once(tmp_path: Path) -> None:
    settings = replace(FAST, store=f"sqlite:{tmp_path / 'shared.db'}")
    counts: list[int] = []
    for _ in range(2):
        async with open_simulation(settings) as simulation:
            mind = simulation.agent("Jade").subconscious
            assert mind is not None
            counts.append(await mind.collection.count())
            assert counts[-1] == len(simulation.scenario.seeds["Jade"])
    assert counts[0] == counts[1] > 0


# --- the operator ---------------------------------------------------------------------------------------------------


async def test_the_operators_hand_moves_what_can_be_moved_and_is_on_record(tmp_path: Path) -> None:
    async with open_simulation(FAST, folder=tmp_path / "run") as simulation:
        assert simulation.place("red_ball", 100.0, 100.0).ok
        assert simulation.world.items["red_ball"].position == Position(100, 100)
        refused = simulation.place("lab_door", 60.0, 60.0)
        assert not refused.ok
        assert refused.sentence
        simulation.set_strength("Jade", 0.9)
        with pytest.raises(UnknownAgent, match="there is no agent Bo"):
            simulation.set_strength("Bo", 0.9)
        with pytest.raises(ValueError, match="outside 0 to 1"):
            simulation.set_strength("Jade", 1.1)
        await simulation.step()
        assert simulation.agent("Jade").conscious.persona.strength == 0.9
    operator = [event for event in read_events(tmp_path / "run") if event.kind == "operator"]
    assert [(event.agent, event.body["do"]) for event in operator] == [
        ("red_ball", "place"),
        ("lab_door", "place"),
        ("Jade", "set_strength"),
    ]


async def test_strength_sets_the_temperature_of_the_characters_call_alone() -> None:
    async with open_simulation(DELIBERATE) as simulation:
        before = next(trace for trace in await simulation.step() if trace.agent == "Jade")
        simulation.set_strength("Jade", 1.0)
        after = next(trace for trace in await simulation.step() if trace.agent == "Jade")
        assert after.decision.calls[0].temperature == 0.1
        assert before.decision.calls[0].temperature != 0.1
        assert after.remembered.calls[0].temperature == before.remembered.calls[0].temperature


def _says(text: str) -> str:
    return render_turn(Turn(reflection=Reflection(), call=ToolCall(tool="say", arguments={"text": text})))
