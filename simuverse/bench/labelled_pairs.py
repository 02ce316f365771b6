"""Pairs of sentences of which it is known how the second stands to the first: invented, and made to be hard.

``restated`` says nothing beyond the first; ``new`` says something else, or something besides; ``changed`` says what
holds instead by now; ``contradicting`` says that the first isn't so. All are told to one listener, Ada, or by her.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from typing import Literal, get_args

Kind = Literal["restated", "new", "changed", "contradicting"]
KINDS: tuple[Kind, ...] = get_args(Kind)

Telling = Literal["heard", "own", "retold"]
"""Who says the second sentence: anyone; Ada, of what came to mind; or she in other words than the first has."""
TELLINGS: tuple[Telling, ...] = get_args(Telling)

LISTENER = "Ada"


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    speaker: str
    text: str

    def __str__(self) -> str:
        return f"{self.speaker}: {self.text}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """Args: known: said first. draft: said later."""

    kind: Kind
    known: Said
    draft: Said


def labelled_pairs(telling: Telling = "heard", *, held_out: bool = False) -> list[Pair]:
    """300, or of one's own 60, or retold 120; in the same order each time.

    Args:
        held_out: others, that the rules were not made with: 60, or retold 120.
    """
    name = "pairs" if telling == "heard" else f"pairs_{telling}"
    folder = resources.files("simuverse.bench") / f"{name}{'_held_out' * held_out}"
    pairs: list[Pair] = []
    for kind in KINDS:
        file = folder / f"{kind}.txt"
        for line in file.read_text(encoding="utf-8").splitlines() if file.is_file() else ():
            known, _, draft = line.partition(" | ")
            pairs.append(Pair(kind=kind, known=_said(known), draft=_said(draft)))
    return pairs


def _said(text: str) -> Said:
    speaker, _, words = text.partition(": ")
    return Said(speaker=speaker, text=words)
