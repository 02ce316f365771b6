"""What keeps a store clean: telling a restatement from something new.

PURE. Works on search tokens, so it is as good in one language as in another. What is only likely a restatement counts
as new: a fact lost is worse than an echo kept.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

RESTATED = 0.9
"""Share of a text's tokens that one known text must hold for it to be a mere restatement."""

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


def restates(tokens: Sequence[str], known: Iterable[Sequence[str]], *, vital: Collection[str] = ()) -> bool:
    """Whether ``tokens`` say nothing that one of the ``known`` texts didn't say already.

    Args:
        vital: names and the like: one of them that is new makes the text new, however little else is.
    """
    return any(
        containment(tokens, text) >= RESTATED
        and not differing_figures(tokens, text)
        and set(vital).isdisjoint(set(tokens) - set(text))
        for text in known
        if tokens
    )
