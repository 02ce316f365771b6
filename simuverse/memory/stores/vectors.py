"""What a store demands of a vector before it writes or searches with it."""

from __future__ import annotations

from math import isfinite, sqrt

import numpy as np
from numpy.typing import NDArray

from simuverse.errors import BadVector
from simuverse.memory.store import Vector

_UNIT_TOLERANCE = 1e-6
"""How far from 1 a length may be: float32 rounding stays well below, and what is stored must come back bit by bit."""


def checked_vector(vector: NDArray[np.float32], *, dimension: int) -> Vector:
    """The vector itself if it has length 1, otherwise scaled to it.

    Raises:
        BadVector: a wrong size, NaN, infinity or zeros.
    """
    array = np.asarray(vector, dtype=np.float32)
    if array.shape != (dimension,):
        raise BadVector(f"a vector of shape {array.shape}; this store's embedder makes vectors of {dimension} numbers")
    wide = array.astype(np.float64)
    length = sqrt(wide @ wide)
    if not isfinite(length):
        raise BadVector("a vector holds NaN or infinity")
    if length == 0:
        raise BadVector("a vector of zeros has no direction to compare")
    return array if abs(length - 1) <= _UNIT_TOLERANCE else np.asarray(array / length, dtype=np.float32)
