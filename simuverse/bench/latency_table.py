"""Latencies as text: a row a size and store, so that stores stand beside each other."""

from __future__ import annotations

from collections.abc import Sequence

from simuverse.bench.latency import Latency, SizeLatency


def latency_table(measured: Sequence[Latency]) -> str:
    """Args:
    measured: of one or more stores, with the same sizes.
    """
    first = measured[0]
    columns = ("recall", "fresh", "4 at once", "embed", "search", "matrix", "FTS5")
    head = "".join(f" {name:>15}" for name in columns)
    lines = [
        *(f"store {number}: {one.store}" for number, one in enumerate(measured, start=1)),
        f"embedder {first.embedder}, {first.cores} cores; p50 / p95 in ms; ratio of recall to matrix + FTS5",
        f"{'memories':>9} {'store':>5}{head} {'ratio':>13} {'write/s':>8} {'batch/s':>8} {'MB':>6}",
    ]
    rows = [(number, size) for number, one in enumerate(measured, start=1) for size in one.sizes]
    rows.sort(key=lambda row: row[1].size)
    lines += [_row(number, size) for number, size in rows]
    clients = [
        f"{size.size:>9} {number:>5} {_times(size.client.search.p50, size.client.search.p95)} "
        f"{size.client.search_ratio:>6.2f} {size.client.new_ratio:>6.2f} {size.client.single_writes:>8.0f} "
        f"{size.client.single_ratio:>6.2f} {size.client.batch_writes:>8.0f} {size.client.batch_ratio:>6.2f}"
        for number, size in rows
        if size.client is not None
    ]
    if clients:
        lines += [
            "",
            "the client alone: both searches at once, writes; after each, how many times as long the store takes; "
            "new: for searches never made before",
            f"{'memories':>9} {'store':>5} {'search':>15} {'ratio':>6} {'new':>6} {'write/s':>8} {'ratio':>6} "
            f"{'batch/s':>8} {'ratio':>6}",
            *clients,
        ]
    return "\n".join(lines)


def _row(number: int, size: SizeLatency) -> str:
    spreads = (size.recall, size.fresh, size.at_once, size.embed, size.search, size.matrix, size.fts)
    times = " ".join(_times(spread.p50, spread.p95) for spread in spreads)
    memory = "" if size.memory_mb is None else f"{size.memory_mb:.0f}"
    return (
        f"{size.size:>9} {number:>5} {times} {size.ratio_p50:>5.2f} / {size.ratio_p95:>5.2f} "
        f"{size.single_writes:>8.0f} {size.batch_writes:>8.0f} {memory:>6}"
    )


def _times(p50: float, p95: float) -> str:
    return f"{p50:>6.1f} / {p95:>6.1f}"
