"""Recall with one part switched off, or done another way, at a time: what each part adds or costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import fields, replace
from datetime import timedelta
from functools import partial
from typing import NamedTuple

from simuverse.bench.dialogues import Dialogue
from simuverse.bench.recall import SHIPPED, UNGATED, RecallBench, measure_recall
from simuverse.memory.analysis import read_without
from simuverse.memory.embedding import Embedder, TextKind, Vectors
from simuverse.memory.recall import RecallSettings
from simuverse.memory.relevance import RelevanceWeights
from simuverse.memory.scoring import PRESETS
from simuverse.memory.store import MemoryStore

FULL = "everything"
"""The setting that the others are compared with."""

HOUR = timedelta(hours=1)
"""A step of the presets that count in steps: sessions lie days apart, and after ten thousand steps nothing is left."""

_RAMP = ("ramp_from", "ramp_to", "ramp_least")


def ablations() -> Mapping[str, RecallSettings]:
    """Settings by what differs from the first of them."""
    weights = UNGATED.relevance
    signals = [field.name for field in fields(RelevanceWeights) if field.name not in _RAMP]
    found = {FULL: UNGATED}
    for name in signals:
        found[f"no {name.replace('_', ' ')}"] = replace(UNGATED, relevance=replace(weights, **{name: 0.0}))
    found["no ramp"] = replace(UNGATED, relevance=replace(weights, ramp_least=1.0))
    factors = UNGATED.preset.weights
    for name in ("importance", "recency"):
        off = replace(UNGATED.preset, weights=replace(factors, **{name: 0.0}))
        found[f"no {name}"] = replace(UNGATED, preset=off)
    found["search by words alone"] = replace(UNGATED, alpha=0.0)
    found["search by meaning alone"] = replace(UNGATED, alpha=1.0)
    found["no near-duplicate cut"] = replace(UNGATED, alike=None)
    found["with the gate"] = replace(
        UNGATED,
        min_sure=SHIPPED.min_sure,
        min_cosine=SHIPPED.min_cosine,
        min_matched=SHIPPED.min_matched,
        min_found=SHIPPED.min_found,
    )
    for name, preset in PRESETS.items():
        if name != UNGATED.preset.name:
            found[f"preset {name}"] = replace(UNGATED, preset=preset, step=HOUR)
    return found


class _VectorsAlone:
    """An embedder without its table of words."""

    def __init__(self, embedder: Embedder) -> None:
        self.name, self.dimension = embedder.name, embedder.dimension
        self._embedder = embedder

    async def embed(self, texts: Sequence[str], *, kind: TextKind = "document") -> Vectors:
        return await self._embedder.embed(texts, kind=kind)

    async def aclose(self) -> None:
        """Closes nothing: whoever opened the embedder does."""


class _Way(NamedTuple):
    name: str
    embedder: Embedder
    reading: Callable[[], AbstractContextManager[None]] = nullcontext
    settings: RecallSettings = UNGATED


async def measure_ablation(
    sources: Mapping[str, Sequence[Dialogue]],
    store: MemoryStore,
    embedder: Embedder,
    *,
    on_progress: Callable[[str], None] = lambda _: None,
) -> RecallBench:
    """Every part left out in turn. Those that what is written rests on are left out when it is written too.

    Raises:
        UsageError, StoreError, EmbedderError: as :func:`simuverse.bench.recall.measure_recall`.
    """
    bench = await measure_recall(sources, store, embedder, settings=ablations(), on_progress=on_progress)
    measured = list(bench.measured)
    vectors_alone = _VectorsAlone(embedder)
    meaningless = replace(UNGATED, alpha=0.0, relevance=replace(UNGATED.relevance, meaning=0.0, meaning_around=0.0))
    for way in (
        _Way("no stems", embedder, partial(read_without, stems=True)),
        _Way("stop words kept", embedder, partial(read_without, stop_words=True)),
        _Way("no table of words", vectors_alone),
        _Way("no embedder", vectors_alone, settings=meaningless),
    ):
        with way.reading():
            settings = {way.name: way.settings}
            again = await measure_recall(sources, store, way.embedder, settings=settings, on_progress=on_progress)
        measured += again.measured
    return replace(bench, measured=tuple(measured))
