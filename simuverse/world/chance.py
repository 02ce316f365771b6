"""Chance as an argument: every draw of a run follows from its seed and from what it is drawn for."""

from __future__ import annotations

from hashlib import sha256


def draw(seed: int, tick: int, agent: str, purpose: str, n: int = 0) -> int:
    """A number from 0 to 2**31 - 1, the same in every process."""
    digest = sha256(f"{seed}\x1f{tick}\x1f{agent}\x1f{purpose}\x1f{n}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1
