"""Whether anything comes back at all: silence is an answer too.

PURE. What ranks best among bad candidates is still bad, and the signals that rank tell who is better, not how good. So
two things are asked, both of absolute figures:

- *Is what the query asks for something that is known?* Its sureness is the share of what its words ask for that the
  best hit holds (BM25 read in context, of what it could reach) plus the mean cosine of the three memories ranked first.
  A question about what was never talked about finds some of its words somewhere, and something near in meaning
  somewhere else; seldom both. A single memory of a cosine of :data:`NEAR`, or that holds :data:`HELD` of the words,
  is enough.
- *Does this memory belong to it?* It is near enough in meaning, or holds enough of a query's words, or its words read
  in context are enough of what a query asks for.

A query of courtesies alone is never sure; one that searches by words alone, or by meaning alone, leaves it to the
second question, as half of the first can't be told. So, the more the fewer they are, does one that found fewer than
:data:`MANY` memories: among a handful no word is rare.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

NEAR = 0.6
"""A cosine that unrelated texts don't reach: at it, 1 in 200 of another dialogue's questions was let through."""

HELD = 0.67
"""Share of a query's words that unrelated memories don't hold: as few were let through at it."""

FIRST = 3
"""Memories ranked first whose cosines are averaged: one alone is near by chance, and a small store has few."""

MANY = 20
"""Memories found from which a query has to be as sure as it is asked to be."""


def sureness(found: float, cosines: Sequence[float]) -> float:
    """Of a query, -1 to 2.

    Args:
        found: the best hit's BM25 read in context as a share of what the query's words could reach, 0 to 1.
        cosines: of the memories it found, best ranked first.
    """
    return found + fmean(cosines[:FIRST]) if cosines else found


def least_sureness(least: float, found: int) -> float:
    """What is asked of a query that found so many memories."""
    return least * min(1.0, found / MANY) if least > 0 else least
