"""Names become parts, what can't be had is told with its cure, and everything opened is closed."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from importlib.resources import files
from pathlib import Path

import pytest

from simuverse.agents.backends.scripted import Scripted
from simuverse.agents.turn import Persona
from simuverse.config import Secret, Settings, load
from simuverse.errors import (
    MissingExtra,
    MissingKey,
    RunFolderError,
    ScenarioError,
    SettingsError,
    StoreMismatch,
    UnknownAgent,
)
from simuverse.memory.clock import ManualClock
from simuverse.memory.embedders.hashing import HashingEmbedder
from simuverse.memory.recall import RecallSettings
from simuverse.memory.records import Source
from simuverse.memory.scoring import preset
from simuverse.memory.stores.sqlite import SQLiteStore
from simuverse.memory.word_vectors import WordVectors
from simuverse.parts import described, open_embedder, open_model, open_store, store_path
from simuverse.sources import memories
from simuverse.wiring import (
    next_folder,
    open_dialogue,
    open_mind,
    open_simulation,
    open_subconscious,
    subconscious_name,
)
from simuverse.world.journal import read_info
from tests.agents.minds import NOW

FAST = Settings(embedder="hashing")
KEY = "sk-alder-8150"
WITH_KEYS = replace(
    FAST,
    openai_api_key=Secret(KEY),
    anthropic_api_key=Secret(KEY),
    weaviate_api_key=Secret(KEY),
    ollama_host="127.0.0.1:9",
)


def assert_ended(before: list[threading.Thread]) -> None:
    """No thread lives on that wasn't there ``before``: a store has one as long as it is open."""
    for thread in threading.enumerate():
        if thread not in before:
            thread.join(10)
            assert not thread.is_alive()


# --- names ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["", "gpt-4o", "rehearsal:1", "opnai:gpt-4o", "openai", "openai:", ":x", "local:"])
async def test_what_is_no_model_is_told_how_models_are_written(name: str) -> None:
    with pytest.raises(SettingsError, match=f"'{name}' is not a model. Models are written provider:model, for example"):
        await open_model(name, FAST)


@pytest.mark.parametrize("name", ["ollama:qwen2.5:14b", "openai:gpt-4o-mini", "anthropic:claude-sonnet-4-5"])
async def test_a_model_bears_the_name_that_was_typed(name: str) -> None:
    model = await open_model(name, WITH_KEYS)
    assert model.name == name
    await model.aclose()


@pytest.mark.parametrize(
    ("name", "variable"), [("openai:gpt-4o-mini", "OPENAI_API_KEY"), ("anthropic:claude-x", "ANTHROPIC_API_KEY")]
)
async def test_a_missing_key_is_named_for_the_provider_in_use_alone(name: str, variable: str) -> None:
    with pytest.raises(MissingKey, match=variable):
        await open_model(name, FAST)
    keyless = await open_model("ollama:qwen", FAST)
    await keyless.aclose()


@pytest.mark.parametrize(
    ("open_it", "name", "module", "extra"),
    [
        (open_model, "openai:gpt-4o-mini", "openai", "openai"),
        (open_model, "anthropic:claude-x", "anthropic", "anthropic"),
        (open_model, "ollama:qwen", "ollama", "ollama"),
        (open_model, "local:smollm2", "xllamacpp", "local"),
        (open_embedder, "openai:text-embedding-3-small", "openai", "openai"),
        (open_embedder, "ollama:nomic-embed-text", "ollama", "ollama"),
        (
            open_embedder,
            "sentence-transformers:all-MiniLM-L6-v2",
            "sentence_transformers",
            "sentence-transformers",
        ),
    ],
)
async def test_a_missing_extra_is_told_with_the_line_that_installs_it(
    open_it: Callable[[str, Settings], Awaitable[object]],
    name: str,
    module: str,
    extra: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra) as error:
        await open_it(name, WITH_KEYS)
    assert f'pip install "simu-verse[{extra}]"' in str(error.value)


@pytest.mark.parametrize(
    "name", ["", "word2vec", "wordllama:x", "hashing:2", "ollama:", "openai", "sentence-transformers:"]
)
async def test_what_is_no_embedder_is_told_which_there_are(name: str) -> None:
    with pytest.raises(SettingsError, match=f"'{name}' is not an embedder. Embedders: wordllama, hashing, "):
        await open_embedder(name, FAST)


