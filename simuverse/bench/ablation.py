"""Recall with one part switched off, or done another way, at a time: what each part adds or costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import timedelta

from simuverse.bench.recall import SHIPPED, UNGATED
from simuverse.memory.recall import RecallSettings
from simuverse.memory.relevance import RelevanceWeights
from simuverse.memory.scoring import PRESETS

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
