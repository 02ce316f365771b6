"""The same said again: by rule, in the forms that characters and those who talk with them use. PURE."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import islice, product

from simuverse.bench.labelled_pairs import Said
from simuverse.memory.statements import said

ECHOED = (
    "verbatim",
    "to the speaker",
    "to another",
    "with a frame",
    "turned round",
    "cut short",
    "paraphrased",
    "cited",
    "split",
    "in pieces",
    "quoted",
    "passed on",
)
"""Forms of an echo, in the listener's mouth. ``quoted`` is whoever said it, again; ``passed on`` a third one."""

IN_TURN = (*ECHOED, "paraphrased", "paraphrased", "paraphrased")
"""As they follow each other: what people put into words of their own is the hardest, and each has its turn."""

_OTHERS = ("Bertil", "Runa")
"""To whom it is told by name, and who tells it."""

_TURNED = (
    (r"\bI am\b", "you are"),
    (r"\bI\b", "you"),
    (r"\b[Mm]y\b", "your"),
    (r"\b[Mm]e\b", "you"),
    (r"\b[Ww]e\b", "you"),
    (r"\b[Oo]ur\b", "your"),
)
_FRAMES = ("As you said, {}", "I remember that {}", "You told me that {}", "I know, {}", "Yes, {}")
_QUOTES = ("You know that {}", "{}", "Remember, {}", "I was told that {}")
_TAIL = re.compile(
    r"^(?P<head>.+?) (?P<tail>(?:in|on|at|behind|under|until|because|for|since|with|to) [^,]+?)(?P<end>[.!])$"
)


def in_other_words(form: str, memory: str, paraphrases: Sequence[str], *, listener: str, turn: int) -> Said:
    """A memory's summary said again.

    Args:
        form: one of :data:`ECHOED`.
        memory: with who said it before a colon, if anyone did.
        paraphrases: by people; where there are none, it is said to the speaker instead.
        turn: chooses among several of a form.
    """
    speaker, colon, text = memory.partition(": ")
    if not colon:
        speaker, text = listener, memory
    mine = speaker == listener
    turned = text if mine else _to_the_speaker(text)
    match form:
        case "verbatim":
            return Said(speaker=listener, text=text if mine else turned)
        case "to another" if turned == text:
            return Said(speaker=listener, text=f"{_OTHERS[0]}, {_small(turned)}")
        case "cited":
            return Said(speaker=listener, text=f"{speaker}: {text}")
        case "passed on":
            return Said(speaker=_OTHERS[1], text=f"{speaker} told me: {text}")
        case "in pieces":
            return Said(speaker=listener, text=_in_pieces(turned))
        case "with a frame":
            return Said(speaker=listener, text=_FRAMES[turn % len(_FRAMES)].format(_small(turned)))
        case "turned round":
            return Said(speaker=listener, text=_turned_round(turned))
        case "cut short":
            return Said(speaker=listener, text=_cut_short(turned))
        case "paraphrased" if paraphrases:
            return Said(speaker=listener, text=paraphrases[turn % len(paraphrases)])
        case "quoted":
            return Said(speaker=speaker, text=_QUOTES[turn % len(_QUOTES)].format(_small(text)))
        case "split":
            return Said(speaker=listener, text=_split(turned))
        case _:
            return Said(speaker=listener, text=turned)


def can_be_turned(text: str) -> bool:
    """Whether it can be said to whoever said it: it is English, or nobody speaks of themselves in it."""
    return not said(_to_the_speaker(text), by="").of_speaker


def _to_the_speaker(text: str) -> str:
    for pattern, replacement in _TURNED:
        text = re.sub(pattern, replacement, text)
    return text[:1].upper() + text[1:]


def _small(text: str) -> str:
    """As it stands within a sentence."""
    return text if text.startswith("I ") or text.split(" ", 1)[0].istitle() is False else text[:1].lower() + text[1:]


def _turned_round(text: str) -> str:
    match = _TAIL.match(text)
    if match is None:
        return text
    tail = match["tail"]
    return f"{tail[:1].upper()}{tail[1:]}, {_small(match['head'])}{match['end']}"


def _cut_short(text: str) -> str:
    match = _TAIL.match(text)
    return text if match is None or len(match["head"].split()) < 4 else f"{match['head']}{match['end']}"


def _split(text: str) -> str:
    """What is said, and where or when it is, apart."""
    match = _TAIL.match(text)
    if match is None or len(match["head"].split()) < 4:
        return f"{text} {text}"
    return f"{match['head']}. {text}"


def _in_pieces(text: str) -> str:
    """What is said, and where or when it is, a sentence each."""
    match = _TAIL.match(text)
    if match is None:
        return text
    tail = match["tail"]
    return f"{match['head']}. {tail[:1].upper()}{tail[1:]}{match['end']}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    who: str
    did: str
    what: str
    where: str
    when: str


EVENTS = (
    Event(who="the miller", did="sold", what="his grey mare", where="at the fair", when="on Saturday"),
    Event(who="my aunt Hanne", did="found", what="a silver ring", where="in the well", when="last spring"),
    Event(who="the choir", did="sang", what="a lullaby", where="on the ferry", when="at midnight"),
    Event(who="old Per", did="mended", what="the church bell", where="in his barn", when="in November"),
    Event(who="the twins", did="built", what="a raft of barrels", where="behind the school", when="on Sunday"),
    Event(who="our postman", did="lost", what="a sack of letters", where="near the bridge", when="in the storm"),
    Event(who="the widow Lind", did="planted", what="seven walnut trees", where="along the road", when="in autumn"),
    Event(who="the doctor", did="caught", what="an enormous pike", where="in the mill pond", when="on Friday"),
    Event(who="a stranger", did="left", what="a locked trunk", where="at the inn", when="on Tuesday"),
    Event(who="the fishermen", did="saw", what="a white whale", where="off the cape", when="at dawn"),
)
_ORDERS = (
    "{who} {did} {what} {where} {when}",
    "{when} {who} {did} {what} {where}",
    "{where} {who} {did} {what} {when}",
    "{when}, {where}, {who} {did} {what}",
    "{who} {did} {what} {when} {where}",
)
_TELLINGS = ("{}.", "You know, {}.", "I tell you, {}!", "Believe me, {}.")


def reworded() -> list[list[str]]:
    """Two of these events as people would tell them, each in 20 sentences of other words."""
    text = resources.files("simuverse.bench").joinpath("reworded.txt").read_text(encoding="utf-8")
    return [block.splitlines() for block in text.strip().split("\n\n")]


def wordings(event: Event, count: int) -> list[str]:
    """Up to 20 of the same words, each in another order or with another opening."""
    slots = {name: getattr(event, name) for name in Event.__slots__}
    texts = (telling.format(order.format(**slots)) for telling, order in product(_TELLINGS, _ORDERS))
    return [text[:1].upper() + text[1:] for text in islice(texts, count)]