@pytest.mark.parametrize(
    ("host", "address"),
    [
        (None, "http://127.0.0.1:11434"),
        ("0.0.0.0", "http://0.0.0.0:11434"),
        ("kitchen:11500", "http://kitchen:11500"),
        ("https://models.example", "https://models.example"),
    ],
)
async def test_ollamas_own_variable_may_hold_what_ollama_takes(
    host: str | None, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def made(self: object, model: str, *, base_url: str, timeout: float) -> None:
        asked.append(base_url)

    monkeypatch.setattr("simuverse.agents.backends.ollama.OllamaModel.__init__", made)
    await open_model("ollama:qwen", replace(FAST, ollama_host=host))
    assert asked == [address]


async def test_the_embedder_that_is_asked_for_is_the_one_that_opens() -> None:
    for name, dimension in (("wordllama", 256), ("hashing", HashingEmbedder.dimension)):
        embedder = await open_embedder(name, FAST)
        assert (embedder.name, embedder.dimension) == (name, dimension)
        await embedder.aclose()


async def test_an_embedder_of_sentences_has_the_defaults_words_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    async def opened(_model: str, **_options: object) -> HashingEmbedder:
        sentences = HashingEmbedder()
        sentences.name = "openai:small"
        return sentences

    monkeypatch.setattr("simuverse.memory.embedders.openai.OpenAIEmbedder.open", opened)
    embedder = await open_embedder("openai:small", FAST)
    assert isinstance(embedder, WordVectors)
    assert described(embedder) == f"openai:small, {HashingEmbedder.dimension} dimensions; single words by wordllama"
    assert described(HashingEmbedder()) == f"hashing, {HashingEmbedder.dimension} dimensions"


@pytest.mark.parametrize("name", ["", "sqlite", "sqlite:", "memory", "memory:x", "postgres://db", "jade.db"])
async def test_what_is_no_store_is_told_which_there_are(name: str) -> None:
    with pytest.raises(SettingsError, match=f"'{name}' is not a store. Stores: sqlite:FILE, memory:"):
        await open_store(name, HashingEmbedder())


def test_a_stores_name_names_its_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert store_path("memory:") is None
    assert store_path("sqlite:a b/c:d.db") == Path("a b/c:d.db")
    assert store_path("sqlite:~/jade.db") == tmp_path / "jade.db"


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        (Settings(), "reflex"),
        (Settings(model="ollama:qwen"), "ollama:qwen"),
        (Settings(model="ollama:qwen", subconscious_model="reflex"), "reflex"),
        (Settings(subconscious_model="openai:gpt-4o-mini"), "openai:gpt-4o-mini"),
        (Settings(model="ollama:qwen", memory=False), "off"),
    ],
)
def test_second_minds_work_by_rule_beside_rehearsal_and_with_the_same_model_otherwise(
    settings: Settings, name: str
) -> None:
    assert subconscious_name(settings) == name


def test_minds_that_work_by_rule_can_not_be_told_to_judge() -> None:
    assert subconscious_name(Settings(model="ollama:qwen", judge=True)) == "ollama:qwen"
    assert subconscious_name(Settings(memory=False, judge=True)) == "off"
    with pytest.raises(SettingsError, match=r"^SIMUVERSE_JUDGE: judge is on, and .* Set subconscious_model to"):
        subconscious_name(load(environment={"SIMUVERSE_JUDGE": "on"}))


def test_the_next_run_folder_is_one_that_is_not_there(tmp_path: Path) -> None:
    names: list[str] = []
    for _ in range(3):
        folder = next_folder("grid", 7, parent=tmp_path)
        names.append(folder.name)
        folder.mkdir()
    assert names == ["grid-7", "grid-7-2", "grid-7-3"]
    assert next_folder("worlds/market.toml", 3, parent=tmp_path).name == "market-3"


# --- the subconscious alone -----------------------------------------------------------------------------------------


async def test_a_mind_of_ones_own_remembers_between_openings(tmp_path: Path) -> None:
    store = f"sqlite:{tmp_path / 'ada.db'}"
    async with open_subconscious("Ada", store=store, settings=FAST) as mind:
        await mind.remember("The blue kite hangs in the old oak.", said_by="Bo")
    async with open_subconscious("Ada", store=store, settings=FAST) as mind:
        recalled = await mind.recollect("Where is the blue kite?")
        assert [flashback.memory.provenance.speaker for flashback in recalled] == ["Bo"]


async def test_without_a_store_memories_end_with_the_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with open_subconscious("Ada", settings=FAST) as mind:
        await mind.remember("The blue kite hangs in the old oak.", said_by="Bo")
    async with open_subconscious("Ada", settings=FAST) as mind:
        assert await mind.collection.count() == 0
    assert list(tmp_path.iterdir()) == []


