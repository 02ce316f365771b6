"""A run as a folder: what it was started with, an append-only record of what happened, and its memory.

``run.json`` says how the run was started. ``journal.jsonl`` holds one event a line (seq, tick, kind, agent, body) and
nothing that depends on the machine: a scripted run writes the same bytes again, and its hash is the hash of the file.
Wall-clock figures of the same turns are in ``telemetry.jsonl``, by seq.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from io import BufferedWriter
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypeVar

import msgspec
from filelock import FileLock, Timeout

from simuverse.agents.trace import Decision, Recollection, Remembered, Timings, TurnTrace
from simuverse.errors import RunFolderError

FORMAT = 1
RUN, JOURNAL, TELEMETRY, LOCK, MEMORY = "run.json", "journal.jsonl", "telemetry.jsonl", "lock", "memory.db"
OUTBOX = "outbox.jsonl"

Kind = Literal["start", "turn", "tick", "operator"]


@dataclass(frozen=True, kw_only=True, slots=True)
class RunInfo:
    """What a run was started with; no secrets.

    Args:
        id: the same for the same scenario, seed and memories at the start.
        started: wall time, ISO 8601.
        store: where its memories are, as a user types it.
        zone: by whose clocks its times are shown; those of the journal are UTC.
    """

    format: int = FORMAT
    version: str
    id: str
    scenario: str
    seed: int
    model: str
    subconscious: str
    embedder: str
    store: str
    memory: bool
    agents: tuple[str, ...]
    started: str
    zone: str = "UTC"


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    seq: int
    tick: int
    kind: Kind
    agent: str = ""
    body: Any = None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Wall:
    """The wall-clock figures of one turn; ``calls``: seconds of each of its model calls, in order."""

    seq: int
    timings: Timings
    calls: tuple[float, ...]


_Part = TypeVar("_Part", Recollection, Decision, Remembered)

_encoder = msgspec.json.Encoder(order="sorted")


class Journal:
    """Writes a run folder. One writer a folder, by a lock that the system releases when the process ends.

    Raises:
        RunFolderError: the folder holds something already, is in use, or can't be written.
    """

    def __init__(self, folder: Path, info: RunInfo) -> None:
        self.folder = folder
        self.seq = 0
        self._hash = sha256()
        self._failed: RunFolderError | None = None
        lock = FileLock(folder / LOCK)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with ExitStack() as stack:
                lock.acquire(blocking=False)
                stack.callback(lock.release)
                if (folder / RUN).exists():
                    raise RunFolderError(
                        f"{folder} holds a run already. Choose another folder with --out, or delete it"
                    )
                self._journal = stack.enter_context((folder / JOURNAL).open("ab"))
                self._telemetry = stack.enter_context((folder / TELEMETRY).open("ab"))
                # Last, so that whatever has it is a whole run folder.
                write_whole(folder / RUN, msgspec.json.format(msgspec.json.encode(info)) + b"\n")
                self._open = stack.pop_all()
        except Timeout as error:
            raise RunFolderError(f"{folder} is being written by another process. Choose another folder") from error
        except OSError as error:
            raise RunFolderError(f"{folder} can't be written: {error.strerror}. Choose another folder") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def sha256(self) -> str:
        """Of the journal as written so far."""
        return self._hash.hexdigest()

    def append(self, kind: Kind, *, tick: int, agent: str = "", body: Any = None) -> int:
        """Adds an event and returns its seq, from 1. On disk after the next :meth:`commit`."""
        self.seq += 1
        line = _encoder.encode(Event(seq=self.seq, tick=tick, kind=kind, agent=agent, body=body)) + b"\n"
        self._write(self._journal, line)
        self._hash.update(line)
        return self.seq

    def append_turn(self, trace: TurnTrace) -> int:
        timeless, wall = _split(trace)
        seq = self.append("turn", tick=trace.tick, agent=trace.agent, body=timeless)
        self._write(self._telemetry, _encoder.encode(replace(wall, seq=seq)) + b"\n")
        return seq

    def commit(self) -> None:
        """Makes all that was appended survive a crash."""
        with self._writing():
            for file in (self._journal, self._telemetry):
                file.flush()
                os.fsync(file.fileno())

    def close(self) -> None:
        """Closes the files and lets go of the folder, whatever happens.

        Raises:
            RunFolderError: the last of it couldn't be written, and nobody has been told yet.
        """
        told = self._failed is not None
        try:
            self._open.close()
        except OSError as error:
            if not told:
                raise self._unwritable(error) from error

    def _write(self, file: BufferedWriter, line: bytes) -> None:
        with self._writing():
            file.write(line)

    @contextmanager
    def _writing(self) -> Generator[None]:
        """After a first fault nothing more is written: half a line may stand there, which only the last one may be."""
        if self._failed is not None:
            raise self._failed
        try:
            yield
        except OSError as error:
            self._failed = self._unwritable(error)
            raise self._failed from error

    def _unwritable(self, error: OSError) -> RunFolderError:
        return RunFolderError(
            f"{self.folder} can't be written any more: {error.strerror}. "
            "What was committed is safe; make room and start again"
        )


@contextmanager
def standing_still(folder: Path, otherwise: str) -> Generator[None]:
    """While this is entered nobody writes the run.

    Raises:
        RunFolderError: someone does; ``otherwise`` says what that means and what to do.
    """
    try:
        with FileLock(folder / LOCK, blocking=False):
            yield
    except Timeout as error:
        raise RunFolderError(f"{folder} is being written by another process, and {otherwise}") from error


def read_info(folder: Path) -> RunInfo:
    """What the run in ``folder`` was started with.

    Raises:
        RunFolderError: it isn't a run folder, or a newer program wrote it.
    """
    path = folder / RUN
    try:
        raw = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError) as error:
        taken = folder.exists() and not (folder.is_dir() and next(folder.iterdir(), None) is None)
        cure = "Name one that a run made" if taken else f"`simuverse run --out {folder}` makes one"
        raise RunFolderError(f"{folder} is not a run folder: it has no {RUN}. {cure}") from error
    except OSError as error:
        raise RunFolderError(f"{path} can't be read: {error.strerror}") from error
    try:
        written = msgspec.json.decode(raw, type=dict[str, Any]).get("format")
        if not isinstance(written, int):
            raise RunFolderError(
                f"{path} isn't a run of Simu-Verse: it states no format. Name a folder that a run made"
            )
        if written > FORMAT:
            raise RunFolderError(
                f"{path} has format {written}; this program reads up to {FORMAT}. Update it: pip install -U simu-verse"
            )
        return msgspec.json.decode(raw, type=RunInfo)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RunFolderError(
            f"{path} is damaged: {error}. Bring it back from a copy; without it the run can't be read"
        ) from error


def read_events(folder: Path) -> Iterator[Event]:
    """The journal's events, oldest first. A last line that a crash cut short is left out.

    Raises:
        RunFolderError: no journal, or a line in its middle that can't be read.
    """
    path = folder / JOURNAL
    decode = msgspec.json.Decoder(Event).decode
    for number, line in _lines(path):
        try:
            yield decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise RunFolderError(f"{path}, line {number} is damaged: {error}") from error


def read_turns(folder: Path, *, agent: str | None = None, tick: int | None = None) -> Iterator[TurnTrace]:
    """The turns of a run, wall-clock figures included, oldest first."""
    read_info(folder)
    walls = _read_walls(folder)
    for event in read_events(folder):
        if event.kind != "turn" or agent not in (None, event.agent) or tick not in (None, event.tick):
            continue
        try:
            trace = msgspec.convert(event.body, TurnTrace)
        except msgspec.ValidationError as error:
            raise RunFolderError(f"{folder / JOURNAL}, event {event.seq} isn't a turn: {error}") from error
        yield _join(trace, walls.get(event.seq))


def _read_walls(folder: Path) -> dict[int, _Wall]:
    decode = msgspec.json.Decoder(_Wall).decode
    try:
        walls = [decode(line) for _, line in _lines(folder / TELEMETRY)]
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RunFolderError(f"{folder / TELEMETRY} is damaged: {error}") from error
    return {wall.seq: wall for wall in walls}


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Whole lines with their numbers from 1."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if line.endswith(b"\n"):
                    yield number, line
    except OSError as error:
        raise RunFolderError(f"{path} can't be read: {error.strerror}") from error


def _split(trace: TurnTrace) -> tuple[TurnTrace, _Wall]:
    """A turn without its wall-clock figures, and those."""
    wall = _Wall(seq=0, timings=trace.timings, calls=tuple(call.seconds for call in trace.calls))
    return _timed(trace, Timings(), [0.0] * len(trace.calls)), wall


def _join(trace: TurnTrace, wall: _Wall | None) -> TurnTrace:
    return trace if wall is None else _timed(trace, wall.timings, wall.calls)


def _timed(trace: TurnTrace, timings: Timings, seconds: Sequence[float]) -> TurnTrace:
    times = iter(seconds)

    def timed(part: _Part) -> _Part:
        return replace(part, calls=tuple(replace(call, seconds=next(times, 0.0)) for call in part.calls))

    return replace(
        trace,
        recollection=timed(trace.recollection),
        decision=timed(trace.decision),
        remembered=timed(trace.remembered),
        timings=timings,
    )


def write_whole(path: Path, content: bytes) -> None:
    """All of it or nothing, also when the machine stops in between."""
    unfinished = path.with_suffix(".part")
    with unfinished.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)
