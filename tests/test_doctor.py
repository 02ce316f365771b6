"""The doctor: what is used, whether it works, and what to do if not."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from simuverse import doctor
from simuverse.config import Secret, Settings
from simuverse.doctor import Finding, examine
from simuverse.wiring import open_subconscious
from tests.fakes.http_server import fake_server, json_answer

FAST = Settings(embedder="hashing")
KEY = "sk-rowan-2209"


async def findings(settings: Settings) -> dict[str, Finding]:
    return {finding.part: finding for finding in await examine(settings)}


async def test_with_nothing_set_all_is_well_and_rehearsal_says_what_it_is() -> None:
    found = await findings(Settings())
    assert list(found) == ["program", "model", "mind", "embedder", "store", "extras"]
    assert all(finding.ok and finding.exit_code == 0 for finding in found.values())
    assert found["model"].what == "rehearsal: fixed rules, not a language model"
    assert found["mind"].what == "reflex: rules, no model call"
    assert found["embedder"].what == "wordllama, 256 dimensions"
    assert "--embedder sentence-transformers:all-MiniLM-L6-v2" in found["embedder"].cure


async def test_an_embedder_for_tests_is_told_to_be_one() -> None:
    assert "for tests" in (await findings(FAST))["embedder"].cure


async def test_minds_that_are_off_or_share_the_model_are_told_apart() -> None:
    assert (await findings(replace(FAST, memory=False)))["mind"].what == "off: no memory"
    same = await findings(replace(FAST, subconscious_model="rehearsal"))
    assert same["mind"].what == "rehearsal, the same as the model"
    other = await findings(replace(FAST, subconscious_model="nonsense"))
    assert not other["mind"].ok


@pytest.mark.parametrize(
    ("settings", "part", "code", "cure"),
    [
        (replace(FAST, model="nonsense"), "model", 2, "Models are written provider:model"),
        (replace(FAST, model="openai:gpt-4o-mini"), "model", 2, "OPENAI_API_KEY"),
        (Settings(embedder="nonsense"), "embedder", 2, "Embedders: wordllama"),
        (replace(FAST, store="nonsense"), "store", 2, "Stores: sqlite:FILE"),
    ],
)
async def test_what_cannot_be_had_is_told_with_its_cure_and_the_rest_is_still_examined(
    settings: Settings, part: str, code: int, cure: str
) -> None:
    found = await findings(settings)
    assert (found[part].ok, found[part].exit_code) == (False, code)
    assert cure in found[part].cure
    assert found["extras"].ok
    same = ["mind"] if part == "model" else []  # which is the model too
    assert [name for name, finding in found.items() if not finding.ok] == [part, *same]


@pytest.mark.parametrize(
    "store",
    [
        "weaviate:http://localhost:8080?api_key=sEcret",
        "weaviate:sEcret@localhost:8080",
        "weaviate:http://user:sE/cr?et@localhost",
        "http://sEcret@localhost:8080",
        "http://localhost:8080?api_key=sEcret",
    ],
)
async def test_a_key_in_a_store_s_name_is_refused_and_not_repeated(store: str) -> None:
    found = (await findings(replace(FAST, store=store)))["store"]
    assert (found.ok, found.exit_code) == (False, 2)
    assert "sE" not in found.what + found.cure
    assert "cr" not in found.what


async def test_a_model_that_answers_says_so_and_one_that_does_not_says_what_to_do() -> None:
    async with fake_server() as server:
        settings = replace(
            FAST, model="openai:tiny", openai_api_key=Secret(KEY), openai_base_url=f"{server.address}/v1"
        )
        reply = {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": "tiny-1",
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Yes."}}],
        }
        server.script(json_answer(reply))
        assert (await findings(settings))["model"].what.startswith("openai:tiny answers, as tiny-1, in ")
        server.script(json_answer({"error": {"message": f"bad key {KEY}"}}, status=401))
        refused = (await findings(settings))["model"]
        server.script(json_answer({"error": {"message": "no such model"}}, status=404))
        unknown = (await findings(settings))["model"]
    for finding in (refused, unknown):
        assert (finding.ok, finding.exit_code) == (False, 4)
        assert finding.cure
        assert KEY not in f"{finding}"


async def test_a_store_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    found = await findings(replace(FAST, store=f"sqlite:{tmp_path / 'none.db'}"))
    assert found["store"].ok
    assert "not there yet" in found["store"].what
    assert list(tmp_path.iterdir()) == []


async def test_a_store_is_shown_with_its_owners_and_their_memories(tmp_path: Path) -> None:
    settings = replace(FAST, store=f"sqlite:{tmp_path / 'shared.db'}")
    for name, times in (("Ada", 2), ("Bo", 1)):
        async with open_subconscious(name, settings=settings) as mind:
            for number in range(times):
                await mind.remember(f"Kite number {number} is blue.", said_by="Cy")
    found = (await findings(settings))["store"]
    assert found.ok
    assert "memories: Ada 2, Bo 1" in found.what
    mismatch = (await findings(replace(settings, embedder="wordllama")))["store"]
    assert (mismatch.ok, mismatch.exit_code) == (False, 4)
    assert "--embedder hashing" in mismatch.cure


async def test_extras_that_are_missing_are_named_with_the_line_that_installs_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def spec(name: str) -> ModuleSpec | None:
        return None if name in ("openai", "xllamacpp") else importlib.util.find_spec("json")

    monkeypatch.setattr(doctor, "find_spec", spec)
    extras = (await findings(FAST))["extras"]
    assert extras.what == (
        "installed: weaviate, anthropic, ollama, sentence-transformers; not installed: openai, local"
    )
    assert extras.cure == 'to add one: pip install "simu-verse[openai]"'
    assert extras.ok