async def test_what_was_open_already_stays_open() -> None:
    embedder = HashingEmbedder()
    store = await SQLiteStore.open(None, embedder_name="hashing", dimension=HashingEmbedder.dimension)
    model = Scripted(
        ["<memory_queries><query><search_type>keyword</search_type><text>kite</text></query></memory_queries>"]
    )
    settings = RecallSettings(preset=preset("park"))
    persona = Persona(name="Ada", description="I fly kites.")
    async with open_subconscious(
        "Ada", store=store, embedder=embedder, model=model, persona=persona, clock=ManualClock(NOW), recall=settings
    ) as mind:
        assert (mind.model, mind.persona, mind.settings) == (model, persona, settings)
        assert mind.clock.now() == NOW
    assert await store.owners() == ["Ada"]
    await store.aclose()


async def test_names_of_model_and_embedder_are_resolved() -> None:
    async with open_subconscious("Ada", model="rehearsal", embedder="hashing", settings=Settings()) as mind:
        assert mind.mode == "deliberate"
        assert mind.embedder.name == "hashing"
        assert (await mind.recollect("Where is the kite?")).calls[0].model == "rehearsal"


async def test_what_opened_before_a_part_that_cannot_is_closed_again(tmp_path: Path) -> None:
    before = threading.enumerate()
    opening = open_subconscious("Ada", store=f"sqlite:{tmp_path / 'ada.db'}", model="nonsense", settings=FAST)
    with pytest.raises(SettingsError):
        await opening.__aenter__()
    assert_ended(before)


# --- a mind in a run or a store -------------------------------------------------------------------------------------


async def test_the_minds_of_a_run_are_found_with_the_embedder_it_was_made_with(tmp_path: Path) -> None:
    async with open_simulation(FAST, folder=tmp_path / "run"):
        pass
    async with open_mind(str(tmp_path / "run"), "Jade", Settings()) as mind:
        assert mind.embedder.name == "hashing"
        assert {m.provenance.source for m in await mind.collection.recent(100)} == {Source.SEED}
    for owner, told in (("Bo", "there is no agent Bo"), (None, "name one with --agent")):
        with pytest.raises(UnknownAgent, match=f"{told}.*Agents: Jade, Jamal, James, Jesse"):
            await open_mind(str(tmp_path / "run"), owner, Settings()).__aenter__()


async def test_a_run_on_another_store_is_looked_into_there(tmp_path: Path) -> None:
    settings = replace(FAST, store=f"sqlite:{tmp_path / 'shared.db'}")
    async with open_simulation(settings, folder=tmp_path / "run"):
        assert not (tmp_path / "run" / "memory.db").exists()
    async with memories(str(tmp_path / "run"), Settings()) as (store, _):
        assert await store.owners() == ["Jade", "Jamal", "James", "Jesse"]


async def test_of_a_store_with_one_owner_none_need_be_named(tmp_path: Path) -> None:
    source = f"sqlite:{tmp_path / 'ada.db'}"
    async with open_subconscious("Ada", store=source, settings=FAST) as mind:
        await mind.remember("The kite is blue.", said_by="Bo")
    async with open_mind(source, None, FAST) as mind:
        assert mind.owner == "Ada"


async def test_a_store_that_is_not_there_is_not_made_by_looking(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="there is no store sqlite:"):
        await open_mind(f"sqlite:{tmp_path / 'none.db'}", None, FAST).__aenter__()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("change", "told"), [({"store": "memory:"}, "'memory:'"), ({"memory": False}, "'none'")])
async def test_a_run_that_kept_no_memories_says_so(change: dict[str, object], told: str, tmp_path: Path) -> None:
    async with open_simulation(replace(FAST, **change), folder=tmp_path / "run"):  # type: ignore[arg-type]
        pass
    with pytest.raises(RunFolderError, match=f"kept no memories: its store was {told}"):
        await open_mind(str(tmp_path / "run"), "Jade", FAST).__aenter__()


async def test_a_store_of_another_embedder_is_refused_with_both_names(tmp_path: Path) -> None:
    source = f"sqlite:{tmp_path / 'ada.db'}"
    async with open_subconscious("Ada", store=source, settings=FAST):
        pass
    with pytest.raises(StoreMismatch, match="Go on with --embedder hashing"):
        await open_subconscious("Ada", store=source, settings=Settings()).__aenter__()


# --- a talk ---------------------------------------------------------------------------------------------------------


async def test_a_talk_goes_on_where_it_ended(tmp_path: Path) -> None:
    settings = replace(FAST, store=f"sqlite:{tmp_path / 'ada.db'}")
    async with open_dialogue("Ada", partner="Bo", settings=settings) as opened:
        await opened.dialogue.answer("The blue kite hangs in the old oak.")
        assert opened.parts.subconscious == "reflex"
    async with open_dialogue("Ada", partner="Bo", settings=settings) as opened:
        trace = await opened.dialogue.answer("Where is the blue kite?")
        assert trace.outcome.said is not None
        assert "old oak" in trace.outcome.said.text


