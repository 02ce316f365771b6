"""Names and texts as they may be shown to a model: nothing invisible in them, and no name passes for another. PURE.

What is stored is what was said, to the character; this is for prompts alone.
"""

from __future__ import annotations

import re
import unicodedata

LONGEST = 60
"""Characters of a name that are shown."""

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
"""Characters without a shape of their own that no script needs to be read: marks that turn the direction of what
follows, blanks of no width, fillers, tags, selectors of variants but those of emoji. Joiners (U+200C, U+200D) stay."""

_JOINERS = re.compile("[\u200c\u200d\ufe0e\ufe0f]")
"""Invisible too: needed within some scripts and emoji, so they stay in texts, but not in names that are Latin."""

_PLAIN = re.compile(r"[\w.'’ -]+")

_ALPHABETS = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "DESERET", "LISU")
"""Scripts with letters that look like those of another."""


def visible(text: str) -> str:
    """Without what can't be seen: no text says more to a model than to a person."""
    return _INVISIBLE.sub("", text)


def in_one_line(text: str) -> str:
    """Visible, with each stretch of white space as one blank: nothing in it stands at the beginning of a line."""
    return " ".join(visible(text).split())


def shown(name: str) -> str:
    """A name as it stands in a prompt.

    It is in quotes where it could be taken for more than a name, and says so where it is written to look like another:
    with characters that can't be seen, in letters of another width or form, or of several alphabets in one word.
    """
    bare = in_one_line(_JOINERS.sub("", name) if name.isascii() or _latin(name) else name)
    folded = unicodedata.normalize("NFKC", bare)
    why = ""
    if bare != name.strip():
        why = "with characters that can't be seen"
    elif unicodedata.normalize("NFC", bare) != folded:
        why = "in letters of another form"
    elif any(len(_alphabets(word)) > 1 for word in bare.split()):
        why = "in letters of several alphabets"
    short = bare if len(bare) <= LONGEST else f"{bare[:LONGEST].rstrip()}…"
    plain = _PLAIN.fullmatch(unicodedata.normalize("NFC", short))
    quoted = short if plain and " to " not in f" {short} " else f"“{short.replace('”', '’')}”"
    return f"{quoted} (written {why})" if why else quoted


def _latin(name: str) -> bool:
    return any(unicodedata.name(char, "").startswith("LATIN") for char in name)


def _alphabets(word: str) -> set[str]:
    """Of a word's letters, as far as they can be taken for each other."""
    scripts = (unicodedata.name(char, "").split(" ", 1)[0] for char in word if char.isalpha())
    return {script for script in scripts if script in _ALPHABETS}
