"""What this process keeps of texts to be faster, and lets go of when a memory is erased.

Erased means from every cache too. What made them is worked out again when it is next wanted, in milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable

_emptied_by: list[Callable[[], object]] = []


def until_erased(empty: Callable[[], object]) -> None:
    """Args: empty: lets go of all that a cache holds; called whenever anything is erased."""
    _emptied_by.append(empty)


def let_go() -> None:
    """Empties all of them. Called on the loop that uses them, as none is guarded against another thread."""
    for empty in _emptied_by:
        empty()