async def test_a_talk_keeps_its_memories_in_a_file_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with open_dialogue("Ada", partner="Bo", settings=FAST) as opened:
        await opened.dialogue.answer("The kite is blue.")
    assert (tmp_path / "chat.db").exists()


async def test_both_minds_of_a_talk_share_a_model_unless_told_otherwise() -> None:
    settings = replace(FAST, store="memory:", subconscious_model="rehearsal")
    async with open_dialogue("Ada", partner="Bo", settings=settings) as opened:
        agent = opened.dialogue.agent
        assert agent.subconscious is not None
        assert agent.subconscious.model is agent.conscious.model


# --- a world --------------------------------------------------------------------------------------------------------


async def test_a_run_says_what_it_was_started_with_and_keeps_no_secret(tmp_path: Path) -> None:
    async with open_simulation(replace(WITH_KEYS, seed=3, preset="park"), folder=tmp_path / "run") as simulation:
        await simulation.step()
        parts = simulation.parts
    info = read_info(tmp_path / "run")
    assert (info.scenario, info.seed, info.model, info.subconscious) == ("grid", 3, "rehearsal", "reflex")
    assert (info.embedder, info.store, info.memory) == ("hashing", "sqlite:memory.db", True)
    assert info.agents == ("Jade", "Jamal", "James", "Jesse")
    assert parts.embedder == f"hashing, {HashingEmbedder.dimension} dimensions"
    assert "memory.db" in parts.store
    for file in (tmp_path / "run").iterdir():
        assert KEY.encode() not in file.read_bytes()


async def test_the_zone_of_a_run_is_its_scenarios_unless_a_setting_names_one(tmp_path: Path) -> None:
    grid = files("simuverse.world").joinpath("scenarios/grid.toml").read_text(encoding="utf-8")
    scenario = tmp_path / "east.toml"
    scenario.write_text(grid.replace("2026-06-01T08:00:00Z", "2026-06-01T08:00:00+09:00"), encoding="utf-8")
    for settings, hours in (
        (Settings(embedder="hashing"), 9),
        (Settings(embedder="hashing", zone="Asia/Kathmandu"), 5.75),
    ):
        async with open_simulation(replace(settings, scenario=str(scenario))) as simulation:
            minds = [agent.subconscious for agent in simulation.agents.values()]
            zones = {mind.settings.zone for mind in minds if mind is not None}
        assert [zone.utcoffset(NOW.replace(tzinfo=None)) for zone in zones] == [timedelta(hours=hours)]


async def test_a_zone_that_is_none_is_refused() -> None:
    with pytest.raises(SettingsError, match="isn't a time zone"):
        async with open_simulation(Settings(embedder="hashing", zone="Middle/Earth")):
            pass


async def test_without_memory_no_store_is_opened(tmp_path: Path) -> None:
    async with open_simulation(replace(FAST, memory=False), folder=tmp_path / "run") as simulation:
        assert simulation.parts.store == "none: memory is off"
        assert simulation.parts.subconscious == "off"
        assert all(agent.subconscious is None for agent in simulation.agents.values())
    assert not (tmp_path / "run" / "memory.db").exists()


async def test_second_minds_may_have_a_model_of_their_own(tmp_path: Path) -> None:
    async with open_simulation(replace(FAST, subconscious_model="rehearsal")) as simulation:
        traces = await simulation.step()
        assert {trace.recollection.mode for trace in traces} == {"deliberate"}


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"model": "nonsense"}, SettingsError),
        ({"subconscious_model": "nonsense"}, SettingsError),
        ({"embedder": "nonsense"}, SettingsError),
        ({"scenario": "nonsense"}, ScenarioError),
        ({"preset": "nonsense"}, SettingsError),
    ],
)
async def test_a_world_that_cannot_be_opened_leaves_no_run_and_nothing_open(
    change: dict[str, object], error: type[Exception], tmp_path: Path
) -> None:
    before = threading.enumerate()
    settings = replace(FAST, **change)  # type: ignore[arg-type]
    with pytest.raises(error, match="nonsense"):
        await open_simulation(settings, folder=tmp_path / "run").__aenter__()
    assert_ended(before)
    assert list(tmp_path.iterdir()) == []


async def test_two_runs_at_once_have_their_own_folders_and_memories(tmp_path: Path) -> None:
    async def live(name: str, seed: int) -> dict[str, object]:
        async with open_simulation(replace(FAST, seed=seed), folder=tmp_path / name) as simulation:
            await simulation.step()
        return dict(json.loads((tmp_path / name / "run.json").read_bytes()))

    one, two = await asyncio.gather(live("one", 1), live("two", 2))
    assert (one["seed"], two["seed"]) == (1, 2)
