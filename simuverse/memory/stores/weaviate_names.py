"""Names of collections: one for each owner, reversible, and no two alike even to a server that ignores case.

A server takes ``[A-Z][_0-9A-Za-z]{0,254}`` and holds names that differ only in case for the same. So small letters and
digits stand for themselves and everything else is escaped: ``_J`` is a capital J, ``_020_`` the character of that
hexadecimal number after the 0. An owner whose name would grow too long is named by a hash, after two underscores, where
no escape can begin; the full name then stands in the collection's description alone.
"""

from __future__ import annotations

import re
from hashlib import sha256

MAX_LENGTH = 255
"""Characters of a collection's name, by the server's own rule."""

PREFIX = "Memories"

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")
_ESCAPE = re.compile("_(?:([A-Za-z])|0([0-9a-fA-F]+)_)")
_ENCODED = re.compile(rf"(?:[a-z0-9]|{_ESCAPE.pattern})+")


def collection_name(owner: str, *, prefix: str = PREFIX) -> str:
    """Args:
    owner: any text but an empty one.
    prefix: letters and digits, the first a capital.
    """
    name = f"{prefix}_{''.join(map(_escaped, owner))}"
    if len(name) <= MAX_LENGTH:
        return name
    return f"{prefix}___{sha256(owner.encode()).hexdigest()}"


def owner_of(name: str, *, prefix: str = PREFIX) -> str | None:
    """The owner that a collection is named for; None for a hashed name, or one that isn't ours."""
    encoded = name.removeprefix(f"{prefix}_")
    if encoded == name or not _ENCODED.fullmatch(encoded):
        return None
    return _ESCAPE.sub(lambda found: found[1].upper() if found[1] else chr(int(found[2], 16)), encoded)


def _escaped(char: str) -> str:
    if char in _PLAIN:
        return char
    return f"_{char}" if "A" <= char <= "Z" else f"_0{ord(char):x}_"
