"""How important a text is that no model rated: as important as the events likest to it.

Rules know some words for what turns a life; there are always others. So beside them stands a list of invented events
with a person's grades, and a text is worth what those near it in meaning are worth: the mean of all grades, each
weighed by ``exp(SHARPNESS * cosine)`` (Nadaraya-Watson regression). A text like none of them counts as a plain remark.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib import resources
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from simuverse.memory.embedding import Embedder, Vectors
from simuverse.memory.records import BY_RULE, IMPORTANCE_MAX, IMPORTANCE_MIN, Memory
from simuverse.memory.statements import statement_of
from simuverse.memory.store import Vector

SHARPNESS = 20.0
"""How much more a nearer event counts: 7 times for 0.1 of cosine."""

_PLAIN_GRADE, _PLAIN_COSINE, _PLAIN_EVENTS = 2.0, 0.25, 5.0
"""What a plain remark is worth; it counts as so many events of that grade, at a cosine that unrelated texts reach."""

_SLOPE, _BASE = 1.25, -1.0
"""A mean lies nearer to the middle than what it is the mean of; this stretches it again."""


class GradedEvents(NamedTuple):
    """Args:
    grades: 1 to 10, shape (events,).
    texts: in the same order.
    """

    grades: NDArray[np.float64]
    texts: tuple[str, ...]


@cache
def graded_events() -> GradedEvents:
    text = resources.files("simuverse.memory").joinpath("graded_events.txt").read_text(encoding="utf-8")
    lines = [line.partition(" ") for line in text.splitlines() if not line.startswith("#")]
    return GradedEvents(np.array([float(grade) for grade, _, _ in lines]), tuple(event for _, _, event in lines))


_vectors_by: WeakKeyDictionary[Embedder, Vectors] = WeakKeyDictionary()


async def raised(draft: Memory, vector: Vector, embedder: Embedder) -> Memory:
    """The draft, more important if a rule rated it, it asks nothing, and events like it are.

    Embeds the list once for each embedder.

    Raises:
        EmbedderError: the list couldn't be embedded.
    """
    if BY_RULE not in draft.flags or statement_of(draft).asks:
        return draft
    vectors = _vectors_by.get(embedder)
    if vectors is None:
        vectors = _vectors_by[embedder] = await embedder.embed(graded_events().texts)
    return replace(draft, importance=max(draft.importance, importance_among(vector, vectors)))


def importance_among(vector: Vector, events: Vectors) -> int:
    """1 to 10.

    Args:
        events: a vector for each of :func:`graded_events`, in order.
    """
    weights = np.exp(SHARPNESS * np.vecdot(events, vector).astype(np.float64))
    plain = _PLAIN_EVENTS * np.exp(SHARPNESS * _PLAIN_COSINE)
    grade = (np.vecdot(weights, graded_events().grades) + plain * _PLAIN_GRADE) / (weights.sum() + plain)
    return round(min(max(_SLOPE * float(grade) + _BASE, IMPORTANCE_MIN), IMPORTANCE_MAX))
