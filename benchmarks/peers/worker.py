"""One peer in a process of its own: fills it, or opens it and searches. Prints what it measured as JSON.

Runs in the peers' environment, so it knows nothing of Simu-Verse.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import cast

import numpy as np

from benchmarks.peers.peer import PEERS, Peer, Place, Vectors

COUNT = 10
"""Texts asked for."""

BATCH = 1_000
SINGLES = 50
"""Texts added one at a time, the last ones: so many single additions are timed with the others already there."""

FEWEST_SEARCHES = 10
"""Are timed however long they take."""


def main(name: str, step: str, folder: str) -> None:
    """Args:
    step: ``fill`` or ``search``.
    folder: holds what is given, and the peer's own folder.
    """
    given = json.loads((Path(folder) / "given.json").read_text())
    place = Place(folder=Path(folder) / name, dimension=given["dimension"], address=given["address"])
    place.folder.mkdir(exist_ok=True)
    known = PEERS[name]
    measured: dict[str, object] = {}
    started = perf_counter()
    peer = _opened(name, place)
    if step == "fill" or not known.keeps:
        texts = json.loads((Path(folder) / "texts.json").read_text())
        measured |= _fill(peer, texts, np.load(Path(folder) / "vectors.npy"), seconds=given["seconds"])
        del texts
    if step == "search":
        questions, asked = given["questions"], np.load(Path(folder) / "question_vectors.npy")
        peer.search(questions[0], asked[0], COUNT)
        measured["start_ms"] = 1000 * (perf_counter() - started) if known.keeps else None
        measured["memory_mb"] = _resident_mb()
        times, found = _search(peer, questions, asked, seconds=given["seconds"])
        measured |= {"times": times, "found": found}
    peer.close()
    if step == "fill" and known.keeps:
        measured["disk_mb"] = sum(file.stat().st_size for file in place.folder.rglob("*") if file.is_file()) / 1e6
    measured["version"] = version(known.package) if known.package else ".".join(map(str, sys.version_info[:3]))
    print(json.dumps(measured))


def _opened(name: str, place: Place) -> Peer:
    return cast("Peer", import_module(f"benchmarks.peers.{name}").Opened(place))


def _fill(peer: Peer, texts: Sequence[str], vectors: Vectors, *, seconds: float) -> dict[str, object]:
    """Stops after ``seconds``, with fewer texts; the last ones are added singly."""
    singles = min(SINGLES, len(texts) // 2)
    last = len(texts) - singles
    done, started = 0, perf_counter()
    while done < last and perf_counter() - started < seconds:
        # Small at first, so that one that is slow stops in time.
        end = min(last, done + (BATCH if done else min(100, last)))
        peer.add(done, texts[done:end], vectors[done:end])
        done = end
    peer.added()
    many = done / (perf_counter() - started)
    started = perf_counter()
    for number in range(done, done + singles):
        peer.add(number, texts[number : number + 1], vectors[number : number + 1])
    single = singles / (perf_counter() - started)
    peer.added()
    return {"added": done + singles, "many_a_second": many, "single_a_second": single}


def _search(
    peer: Peer, questions: Sequence[str], vectors: Vectors, *, seconds: float
) -> tuple[list[float], list[list[int]]]:
    times: list[float] = []
    found: list[list[int]] = []
    begun = perf_counter()
    for question, vector in zip(questions, vectors, strict=True):
        if len(times) >= FEWEST_SEARCHES and perf_counter() - begun > seconds:
            break
        started = perf_counter()
        found.append(peer.search(question, vector, COUNT))
        times.append(1000 * (perf_counter() - started))
    return times, found


def _resident_mb() -> float | None:
    """In RAM now; known on Linux only."""
    status = Path("/proc/self/status")
    if not status.exists():
        return None
    [line] = [line for line in status.read_text().splitlines() if line.startswith("VmRSS:")]
    return int(line.split()[1]) / 1000


if __name__ == "__main__":
    main(*sys.argv[1:])
