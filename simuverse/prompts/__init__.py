"""The texts that models are given (``*.md``) and the schemas of their replies (``*.rng``), as package data."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from string import Template


@cache
def text(name: str) -> str:
    """The file ``name`` of this package, as it stands."""
    return files(__name__).joinpath(name).read_text(encoding="utf-8")


def fill(name: str, /, **slots: str) -> str:
    """The prompt ``name``.md with every ``$slot`` filled.

    Raises:
        KeyError: a slot of the prompt isn't given.
        ValueError: a slot is given that the prompt doesn't have.
    """
    template = Template(text(f"{name}.md"))
    unknown = sorted(set(slots) - set(template.get_identifiers()))
    if unknown:
        raise ValueError(f"prompt {name} has no slot {', '.join(unknown)}")
    return template.substitute(slots).strip()
