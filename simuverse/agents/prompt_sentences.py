"""What stands in a person's prompts at all times, sentence by sentence: none of it is news to them. PURE."""

from __future__ import annotations

import re
from functools import cache

from simuverse import prompts
from simuverse.agents.turn import Persona

_PROMPTS = ("character.md", "memory.md")
"""The prompt of the character, and that of whoever writes its memories, examples included."""

_TAG = re.compile(r"<[^<>]*>")
_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n\s*\n|\n- ")
_FEWEST = 3
"""Words of a sentence that is worth looking for: less than that is anybody's."""


def prompt_sentences(persona: Persona) -> tuple[str, ...]:
    """Those of the person first."""
    own = _sentences("\n\n".join((persona.description, *persona.facts, *persona.wishes)))
    return tuple(dict.fromkeys((*own, *_standing())))


@cache
def _standing() -> tuple[str, ...]:
    return tuple(sentence for name in _PROMPTS for sentence in _sentences(_TAG.sub("\n\n", prompts.text(name))))


def _sentences(text: str) -> list[str]:
    found = (" ".join(part.split()) for part in _END.split(text))
    return [part for part in found if len(part.split()) >= _FEWEST and "$" not in part]
