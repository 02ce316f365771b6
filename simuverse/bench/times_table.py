"""The figures of :mod:`simuverse.bench.times` as a table. PURE."""

from __future__ import annotations

from simuverse.bench.times import TimesBench


def times_table(measured: TimesBench) -> str:
    lines = [
        f"embedder {measured.embedder}, {measured.store}; {measured.memories} memories, {measured.questions} questions",
        "in each zone; windows: understood rightly; found: of 100 moments that should come back; silent: where nothing",
        "should come back; false: questions about a time that brought back something of another",
        f"{'zone':<18} {'windows':>9} {'found':>6} {'silent':>7} {'false':>6} {'p50 ms':>7} {'p95 ms':>7}",
    ]
    for one in measured.measured:
        windows, silent = f"{one.understood}/{measured.questions}", f"{one.silent}/{measured.to_be_silent}"
        lines.append(
            f"{one.zone:<18} {windows:>9} {100 * one.found:>6.1f} {silent:>7} {one.false:>6} "
            f"{one.p50_ms:>7.1f} {one.p95_ms:>7.1f}"
        )
    wrong = sorted({text for one in measured.measured for text in one.wrong})
    return "\n".join([*lines, *(f"misunderstood: {text}" for text in wrong)])
