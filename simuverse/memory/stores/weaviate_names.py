"""Names of collections and tenants: one for each owner, reversible, and no two alike even where case is ignored.

A server takes ``[A-Z][_0-9A-Za-z]{0,254}`` for collections, and holds names that differ only in case for the same;
``[A-Za-z0-9_-]{1,64}`` for tenants. So small letters and digits stand for themselves and everything else is escaped:
``_J`` is a capital J, ``_020_`` the character of that hexadecimal number after the 0. An owner whose name would grow
too long is named by a hash, after two underscores, where no escape can begin; the full name is then kept elsewhere: in
the collection's description, or among the names of tenants.
"""

from __future__ import annotations

import re
from hashlib import sha256

MAX_LENGTH = 255
"""Characters of a collection's name, by the server's own rule."""

MAX_TENANT_LENGTH = 64
"""Characters of a tenant's name, likewise."""

PREFIX = "Memories"

LONG_NAMES = "-names"
"""The tenant that keeps the owners whose tenants are named by a hash. No owner's name begins with a hyphen here."""

_HASHED = "__"

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")
_ESCAPE = re.compile("_(?:([A-Za-z])|0([0-9a-fA-F]+)_)")
_ENCODED = re.compile(rf"(?:[a-z0-9]|{_ESCAPE.pattern})+")


def collection_name(owner: str, *, prefix: str = PREFIX) -> str:
    """Args:
    owner: any text but an empty one.
    prefix: letters and digits, the first a capital.
    """
    return f"{prefix}_{_encoded(owner, longest=MAX_LENGTH - len(prefix) - 1)}"


def tenant_name(owner: str) -> str:
    """Args:
    owner: any text but an empty one.
    """
    return _encoded(owner, longest=MAX_TENANT_LENGTH)


def owner_of(name: str, *, prefix: str = PREFIX) -> str | None:
    """The owner that a collection is named for; None for a hashed name, or one that isn't ours."""
    encoded = name.removeprefix(f"{prefix}_")
    return None if encoded == name else _decoded(encoded)


def owner_of_tenant(name: str) -> str | None:
    """None for a hashed name, or one that isn't ours."""
    return _decoded(name)


def is_hashed(tenant: str) -> bool:
    """Whether the owner can't be told from this tenant's name."""
    return tenant.startswith(_HASHED)


def _encoded(owner: str, *, longest: int) -> str:
    encoded = "".join(map(_escaped, owner))
    return encoded if len(encoded) <= longest else f"{_HASHED}{sha256(owner.encode()).hexdigest()}"[:longest]


def _decoded(encoded: str) -> str | None:
    if not _ENCODED.fullmatch(encoded):
        return None
    return _ESCAPE.sub(lambda found: found[1].upper() if found[1] else chr(int(found[2], 16)), encoded)


def _escaped(char: str) -> str:
    if char in _PLAIN:
        return char
    return f"_{char}" if "A" <= char <= "Z" else f"_0{ord(char):x}_"
