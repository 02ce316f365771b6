"""How near each word of a query is to the nearest word of each memory.

One vector for a whole sentence blurs its words: "captain" and "master" are near, but not their sentences. So where the
embedder has a vector for every single word, each word of a query is looked for in each memory by likeness: the same
word counts 1, one of like meaning nearly as much (late interaction, as in ColBERT, Khattab and Zaharia, 2020, over a
table of words).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from simuverse.memory.embedding import Vectors
from simuverse.memory.word_vectors import WordRows, WordVectors

SAME = 0.99
"""Nearness from which two words are one: the rest are rounding errors."""

_BY_ONE_THREAD = 200_000
"""Multiplications that OpenBLAS, which numpy comes with, doesn't share among threads (from 262,144 on it does)."""

Nearness = NDArray[np.float64]
"""Shape (memories, words of the query), each 0 to 1."""


def nearness(query: str, texts: Sequence[str], table: WordVectors) -> Nearness | None:
    """A row a text, in order; zeros for one without content words. None where the query has none."""
    [asked, *found], vectors = table.content([query, *texts])
    holding = [place for place, rows in enumerate(found) if len(rows)]
    if not len(asked) or not holding:
        return None
    distinct, columns = _distinct(np.concatenate(found))
    likeness = _likeness(vectors[distinct], vectors[_distinct(asked)[0]])
    starts = [*accumulate((len(found[place]) for place in holding[:-1]), initial=0)]
    near = np.zeros((len(texts), likeness.shape[1]))
    near[holding] = np.maximum.reduceat(likeness.take(columns, axis=0), starts, axis=0)
    return np.clip(near, 0.0, 1.0)


def _distinct(rows: WordRows) -> tuple[WordRows, WordRows]:
    """Each row once and where it is met first, then the place of each among these.

    What a product rounds to depends on the order, and the rows' own depends on what was looked up before.
    """
    met = np.arange(len(rows))
    place_of = np.empty(rows.max() + 1, dtype=np.intp)
    place_of[rows[::-1]] = met[::-1]  # the last one given stays: the first that is met
    distinct = rows[place_of[rows] == met]
    place_of[distinct] = met[: len(distinct)]
    return distinct, place_of[rows]


def _likeness(words: Vectors, wanted: Vectors) -> Vectors:
    """Cosine of each of the words to each of those wanted."""
    # BLAS shares a larger product among threads, which costs ten times as much where the cores are busy.
    step = max(1, _BY_ONE_THREAD // wanted.size)
    likeness = np.empty((len(words), len(wanted)), dtype=np.float32)
    for start in range(0, len(words), step):
        np.matmul(words[start : start + step], wanted.T, out=likeness[start : start + step])
    return likeness


def rarity(near: Nearness) -> NDArray[np.float64]:
    """What each word of the query counts for, above 0: its idf among the memories weighed, as BM25 has it."""
    holding = (near >= SAME).sum(axis=0)
    return np.asarray(np.log1p((len(near) - holding + 0.5) / (holding + 0.5)), dtype=np.float64)


def most_held(near: Nearness) -> float:
    """Share of the query's words, rare ones counting more, that the memory which holds most of them does; 0 to 1."""
    rare = rarity(near)
    return float(np.vecdot(near, rare).max() / rare.sum())
