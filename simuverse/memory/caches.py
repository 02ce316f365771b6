"""What this process keeps of texts to be faster, and lets go of when a memory is erased.

Erased means from every cache too. What made them is worked out again when it is next wanted, in milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol
from weakref import WeakSet


class Cache(Protocol):
    def let_go(self) -> None:
        """Of all that it holds."""
        ...


_emptied_by: list[Callable[[], object]] = []
_caches: WeakSet[Cache] = WeakSet()


def until_erased(empty: Callable[[], object]) -> None:
    """Args: empty: lets go of all that a cache holds; called whenever anything is erased."""
    _emptied_by.append(empty)


def emptied_when_erased(cache: Cache) -> None:
    """The same for an object, which is not kept alive by it."""
    _caches.add(cache)


def let_go() -> None:
    """Empties all of them. Called on the loop that uses them, as none is guarded against another thread."""
    for empty in _emptied_by:
        empty()
    for cache in list(_caches):
        cache.let_go()
