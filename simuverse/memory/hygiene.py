"""How alike two texts are by their search tokens, so as good in one language as in another. PURE.

What becomes of a draft is told by more than this: see :mod:`simuverse.memory.echoes`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

RESTATED = 0.9
"""Share of a text's tokens that one known text must hold for it to say the same words."""

ALIKE = 0.8
"""Jaccard index of two texts' tokens from which showing both tells nothing more than showing one."""


def containment(tokens: Sequence[str], known: Sequence[str]) -> float:
    """Share of the distinct ``tokens`` that are among ``known``: 0 to 1; 0 for no tokens."""
    wanted = set(tokens)
    return len(wanted & set(known)) / len(wanted) if wanted else 0.0


def likeness(one: Collection[str], other: Collection[str]) -> float:
    """Jaccard index of two sets of tokens, 0 to 1; 0 where either is empty."""
    a, b = set(one), set(other)
    return len(a & b) / len(a | b) if a and b else 0.0


def differing_figures(tokens: Collection[str], known: Collection[str]) -> bool:
    """Whether ``tokens`` hold a number that ``known`` doesn't: then they are never the same fact."""
    return any(not token.isalpha() and any(map(str.isdigit, token)) for token in set(tokens) - set(known))
