"""What goes into a turn and what comes out: a person, what it perceives, what it can do, and what it does.

An agent knows no world. Whoever drives it, a grid, a chat, a game, gives it an :class:`Observation` and :class:`Tool`
values and carries out the :class:`ToolCall` that comes back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256

from simuverse.memory.clock import require_aware


@dataclass(frozen=True, kw_only=True, slots=True)
class Persona:
    """Who someone is. Anchored: nothing that happens rewrites it.

    Args:
        description: in their own words, first person.
        speech: how they talk.
        facts: the fact sheet, a short sentence each.
        wishes: what they want now, a short sentence each; may be empty.
        strength: of personality, 0 to 1: the stronger, the cooler the character's own call.
    """

    name: str
    description: str
    speech: str = ""
    facts: tuple[str, ...] = ()
    wishes: tuple[str, ...] = ()
    strength: float = 0.7

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise ValueError("a persona needs a name")
        if not 0 <= self.strength <= 1:
            raise ValueError(f"strength {self.strength} of {self.name} is outside 0 to 1")


def encodable(text: str) -> str:
    """The text with each half of a surrogate pair, as a terminal or a broken reply may hold, replaced by ``?``."""
    return text.encode("utf-8", "replace").decode("utf-8")


def turn_of(text: str, *, at: datetime, number: int) -> str:
    """Id of a turn that is made of one text, the ``number``-th of whoever counts.

    The text is part of it, as a clock that is set may stand where it stood in another process.
    """
    return f"{at.isoformat()}/{number}/{sha256(encodable(text).encode()).hexdigest()[:8]}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Utterance:
    """Something said. Its texts are made :func:`encodable`, so that any store and journal can hold them.

    Args:
        id: of the message, unique in a run.
        to: whom it was said to; None for everyone in earshot.
    """

    id: str
    speaker: str
    text: str
    to: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "speaker", encodable(self.speaker))
        object.__setattr__(self, "text", encodable(self.text))
        if self.to is not None:
            object.__setattr__(self, "to", encodable(self.to))


@dataclass(frozen=True, kw_only=True, slots=True)
class Observation:
    """What one person perceives before a turn; seen is kept apart from heard.

    Args:
        turn: id of the turn, unique in a store: memory ids are made of it.
        time: aware.
        location: where the person is, in words.
        seen: a sentence each, nearest first.
        noticed: of what is in sight, what would be worth remembering if it is new: a sentence each, nearest first, in
            words that hold wherever they are read.
        earlier: the talk so far, oldest first, the person's own words included; known, so neither searched for nor
            remembered again.
        heard: what was said in earshot since the last turn, oldest first; the message being answered is among them.
        carrying: names of things held.
        answer: the world's sentence on this person's last action; empty at first.
        intentions: what the person said in its last turn it was up to, the nearest first; at first, its wishes.
        episode, position: which stretch of turns this is part of, and where in it.
        seed: for calls that can be repeated exactly.
    """

    turn: str
    time: datetime
    location: str = ""
    seen: tuple[str, ...] = ()
    noticed: tuple[str, ...] = ()
    earlier: tuple[Utterance, ...] = ()
    heard: tuple[Utterance, ...] = ()
    carrying: tuple[str, ...] = ()
    answer: str = ""
    intentions: tuple[str, ...] = ()
    episode: str = ""
    position: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "time", require_aware(self.time, "an observation's time"))


@dataclass(frozen=True, kw_only=True, slots=True)
class Parameter:
    """Of a tool. ``options``: the values allowed; empty where any text is."""

    name: str
    description: str
    required: bool = True
    options: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Tool:
    name: str
    description: str
    parameters: tuple[Parameter, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolCall:
    """What someone does. Not checked against the tools on offer: the world answers a call that makes no sense."""

    tool: str
    arguments: Mapping[str, str] = field(default_factory=dict[str, str])


WAIT = ToolCall(tool="wait")


@dataclass(frozen=True, kw_only=True, slots=True)
class Reflection:
    """What a character says to itself before it acts; any part may be empty."""

    current_task: str = ""
    description: str = ""
    next_steps: str = ""
    goal: str = ""
    other_info: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """A character's parsed reply."""

    reflection: Reflection
    call: ToolCall


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """The world's answer to a call.

    Args:
        code: from the world's own list, for programs.
        sentence: for the character and for people; never empty.
        said: what the call made the person say aloud, if anything.
        notable: whether it changed something that is worth remembering; the world knows.
    """

    ok: bool
    code: str
    sentence: str
    said: Utterance | None = None
    notable: bool = False
