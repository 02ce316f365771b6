"""What fitted weights are worth on dialogues that they weren't fitted on.

    python -m benchmarks.held_out --data DIR --json benchmarks/results/held_out.json

Every combination of some round weights is measured on each dialogue by itself, the gate open. Those that are best on
all but two dialogues are then read off on these two, for every two: beside them the weights as shipped. Best is the sum
of the recall at 10 and of three tenths of that of the questions whose answer lies in several turns.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from benchmarks.machine import machine
from simuverse.bench.dialogues import Dialogue, load_dialogues
from simuverse.bench.recall import UNGATED, Measured, measure_recall
from simuverse.memory.embedders.wordllama import WordLlamaEmbedder
from simuverse.memory.relevance import RelevanceWeights
from simuverse.memory.stores.sqlite import SQLiteStore

HELD_OUT = 2

WEIGHTS = {"words": (1.0, 1.5), "context": (1.0, 1.5), "meaning": (1.0, 1.5), "speaker": (0.2, 0.3, 0.4)}

SEVERAL = "multi-hop"
"""Category of the questions whose answer lies in several turns."""

SHIPPED = "shipped"


class Recall(NamedTuple):
    """Share of the evidence among the first ten, of 100, of all questions and of those of :data:`SEVERAL`."""

    all: float
    several: float

    @property
    def worth(self) -> float:
        return self.all + 0.3 * self.several


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--data", type=Path, required=True, help="folder of dialogues, as for `simuverse bench recall`")
    asked.add_argument("--json", type=Path, help="file that is written beside the table")
    options = asked.parse_args()
    dialogues = load_dialogues(options.data)
    if len(dialogues) <= HELD_OUT:
        raise SystemExit(f"{options.data} holds {len(dialogues)} dialogues; more than {HELD_OUT} are needed")
    found = parted(asyncio.run(_measured(dialogues)))
    figures = {name: recall._asdict() for name, recall in found.items()}
    if options.json:
        options.json.write_text(json.dumps({**machine(), "held_out": figures}, indent=1) + "\n")
    for name, recall in found.items():
        print(f"{name:<8} all {recall.all:.1f}  {SEVERAL} {recall.several:.1f}")


async def _measured(dialogues: Sequence[Dialogue]) -> tuple[Measured, ...]:
    """Of each dialogue under each setting."""
    settings = {SHIPPED: UNGATED}
    for values in product(*WEIGHTS.values()):
        weights = replace(RelevanceWeights(), **dict(zip(WEIGHTS, values, strict=True)))
        settings[" ".join(map(str, values))] = replace(UNGATED, relevance=weights)
    embedder = await WordLlamaEmbedder.open()
    store = await SQLiteStore.open(None, embedder_name=embedder.name, dimension=embedder.dimension)
    try:
        bench = await measure_recall(
            {dialogue.name: [dialogue] for dialogue in dialogues},
            store,
            embedder,
            settings=settings,
            on_progress=lambda text: print(text, file=sys.stderr),
        )
    finally:
        await store.aclose()
    return bench.measured


def parted(measured: Sequence[Measured]) -> dict[str, Recall]:
    """Means over all ways to hold dialogues out: of what is best on the others, and of what is shipped."""
    by: dict[str, dict[str, Measured]] = {}
    for one in measured:
        by.setdefault(one.setting, {})[one.source] = one
    names = list(by[SHIPPED])
    fitted: list[Recall] = []
    shipped: list[Recall] = []
    for out in combinations(names, HELD_OUT):
        seen = [name for name in names if name not in out]
        best = max(by, key=lambda setting: _joined([by[setting][name] for name in seen]).worth)
        fitted.append(_joined([by[best][name] for name in out]))
        shipped.append(_joined([by[SHIPPED][name] for name in out]))
    return {
        name: Recall(fmean(one.all for one in found), fmean(one.several for one in found))
        for name, found in (("fitted", fitted), (SHIPPED, shipped))
    }


def _joined(dialogues: Sequence[Measured]) -> Recall:
    def mean(category: str) -> float:
        rows = [row for one in dialogues for row in one.categories if row.category == category]
        count = sum(row.questions for row in rows)
        return 100 * sum(row.at_10.mean * row.questions for row in rows) / count if count else 0.0

    return Recall(mean("all"), mean(SEVERAL))


if __name__ == "__main__":
    main()
