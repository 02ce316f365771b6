"""``simuverse bench hygiene`` as text for people. PURE."""

from __future__ import annotations

from collections.abc import Iterator

from simuverse.bench.hygiene import FATES, HygieneBench
from simuverse.bench.labelled_pairs import KINDS
from simuverse.bench.silence_table import silence_table
from simuverse.bench.soak import Soak


def hygiene_table(measured: HygieneBench) -> str:
    return "\n".join(
        [
            *_echoes(measured),
            *_changes(measured),
            *_loop(measured),
            _cost(measured),
            *_silence(measured),
            *_soak(measured.soak),
        ]
    )


def _echoes(measured: HygieneBench) -> Iterator[str]:
    yield f"embedder {measured.embedder}; {measured.pairs} pairs; what becomes of the second sentence where the first"
    yield "came to mind just before"
    sets = {
        "": measured.fates,
        "held out": measured.held_out,
        "own words": measured.own,
        "own, held out": measured.own_held_out,
        "retold": measured.retold,
        "retold, held out": measured.retold_held_out,
    }
    for title, fates in sets.items():
        yield f"{title:<16}" + "".join(f"{fate:>10}" for fate in FATES)
        for kind in KINDS:
            yield f"{kind:<16}" + "".join(f"{fates[kind][fate]:>10}" for fate in FATES)
    yield "\nrefused from a score on: how many, precision and recall of 100"
    yield f"{'score':>6} {'refused':>8} {'precision':>10} {'recall':>7}"
    for one in measured.curve:
        precision = "" if one.precision is None else f"{100 * one.precision:.1f}"
        yield f"{one.score:>6.1f} {one.refused:>8} {precision:>10} {100 * one.recall:>7.1f}"


def _changes(measured: HygieneBench) -> Iterator[str]:
    changes = measured.changes
    yield "\npairs told by one voice whose first was made past by the second"
    for kind in KINDS:
        yield f"{kind:<14} {changes.replaced[kind]:>4} of {changes.told[kind]}"
    yield f"{'unrelated':<14} {changes.unrelated_replaced:>4} of {changes.unrelated}"


def _loop(measured: HygieneBench) -> Iterator[str]:
    loop = measured.loop
    yield f"\n{loop.turns} turns that say again what came to mind ({loop.restated} did); by form"
    yield f"{'':<16} {'turns':>6} {'stored':>7} {'linked':>7}"
    for form, count in loop.forms.items():
        yield f"{form:<16} {count:>6} {loop.stored.get(form, 0):>7} {loop.linked.get(form, 0):>7}"
    yield f"memories: {loop.facts} at first, {loop.memories} at the end"
    yield ""
    for how, one in (
        ("orders of the same words", measured.duplicates),
        ("sentences of other words", measured.reworded),
    ):
        yield (
            f"{one.events} events, each told by one person in {one.wordings} {how}: {one.mean:.1f} memories of each on "
            f"average, {one.most} at most, in {one.groups} groups at most"
        )


def _cost(measured: HygieneBench) -> str:
    cost = measured.cost
    return (
        f"\na recall among {cost.memories} memories takes {cost.ratio:.2f} times what it takes without gate, cool-down "
        "and a look at near-duplicates"
    )


def _silence(measured: HygieneBench) -> Iterator[str]:
    if measured.silence is not None:
        yield f"\n{silence_table(measured.silence)}"


def _soak(soaked: Soak | None) -> Iterator[str]:
    if soaked is None:
        return
    yield f"\n{soaked.turns} turns of the rehearsed village; echoes stored: {soaked.echoes}"
    yield (
        f"{'turns':>6} {'ms':>7} {'CPU ms':>7} {'written':>8} {'at most':>8} {'told again':>11} {'refused':>8} "
        f"{'current':>8} {'kept':>6} {'kB a turn':>10} {'MB':>6}"
    )
    for one in soaked.stages:
        memory = "" if one.process_mb is None else f"{one.process_mb:.0f}"
        disk = "" if one.kb_a_turn is None else f"{one.kb_a_turn:.1f}"
        yield (
            f"{one.turns:>6} {one.milliseconds:>7.1f} {one.cpu_milliseconds:>7.1f} {one.written:>8} "
            f"{one.most_written:>8} {one.told_again:>11} {one.refused:>8} {one.current:>8} {one.kept:>6} "
            f"{disk:>10} {memory:>6}"
        )
