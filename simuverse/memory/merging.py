"""Several memories of one thing, as one. PURE: nothing is stored; in which order they are given is no matter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from simuverse.memory.analysis import tokens
from simuverse.memory.audit import Actor
from simuverse.memory.records import MAX_KEYWORDS, Memory, Provenance, Source, memory_id


def richest(memories: Iterable[Memory]) -> Memory:
    """The one that tells most: by distinct search tokens, then importance, then age."""
    return min(memories, key=lambda memory: (-_told(memory), -memory.importance, memory.created_at, memory.id))


def merged(memories: Sequence[Memory], *, summary: str | None = None, by: Actor) -> Memory:
    """One memory in place of several.

    Keywords are all of theirs, as far as there is room, the richest one's first; importance is the highest; critical
    information is all of theirs; evidence is all their ids. It is as old as the oldest. All else is the richest one's.

    Args:
        memories: two or more, of one owner.
        summary: the wording; by default that of the richest. A wording of someone's own isn't what anyone said: unless
            all come from the same source, it is the operator's, or inferred.
    """
    main = richest(memories)
    ordered = [main, *sorted((memory for memory in memories if memory.id != main.id), key=lambda memory: memory.id)]
    provenance = main.provenance
    if summary is not None and len({_origin(memory) for memory in memories}) > 1:
        provenance = Provenance(
            source=Source.OPERATOR if by == "operator" else Source.INFERRED, turn=main.provenance.turn
        )
    return Memory(
        id=memory_id(main.owner, f"merge/{'/'.join(sorted(str(memory.id) for memory in memories))}", 0),
        owner=main.owner,
        summary=summary or main.summary,
        category=main.category,
        keywords=_distinct(keyword for memory in ordered for keyword in memory.keywords)[:MAX_KEYWORDS],
        critical_information="; ".join(_distinct(memory.critical_information for memory in ordered)),
        importance=max(memory.importance for memory in memories),
        created_at=min(memory.created_at for memory in memories),
        last_accessed_at=max(memory.last_accessed_at for memory in memories),
        location=main.location,
        provenance=replace(
            provenance, messages=_distinct(message for memory in ordered for message in memory.provenance.messages)
        ),
        evidence=tuple(sorted(memory.id for memory in memories)),
        episode=main.episode,
        position=main.position,
        flags=_distinct((*(flag for memory in ordered for flag in memory.flags), f"merged_by:{by}")),
    )


def _told(memory: Memory) -> int:
    return len(set(tokens(f"{memory.summary}\n{memory.critical_information}")))


def _origin(memory: Memory) -> tuple[Source, str | None, str | None]:
    return memory.provenance.source, memory.provenance.speaker, memory.provenance.listener


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    """Each once, in whatever case it came first."""
    found: dict[str, str] = {}
    for text in texts:
        if text.strip():
            found.setdefault(text.casefold(), text)
    return tuple(found.values())
