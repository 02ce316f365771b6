"""What benches time alike: many calls in a row or several at once, and writes."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TypeVar

import numpy as np

T = TypeVar("T")

SINGLE_WRITES = 100
BATCH = 500


@dataclass(frozen=True, kw_only=True, slots=True)
class Spread:
    """Milliseconds."""

    p50: float
    p95: float


@dataclass(frozen=True, kw_only=True, slots=True)
class WriteSpeed:
    """Memories a second, one at a time and in batches."""

    single: float
    batch: float


def spread(times: Sequence[float]) -> Spread:
    p50, p95 = np.percentile(times, (50, 95))
    return Spread(p50=float(p50), p95=float(p95))


async def timed(inputs: Sequence[T], work: Callable[[T], Awaitable[object]], *, at_once: int = 1) -> list[float]:
    """Milliseconds of each.

    Args:
        at_once: calls that are under way together, 1 or more.
    """
    times: list[float] = []
    waiting = iter(inputs)

    async def one_after_another() -> None:
        for one in waiting:
            started = perf_counter()
            await work(one)
            times.append(1000 * (perf_counter() - started))

    await asyncio.gather(*(one_after_another() for _ in range(at_once)))
    return times


async def write_speed(items: Sequence[T], write: Callable[[Sequence[T]], Awaitable[object]]) -> WriteSpeed:
    """Writes all: up to :data:`SINGLE_WRITES` one at a time, the rest in batches."""
    singles = items[: min(SINGLE_WRITES, len(items) // 2 + 1)]
    started = perf_counter()
    for one in singles:
        await write([one])
    single_seconds = perf_counter() - started
    rest = items[len(singles) :]
    started = perf_counter()
    for at in range(0, len(rest), BATCH):
        await write(rest[at : at + BATCH])
    return WriteSpeed(single=len(singles) / single_seconds, batch=len(rest) / (perf_counter() - started))


def process_mb(pid: int) -> float | None:
    """Memory of a process that is in RAM now, in megabytes; None where it can't be told."""
    statm = Path(f"/proc/{pid}/statm")
    if not statm.exists():
        return None
    return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
