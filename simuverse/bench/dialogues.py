"""Long dialogues with questions about them, as files hold them.

Two forms are read, both JSON: one dialogue a file (``session_1``, ``session_1_date_time``, ... and ``qa`` in one
object), and a list of objects whose ``conversation`` holds the sessions beside ``qa``. A turn has ``speaker``,
``dia_id`` and ``text``; ``blip_caption``, what a picture shown with it shows, is read as part of the text. A turn's
``query``, the words by which that picture was looked for, is never read: nobody in the dialogue saw them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec

from simuverse.errors import UsageError

BETWEEN_TURNS = timedelta(seconds=20)
"""Sessions are dated, turns aren't: each is taken to begin so long after the one before."""

CATEGORIES: Mapping[object, str] = {
    1: "multi-hop",
    2: "temporal",
    3: "open-domain",
    4: "single-hop",
    5: "adversarial",
}
"""Numbers that the files use; a category given in words stays as it is."""

_DATE = "%I:%M %p on %d %B, %Y"
_TURN_ID = re.compile(r"D:?(\d+):(\d+)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """Args: id: ``session:number``, both without leading zeros."""

    id: str
    speaker: str
    text: str
    time: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """Args: evidence: ids of the turns that hold the answer, at least one."""

    text: str
    evidence: frozenset[str]
    category: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Dialogue:
    """Args: sessions: each one talk, none empty, in order of time."""

    name: str
    sessions: tuple[tuple[Turn, ...], ...]
    questions: tuple[Question, ...]


def load_dialogues(folder: Path) -> list[Dialogue]:
    """All ``*.json`` of a folder, by name.

    Raises:
        UsageError: there are none, or one is of neither form.
    """
    files = sorted(folder.glob("*.json"))
    if not files:
        raise UsageError(f"there is no .json file in {folder}")
    return [dialogue for file in files for dialogue in _read(file.stem, file.read_bytes())]


def paraphrases() -> list[Dialogue]:
    """Two invented dialogues whose questions share no content word with the turns that answer them."""
    return [one for name, talk in _invented("paraphrase").items() for one in _read(name, talk)]


def plain_questions() -> list[Dialogue]:
    """The same two dialogues, asked as people ask: in the words of the answers, or others, as it comes."""
    asked = _invented("plain")
    return [
        replace(
            one, questions=_questions(msgspec.json.decode(asked[one.name], type=list[dict[str, Any]]), one.sessions)
        )
        for one in paraphrases()
    ]


def invented() -> dict[str, list[Dialogue]]:
    """The program's own, by how they are asked."""
    return {"paraphrase": paraphrases(), "plain": plain_questions()}


def _invented(folder: str) -> dict[str, bytes]:
    """Contents of the files by name."""
    files = sorted((resources.files("simuverse.bench") / folder).iterdir(), key=lambda file: file.name)
    return {file.name.removesuffix(".json"): file.read_bytes() for file in files if file.name.endswith(".json")}


def _read(name: str, content: bytes) -> list[Dialogue]:
    try:
        read = msgspec.json.decode(content, type=dict[str, Any] | list[dict[str, Any]])
        if isinstance(read, list):
            return [_dialogue(str(one["sample_id"]), one["conversation"], one["qa"]) for one in read]
        return [_dialogue(name, read, read["qa"])]
    except (msgspec.DecodeError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"{name} isn't a dialogue with questions: {type(error).__name__}: {error}") from error


def _dialogue(name: str, talk: Mapping[str, Any], qa: Sequence[Mapping[str, Any]]) -> Dialogue:
    sessions: list[tuple[Turn, ...]] = []
    numbers = sorted(int(key.removeprefix("session_")) for key in talk if re.fullmatch(r"session_\d+", key))
    for number in numbers:
        begun = datetime.strptime(talk[f"session_{number}_date_time"], _DATE).replace(tzinfo=UTC)
        turns = [_turn(turn, begun + place * BETWEEN_TURNS) for place, turn in enumerate(talk[f"session_{number}"])]
        if turns:
            sessions.append(tuple(turns))
    if not sessions:
        raise ValueError("no session holds a turn")
    return Dialogue(name=name, sessions=tuple(sessions), questions=_questions(qa, sessions))


def _questions(qa: Sequence[Mapping[str, Any]], sessions: Sequence[Sequence[Turn]]) -> tuple[Question, ...]:
    """Those that have evidence in the sessions."""
    known = {turn.id for session in sessions for turn in session}
    return tuple(question for one in qa if (question := _question(one, known)).evidence)


def _turn(turn: Mapping[str, Any], time: datetime) -> Turn:
    caption = turn.get("blip_caption")
    text = f"{turn['text']} [shares {caption}]" if caption else str(turn["text"])
    [turn_id] = _ids(turn["dia_id"])
    return Turn(id=turn_id, speaker=turn["speaker"], text=text.strip(), time=time)


def _question(one: Mapping[str, Any], known: set[str]) -> Question:
    """Evidence that names no turn is dropped; what is left may be nothing."""
    evidence = {turn_id for entry in one["evidence"] for turn_id in _ids(entry)}
    category = one["category"]
    return Question(
        text=one["question"],
        evidence=frozenset(evidence & known),
        category=CATEGORIES.get(category, str(category)),
    )


def _ids(text: str) -> list[str]:
    return [f"{int(session)}:{int(number)}" for session, number in _TURN_ID.findall(text)]
