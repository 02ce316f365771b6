"""A memory in another wording. PURE."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from simuverse.errors import UsageError
from simuverse.memory.analysis import tokens
from simuverse.memory.audit import Actor
from simuverse.memory.records import MAX_KEYWORDS, Category, Memory


def rewritten(
    old: Memory,
    summary: str | None,
    *,
    keywords: Sequence[str] | None,
    critical_information: str | None,
    importance: int | None,
    category: Category | None,
    by: Actor,
) -> Memory:
    """What is None stays, but of a new summary: then keywords and critical information that aren't in it go.

    Source and evidence stay; a flag says who edited it.

    Raises:
        UsageError: it can't be a memory, or is the same as before.
    """
    if summary is not None:
        words = set(tokens(summary))
        if keywords is None:
            keywords = [keyword for keyword in old.keywords if set(tokens(keyword)) <= words]
        if critical_information is None and not set(tokens(old.critical_information)) <= words:
            critical_information = ""
    try:
        new = replace(
            old,
            summary=old.summary if summary is None else summary.strip(),
            keywords=old.keywords if keywords is None else tuple(dict.fromkeys(keywords))[:MAX_KEYWORDS],
            critical_information=old.critical_information if critical_information is None else critical_information,
            importance=old.importance if importance is None else importance,
            category=old.category if category is None else category,
        )
    except ValueError as error:
        raise UsageError(f"that can't be a memory: {error}") from error
    if new == old:
        raise UsageError(f"nothing to rewrite: memory {old.id} says that already")
    return replace(new, flags=tuple(dict.fromkeys((*old.flags, f"edited_by:{by}"))))
