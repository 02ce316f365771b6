"""How near an embedder puts texts that have nothing to do with each other.

Cosines of one embedder don't compare with those of another: unrelated sentences lie about 0 apart by the default's
vectors, and at 0.8 by those of E5. What is asked of a cosine, whoever made it, is how far it is above that.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from simuverse.memory.embedding import Embedder
from simuverse.memory.graded_events import graded_events

UNRELATED = 0.02
"""The mean cosine of unrelated texts by the default embedder, by which the gate was measured."""

_EVERY = 7
"""Of the graded events, which tell of everything, some 30 are enough: 450 pairs."""

_known: WeakKeyDictionary[Embedder, float] = WeakKeyDictionary()


async def background(embedder: Embedder) -> float:
    """Mean cosine of unrelated texts, 0 to below 1. Embeds some 30 short texts the first time.

    Raises:
        EmbedderError: they couldn't be embedded.
    """
    known = _known.get(embedder)
    if known is None:
        vectors = await embedder.embed(graded_events().texts[::_EVERY])
        pairs = np.triu_indices(len(vectors), 1)
        cosines = np.array([np.vecdot(vectors, one) for one in vectors])[pairs]
        known = _known[embedder] = float(np.clip(cosines.mean(), 0.0, 0.99))
    return known


def above(cosine: float, background: float) -> float:
    """The cosine as it would be if unrelated texts lay :data:`UNRELATED` apart; 1 stays 1."""
    return UNRELATED + (1 - UNRELATED) * (cosine - background) / (1 - background)
