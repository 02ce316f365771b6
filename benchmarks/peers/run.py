"""Measures every peer, each in a process of its own, one after another; writes JSON and prints the tables.

    python -m benchmarks.peers.run --sizes 1000,10000,100000 --json benchmarks/results/peers.json

Needs ``make peers``. Figures depend on the machine; ratios less so.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.machine import machine
from benchmarks.peers.embeddings_address import embeddings_address
from benchmarks.peers.peer import PEERS
from simuverse import parts
from simuverse.bench.dialogues import Dialogue, Turn, paraphrases
from simuverse.bench.invented_texts import InventedTexts
from simuverse.bench.recall import UNGATED, measure_recall
from simuverse.config import Settings
from simuverse.memory.embedding import Embedder, Vectors

ROOT = Path(__file__).parents[2]
PEERS_PYTHON = ROOT / ".venv-peers" / "bin" / "python"
OWN = "simuverse_recall"
QUESTIONS = 100
_EMBEDDED_AT_ONCE = 1_000
_IMPORTS = 5
"""Processes that an import is timed in; the median counts."""


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--sizes", default="1000,10000,100000", help="numbers of texts, by commas")
    asked.add_argument("--peers", default=",".join(PEERS), help="which, by commas")
    asked.add_argument("--seconds", type=float, default=120, help="after which adding stops, and searching too")
    asked.add_argument("--json", type=Path, help="file that is written beside the tables")
    options = asked.parse_args()
    names = options.peers.split(",")
    sizes = [int(size) for size in options.sizes.split(",")]
    measured = asyncio.run(_measure(names, sizes, options.seconds))
    if options.json:
        options.json.write_text(json.dumps(measured, indent=1) + "\n")
    print(table(measured))


async def _measure(names: Sequence[str], sizes: Sequence[int], seconds: float) -> dict[str, Any]:
    embedder = await parts.open_embedder("wordllama", Settings())
    imports = {name: _import_ms(name) for name in names}
    speed: list[dict[str, Any]] = []
    cut: set[str] = set()
    """Who didn't take all in time, and won't take more."""
    for size in sizes:
        drawn = InventedTexts(1)
        texts = list(dict.fromkeys(drawn.draw(size)))
        questions = [text.removesuffix(".") for text in drawn.draw(QUESTIONS)]
        given = await _given(embedder, texts, questions, seconds)
        for name in names:
            if name in cut:
                continue
            _tell(f"{size}: {name}")
            row = {"peer": name, "size": size, **_speed(name, given)}
            speed.append(row)
            if row["added"] < len(texts):
                cut.add(name)
    quality = {name: await _quality(name, embedder, seconds) for name in names}
    return {
        **machine(),
        "seconds": seconds,
        "import_ms": imports,
        "speed": speed,
        "recall_at_10": quality,
    }


async def _given(embedder: Embedder, texts: Sequence[str], questions: Sequence[str], seconds: float) -> dict[str, Any]:
    return {
        "dimension": embedder.dimension,
        "texts": list(texts),
        "vectors": await _vectors(embedder, texts),
        "questions": list(questions),
        "question_vectors": await _vectors(embedder, questions),
        "seconds": seconds,
    }


async def _vectors(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    steps = range(0, len(texts), _EMBEDDED_AT_ONCE)
    rows = [await embedder.embed(texts[at : at + _EMBEDDED_AT_ONCE]) for at in steps]
    return np.concatenate(rows)


def _speed(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    measured = _run(name, given)
    p50, p95 = np.percentile(measured.pop("times"), (50, 95))
    del measured["found"]
    return {**measured, "p50_ms": float(p50), "p95_ms": float(p95)}


async def _quality(name: str, embedder: Embedder, seconds: float) -> float:
    """Share of the evidence among the first ten, over the questions of two invented dialogues."""
    dialogues = paraphrases()
    if name == OWN:
        with tempfile.TemporaryDirectory() as scratch:
            store = await parts.open_store(f"sqlite:{scratch}/bench.db", embedder, Settings())
            try:
                settings = {"order": UNGATED}
                measured = await measure_recall({"paraphrase": dialogues}, store, embedder, settings=settings)
            finally:
                await store.aclose()
        return measured.measured[0].total.at_10.mean
    shares: list[float] = []
    for dialogue in dialogues:
        shares += await _peers_quality(name, dialogue, embedder, seconds)
    return float(np.mean(shares))


async def _peers_quality(name: str, dialogue: Dialogue, embedder: Embedder, seconds: float) -> list[float]:
    turns: list[Turn] = [turn for session in dialogue.sessions for turn in session]
    texts = [f"{turn.speaker}: {turn.text}" for turn in turns]
    given = await _given(embedder, texts, [question.text for question in dialogue.questions], seconds)
    found: list[list[int]] = _run(name, given)["found"]
    return [
        len(question.evidence.intersection(turns[number].id for number in numbers)) / len(question.evidence)
        for question, numbers in zip(dialogue.questions, found, strict=True)
    ]


def _run(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Fills in one process, searches in the next."""
    texts = dict(
        zip([*given["texts"], *given["questions"]], [*given["vectors"], *given["question_vectors"]], strict=True)
    )
    with tempfile.TemporaryDirectory() as scratch, embeddings_address(texts) as address:
        files = {**given, "address": address}
        for array in ("vectors", "question_vectors"):
            np.save(Path(scratch) / f"{array}.npy", files.pop(array))
        (Path(scratch) / "texts.json").write_text(json.dumps(files.pop("texts")))
        (Path(scratch) / "given.json").write_text(json.dumps(files))
        measured: dict[str, Any] = {}
        for step in ("fill", "search") if PEERS[name].keeps else ("search",):
            measured |= json.loads(_output(name, ["-m", "benchmarks.peers.worker", name, step, scratch], home=scratch))
        return measured


