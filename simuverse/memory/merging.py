"""Several memories of one thing, as one. PURE: nothing is stored; in which order they are given is no matter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from simuverse.memory.analysis import tokens
from simuverse.memory.audit import Actor
from simuverse.memory.records import MAX_KEYWORDS, Memory, Provenance, Source, memory_id
from simuverse.memory.statements import statement_of


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


def absorbed(memory: Memory, other: Memory) -> Memory:
    """The one with all that the other, which tells the same in other words, has besides.

    Wording and category are those of whichever tells more; time and place are those of the last telling. To absorb the
    same again changes nothing, and of several it is no matter in which order they come, but for whose id it is.
    """
    worded = min((memory, other), key=lambda one: (-_tells(one), len(one.summary), one.summary, one.category))
    last = max((memory, other), key=lambda one: (one.created_at, one.episode, one.position, one.location))
    facts = _distinct(sorted((*memory.critical_information.split("; "), *other.critical_information.split("; "))))
    return replace(
        memory,
        summary=worded.summary,
        category=worded.category,
        keywords=_most_telling((*memory.keywords, *other.keywords)),
        critical_information="; ".join(facts),
        importance=max(memory.importance, other.importance),
        created_at=last.created_at,
        last_accessed_at=max(memory.last_accessed_at, other.last_accessed_at),
        location=last.location,
        episode=last.episode,
        position=last.position,
        provenance=replace(
            memory.provenance,
            messages=tuple(sorted({*memory.provenance.messages, *other.provenance.messages})),
        ),
        evidence=tuple(sorted({*memory.evidence, *other.evidence} - {memory.id})),
        flags=tuple(sorted({*memory.flags, *other.flags})),
    )


def _tells(memory: Memory) -> int:
    """How much, without what is put around it: "You know that" tells nothing."""
    statement = statement_of(memory)
    return len(statement.stems) + len(statement.particulars)


def _most_telling(keywords: Sequence[str]) -> tuple[str, ...]:
    """As many as there is room for: names and figures first, then the longest."""

    def rank(keyword: str) -> tuple[bool, int, str]:
        return not (keyword[:1].isupper() or any(map(str.isdigit, keyword))), -len(keyword), keyword

    return tuple(sorted(_distinct(sorted(keywords, key=rank)), key=rank)[:MAX_KEYWORDS])


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
