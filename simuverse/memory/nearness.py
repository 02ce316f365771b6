"""How near each word of a query is to the nearest word of each memory.

One vector for a whole sentence blurs its words: "captain" and "master" are near, but not their sentences. So where the
embedder has a vector for every single word, each word of a query is looked for in each memory by likeness: the same
word counts 1, one of like meaning nearly as much (late interaction, as in ColBERT, Khattab and Zaharia, 2020, over a
table of words).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from simuverse.memory.analysis import content_words
from simuverse.memory.embedding import WordVectors

SAME = 0.99
"""Nearness from which two words are one: the rest are rounding errors."""

Nearness = NDArray[np.float64]
"""Shape (memories, words of the query), each 0 to 1."""


def nearness(query: str, texts: Sequence[str], table: WordVectors) -> Nearness | None:
    """A row a text, in order; zeros for one without content words. None where the query has none."""
    wanted = list(dict.fromkeys(content_words(query)))
    found = [content_words(text) for text in texts]
    vocabulary = {word: place for place, word in enumerate(dict.fromkeys(chain.from_iterable(found)))}
    if not wanted or not vocabulary:
        return None
    # Not by `@`: BLAS would share the product among threads, which costs ten times as much where the cores are busy.
    vectors = table.word_vectors(list(vocabulary))
    likeness = np.array([np.vecdot(vectors, word) for word in table.word_vectors(wanted)], dtype=np.float64)
    rows = np.zeros((len(texts), len(wanted)))
    holding = [place for place, words in enumerate(found) if words]
    columns = [vocabulary[word] for place in holding for word in found[place]]
    starts = np.cumsum([0, *(len(found[place]) for place in holding)])[:-1]
    rows[holding] = np.maximum.reduceat(likeness[:, columns], starts, axis=1).T
    return np.clip(rows, 0.0, 1.0)


def rarity(near: Nearness) -> NDArray[np.float64]:
    """What each word of the query counts for, above 0: its idf among the memories weighed, as BM25 has it."""
    holding = (near >= SAME).sum(axis=0)
    return np.asarray(np.log1p((len(near) - holding + 0.5) / (holding + 0.5)), dtype=np.float64)