def _output(name: str, arguments: Sequence[str], *, home: str) -> str:
    """Of the peer's own Python; what it reports to its makers is turned off.

    Raises:
        SystemExit: it failed, with what it said.
    """
    python = sys.executable if name == OWN else str(PEERS_PYTHON)
    environment = {"PATH": os.defpath, "HOME": home, "MEM0_TELEMETRY": "False", "ANONYMIZED_TELEMETRY": "False"}
    done = subprocess.run([python, *arguments], capture_output=True, text=True, cwd=ROOT, env=environment, check=False)
    if done.returncode:
        raise SystemExit(f"{name} {' '.join(arguments)}:\n{done.stderr[-3000:]}")
    return done.stdout.strip().splitlines()[-1] if done.stdout.strip() else ""


def _import_ms(name: str) -> float:
    """What the import takes beyond starting Python."""
    with tempfile.TemporaryDirectory() as home:

        def timed(program: str) -> float:
            times: list[float] = []
            for _ in range(_IMPORTS):
                started = perf_counter()
                _output(name, ["-c", program], home=home)
                times.append(1000 * (perf_counter() - started))
            return median(times)

        return timed(PEERS[name].imported) - timed("pass")


def table(measured: Mapping[str, Any]) -> str:
    """As Markdown."""
    lines = [
        f"Adding and searching stop after {measured['seconds']:,.0f} seconds each.",
        "",
        "| texts | | version | found by | p50 ms | p95 ms | start ms | add many/s | add one/s | disk MB | memory MB |",
        "|--:|---|---|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for row in measured["speed"]:
        known = PEERS[row["peer"]]
        lines.append(
            f"| {row['added']:,} | {known.package or 'plain script'} | {row['version']} | {known.finds_by} "
            f"| {row['p50_ms']:.1f} | {row['p95_ms']:.1f} | {_cell(row['start_ms'])} | {row['many_a_second']:,.0f} "
            f"| {row['single_a_second']:,.0f} | {_cell(row.get('disk_mb'))} | {_cell(row['memory_mb'])} |"
        )
    lines += ["", "| | import ms | recall at 10, paraphrases |", "|---|--:|--:|"]
    for name, milliseconds in measured["import_ms"].items():
        found = 100 * measured["recall_at_10"][name]
        lines.append(f"| {PEERS[name].package or 'plain script'} | {milliseconds:,.0f} | {found:.1f} |")
    return "\n".join(lines)


def _cell(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}"


def _tell(step: str) -> None:
    print(step, file=sys.stderr)


if __name__ == "__main__":
    main()
