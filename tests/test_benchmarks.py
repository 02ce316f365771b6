"""What ``benchmarks/`` measures with, as far as it runs without the peers' environment."""

from __future__ import annotations

import asyncio
import json
import os
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import numpy as np
import pytest

import benchmarks
from benchmarks import held_out, report
from benchmarks.peers import simuverse_recall, worker
from benchmarks.peers.embeddings_address import embeddings_address
from benchmarks.peers.peer import PEERS, Place
from benchmarks.plot import Line, plot
from benchmarks.stamp import stamped
from simuverse.bench.recall import Figures, Measured, Share
from simuverse.memory.embedders.wordllama import WordLlamaEmbedder

TEXTS = ["The kettle is blue.", "A goat ate the map.", "We rowed to the island."]


@pytest.fixture
def given(tmp_path: Path) -> Path:
    vectors = np.eye(3, 4, dtype=np.float32)
    (tmp_path / "texts.json").write_text(json.dumps(TEXTS))
    questions = {"questions": ["Who rowed?", "goat"], "dimension": 4, "address": "", "seconds": 60}
    (tmp_path / "given.json").write_text(json.dumps(questions))
    np.save(tmp_path / "vectors.npy", vectors)
    np.save(tmp_path / "question_vectors.npy", vectors[[2, 1]])
    return tmp_path


def test_a_peer_is_filled_in_one_process_and_searched_in_another(
    given: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    worker.main("plain_script", "fill", str(given))
    filled = json.loads(capsys.readouterr().out)
    assert filled["added"] == 3
    assert filled["disk_mb"] > 0
    worker.main("plain_script", "search", str(given))
    searched = json.loads(capsys.readouterr().out)
    assert [found[0] for found in searched["found"]] == [2, 1]
    assert len(searched["times"]) == 2
    assert searched["start_ms"] > 0


async def test_the_projects_own_peer_finds_the_number_of_the_text(tmp_path: Path) -> None:
    embedder = await WordLlamaEmbedder.open()
    vectors = await embedder.embed(TEXTS)
    place = Place(folder=tmp_path, dimension=embedder.dimension, address="")

    def numbers() -> list[int]:
        peer = simuverse_recall.Opened(place)
        peer.add(0, TEXTS[:2], vectors[:2])
        peer.add(2, TEXTS[2:], vectors[2:])
        found = peer.search("Where is the goat with the map?", vectors[0], 3)
        peer.close()
        return found

    assert (await asyncio.to_thread(numbers))[0] == 1


def test_every_peer_has_a_file() -> None:
    folder = Path(worker.__file__).parent
    assert all((folder / f"{name}.py").is_file() for name in PEERS)


def test_the_address_answers_as_openais_does_and_refuses_what_it_has_no_vector_of() -> None:
    vectors = {"one": np.array([0.5, 0.25], dtype=np.float32)}

    def asked(base: str, text: str) -> bytes:
        body = json.dumps({"input": [text], "model": "given"}).encode()
        with urlopen(Request(f"{base}/embeddings", body, {"Content-Type": "application/json"})) as answer:
            content: bytes = answer.read()
            return content

    with embeddings_address(vectors) as base:
        assert json.loads(asked(base, "one"))["data"] == [{"object": "embedding", "index": 0, "embedding": [0.5, 0.25]}]
        with pytest.raises(HTTPError, match="400") as refused:
            asked(base, "two")
        refused.value.close()


@pytest.mark.parametrize("logarithmic", [True, False])
def test_a_plot_is_an_svg_whose_points_rise_as_the_figures_do(logarithmic: bool) -> None:
    line = Line(name="SQLite & more", points=[(1000, 1.5), (10_000, 4), (100_000, 30)])
    drawn = ET.fromstring(plot("A <title>", [line], x="memories", y="ms", logarithmic=logarithmic))
    circles = drawn.findall("{http://www.w3.org/2000/svg}circle")
    across, up = ([float(circle.attrib[axis]) for circle in circles] for axis in ("cx", "cy"))
    assert across == sorted(across)
    assert up == sorted(up, reverse=True)
    assert min(up) >= 44


def test_a_table_is_put_between_the_comments_that_name_it() -> None:
    text = "before\n<!-- peers -->\nold\n<!-- /peers -->\nafter"
    assert report._replaced(text, "peers", "new") == "before\n<!-- peers -->\nnew\n<!-- /peers -->\nafter"
    with pytest.raises(SystemExit, match="<!-- start -->"):
        report._replaced(text, "start", "new")


def test_every_table_of_the_page_has_its_place() -> None:
    for name, (page, _) in report.TABLES.items():
        text = (report.DOCS / page).read_text()
        assert f"<!-- {name} -->" in text
        assert f"<!-- /{name} -->" in text


def test_every_table_is_measured_by_make_bench() -> None:
    recipe = (report.DOCS.parent / "Makefile").read_text()
    assert {name for name in report.TABLES if f"benchmarks/results/{name}.json" not in recipe} == set()


def test_weights_fitted_on_some_dialogues_are_read_off_on_the_others() -> None:
    def of(setting: str, source: str, at_10: float) -> Measured:
        mean = Share(mean=at_10, low=0, high=1)
        figures = Figures(category="all", questions=10, at_5=mean, at_10=mean, at_20=mean, all_at_10=mean, mrr=mean)
        return Measured(source=source, setting=setting, categories=(figures,), p50_ms=1, p95_ms=1)

    shares = {"shipped": (0.5, 0.5, 0.5), "for a": (1.0, 0.0, 0.0), "for b": (0.0, 0.6, 0.2)}
    measured = [
        of(name, source, share) for name, row in shares.items() for source, share in zip("abc", row, strict=True)
    ]
    found = held_out.parted(measured)
    # Fitted on c: shipped, 0.5 and 0.5; on b: its own, 0.0 and 0.2; on a: its own, 0.0 and 0.0.
    assert found["fitted"].all == pytest.approx(100 * (0.5 + 0.1 + 0.0) / 3)
    assert found["shipped"].all == pytest.approx(50)


def test_what_a_command_printed_stands_as_it_is() -> None:
    assert report._text({"text": "a  b \n\n 1\n"}) == "```text\na  b\n\n 1\n```"


def test_what_is_kept_of_a_run_names_no_place_on_the_machine() -> None:
    kept = stamped({"store": "SQLite /home/ada/bench.db", "measured": [1]})
    assert (kept["store"], kept["measured"], kept["cores"]) == ("SQLite", [1], os.cpu_count())
    assert "store" not in stamped({"measured": []})
    printed = "store 1: SQLite /tmp/x/bench.db\nstore 2: Weaviate 1.39.0 at http://10.0.0.7:8080, no key\n 5 ms"
    assert stamped({"text": printed})["text"] == "store 1: SQLite\nstore 2: Weaviate 1.39.0, no key\n 5 ms"
    for file in (Path(benchmarks.__file__).parent / "results").glob("*.json"):
        assert not re.search(r'"[^"]*(?<![\w.])/\w+/', file.read_text()), file
