"""Telling a question about how things were from one about how they are. PURE.

English, with a few words of German, French and Spanish. Such a question also looks among what is past, and of a fact
that changed what held before comes first.
"""

from __future__ import annotations

import re

_WAS = re.compile(
    r"\b(?:did|was|were|had|used|lived|worked|wohnte|war|waren|hieß|arbeitete|habitait|était|étaient|travaillait|vivía|era"
    r"|trabajaba)\b",
    re.IGNORECASE,
)
_THEN = re.compile(
    r"\b(?:before|previous(?:ly)?|former(?:ly)?|earlier|back then|in those days|at (?:the|that) time|in the past"
    r"|originally|at first|years? ago|months? ago|weeks? ago|days ago|until then"
    r"|last (?:year|month|week|spring|summer|autumn|winter)|(?:on|in|by) (?:the )?(?:\d{1,4}\b|january|february|march"
    r"|april|may|june|july|august|september|october|november|december)|früher|damals|vorher|autrefois|avant|antes|entonces)",
    re.IGNORECASE,
)
_USED_TO = re.compile(r"\buse[d]? to \w+", re.IGNORECASE)
_FORMER = re.compile(r"\b(?:former|previous|old) (?:address|home|job|number|name|boss|teacher|plan)\b", re.IGNORECASE)


def asks_about_then(text: str) -> bool:
    """Whether it asks for what held once: "Where did she live before?"; not for what once happened."""
    if _USED_TO.search(text) or _FORMER.search(text):
        return True
    return _WAS.search(text) is not None and _THEN.search(text) is not None
