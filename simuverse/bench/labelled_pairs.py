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


def labelled_pairs(*, own: bool = False, held_out: bool = False) -> list[Pair]:
    """300, in the same order each time.

    Args:
        own: 60 others, whose second sentence Ada says of what came to mind.
        held_out: 60 others of either, that the rules were not made with.
    """
    folder = resources.files("simuverse.bench") / f"pairs{'_own' * own}{'_held_out' * held_out}"
    pairs: list[Pair] = []
    for kind in KINDS:
        for line in (folder / f"{kind}.txt").read_text(encoding="utf-8").splitlines():
            known, _, draft = line.partition(" | ")
            pairs.append(Pair(kind=kind, known=_said(known), draft=_said(draft)))
    return pairs


def _said(text: str) -> Said:
    speaker, _, words = text.partition(": ")
    return Said(speaker=speaker, text=words)
