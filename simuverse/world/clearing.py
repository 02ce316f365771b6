"""Memories out of the record of a run: for an erasure, and for nothing else is a journal ever written anew."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import msgspec

from simuverse.agents.trace import TurnTrace
from simuverse.agents.unwritten import MARK
from simuverse.errors import RunFolderError
from simuverse.memory.erasing import Eraser, holds
from simuverse.memory.outbox_file import without_memories, without_owner
from simuverse.memory.records import Memory
from simuverse.world.journal import JOURNAL, OUTBOX, RUN, standing_still, write_whole

_CLEARED_ELSEWHERE = re.compile(rf"audit\.jsonl$|{re.escape(MARK)}")
"""The record of changes, and what isn't written down yet: cleared by who keeps it."""


class RunRecord:
    """All that a run folder holds beside its memories, as :class:`simuverse.memory.editing.Copies`.

    Attributes:
        texts: the words that the last erasure took out, those of the messages behind the memories among them.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.texts: tuple[str, ...] = ()

    async def erase(self, memories: Sequence[Memory]) -> None:
        """Takes the memories, the messages they were made from and what restates them out of every JSON file.

        A line that holds none of it stays as it is, to the byte; the journal's hash is another afterwards. Of what
        waits for the store, which is memories and no record of any, the memories go and what rests on them.

        Raises:
            RunFolderError: the run is under way, or a file can't be read or written.
        """
        await asyncio.to_thread(self._erase, memories)

    def _erase(self, memories: Sequence[Memory]) -> None:
        try:
            with standing_still(self.folder, "nothing was erased. End it, then erase again"):
                files = [
                    path
                    for path in sorted(self.folder.rglob("*.json*"))
                    if path.suffix in (".json", ".jsonl") and not _CLEARED_ELSEWHERE.search(path.name)
                ]
                messages = Eraser(memories).messages
                said = [text for path in files for value in _values(path) for text in _messages(value, messages)]
                eraser = Eraser(memories, texts=said)
                self.texts = eraser.texts
                # All is worked out before any is written, so that what can't be cleared leaves the rest as it was.
                contents = {
                    path: without_memories(path, memories) if path.name == OUTBOX else _without(path, eraser)
                    for path in files
                }
                for path, content in contents.items():
                    if content != path.read_bytes():
                        write_whole(path, content)
        except OSError as error:
            raise RunFolderError(
                f"{error.filename or self.folder} can't be cleared: {error.strerror}. The memories are kept; "
                "erase again once it can be written"
            ) from error


def clear_owner(folder: Path, owner: str) -> None:
    """Takes what waits for the store of this owner out of a run folder, before the owner is deleted there.

    Raises:
        RunFolderError: the run is under way.
    """
    path = folder / OUTBOX
    if path.exists():
        with standing_still(folder, "nothing was deleted. End it, then delete again"):
            write_whole(path, without_owner(path, owner))


def files_holding(files: Collection[Path], texts: Collection[str]) -> list[Path]:
    """Those whose bytes hold one of the texts."""
    return [path for path in sorted(files) if path.is_file() and holds(path.read_bytes(), texts)]


def _values(path: Path) -> Iterator[Any]:
    """Of each whole line of a ``.jsonl`` file, or of the file.

    Raises:
        RunFolderError: naming the line that can't be read.
    """
    for number, line in enumerate(_lines(path), start=1):
        try:
            yield msgspec.json.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise RunFolderError(
                f"{path}, line {number} is damaged, so it can't be cleared: {error}. Nothing was erased; delete the "
                "file if its words are to go"
            ) from error


def _lines(path: Path) -> list[bytes]:
    """A last line that a crash cut short is no line, and goes with the first erasure."""
    content = path.read_bytes()
    return content.split(b"\n")[:-1] if path.suffix == ".jsonl" else [content]


def _messages(value: Any, ids: Collection[str]) -> Iterator[str]:
    """Texts of the messages of those ids."""
    if isinstance(value, list):
        for one in cast("Sequence[Any]", value):
            yield from _messages(one, ids)
    elif isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        if fields.get("id") in ids and isinstance(fields.get("text"), str):
            yield fields["text"]
        for one in fields.values():
            yield from _messages(one, ids)


def _without(path: Path, eraser: Eraser) -> bytes:
    """The file's content without the memories."""
    cleared = [_cleared(path, line, value, eraser) for line, value in zip(_lines(path), _values(path), strict=True)]
    return b"".join(line + b"\n" for line in cleared) if path.suffix == ".jsonl" else cleared[0]


def _cleared(path: Path, line: bytes, value: Any, eraser: Eraser) -> bytes:
    without = eraser.value(value)
    if without == value:
        return line
    if path.name == JOURNAL and value.get("kind") == "turn":
        try:
            msgspec.convert(without["body"], TurnTrace)
        except msgspec.ValidationError as error:
            raise RunFolderError(
                f"{path}, event {value.get('seq')} would be no turn any more without the memory: {error}. Nothing was "
                "erased"
            ) from error
    encoded = msgspec.json.encode(without, order="sorted")
    return msgspec.json.format(encoded) + b"\n" if path.name == RUN else encoded
