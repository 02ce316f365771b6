"""Whether anything comes back at all: silence is an answer too.

PURE. What ranks best among bad candidates is still bad, and the signals that rank tell who is better, not how good. So
two things are asked:

- *Is what the query asks for something that is known?* A question about what was never talked about finds some of its
  words somewhere, and something near in meaning somewhere else; seldom all of it in one place. Its sureness says so.
- *Does this memory belong to it?* It is near enough in meaning, or holds enough of a query's words, or its words read
  in context are enough of what a query asks for.

A query of courtesies alone is never sure; one that searches by words alone, or by meaning alone, leaves it to the
second question, as half of the first can't be told. So, the more the fewer they are, does one that found fewer than
:data:`MANY` memories: among a handful no word is rare.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from typing import NamedTuple

FIRST = 3
"""Memories ranked first whose cosines are averaged: one alone is near by chance, and a small store has few."""

MANY = 20
"""Memories found from which a query has to be as sure as it is asked to be."""


class Signs(NamedTuple):
    """What speaks for it that a query asks for something known.

    Args:
        found: the best hit's BM25 read in context as a share of what the query's words could reach, 0 to 1.
        held: the share of the query's words that the best memory holds, each by its nearest word, rare ones counting
            more; where the embedder has no table of words, of the words as they are written; 0 to 1.
        cosines: of the memories it found, best ranked first, :data:`FIRST` or more if there are; -1 to 1.
        agreed: the relevance of the one ranked first, 0 to 1: all of it where every signal puts the same one first.
    """

    found: float
    held: float
    cosines: Sequence[float]
    agreed: float

    @property
    def sureness(self) -> float:
        """Their sum, -1 to 4. All weigh the same: no other weights told own from foreign questions better."""
        first = self.cosines[:FIRST]
        # Not sum: what it rounds to depends on the version of Python.
        return self.found + self.held + (fsum(first) / len(first) if first else 0.0) + self.agreed


def least_sureness(least: float, found: int) -> float:
    """What is asked of a query that found so many memories."""
    return least * min(1.0, found / MANY) if least > 0 else least
