"""What goes when memories are erased: themselves, what rests on them alone, and what was made of them. PURE."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from simuverse.memory.erasing import tells, wordings
from simuverse.memory.records import Memory

EVIDENCE_ERASED = "evidence_erased"
"""Flag of a memory that rested on an erased one, among others."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Doomed:
    """What an erasure comes to.

    Args:
        gone: to be erased, those asked for among them, as far as they are there.
        changed: the others that are to be other than they were, as they are to be.
        bereft: those of ``changed`` that lose a part of their evidence.
        others: all that stay, as they are now.
    """

    gone: Mapping[UUID, Memory]
    changed: tuple[Memory, ...]
    bereft: tuple[Memory, ...]
    others: tuple[Memory, ...]


def doomed(memories: Sequence[Memory], ids: Collection[UUID]) -> Doomed:
    """What erasing ``ids`` comes to.

    Along with them goes what rests on nothing else, what rests on them and holds their words, and what they were
    merged into: the other sources of that merge are current again. Of a merged memory that is itself asked for, the
    sources go too, as they are its earlier wordings.

    Args:
        memories: all of one owner, past and forgotten ones included.
    """
    everything = {memory.id: memory for memory in memories}
    gone = {one: everything[one] for one in ids if one in everything}
    while True:
        texts = wordings(gone.values())
        more = {
            memory.id: memory
            for memory in memories
            if memory.id not in gone and (_rests_on(memory, gone, texts) or _made_with(memory, gone, ids))
        }
        if not more:
            break
        gone |= more
    others = [memory for memory in memories if memory.id not in gone]
    again = [_separate(memory) if _merged_into(memory, gone) else memory for memory in others]
    after = _regrouped([_without_evidence(memory, gone) for memory in again], gone)
    return Doomed(
        gone=gone,
        changed=tuple(new for new, old in zip(after, others, strict=True) if new is not old),
        bereft=tuple(new for new, old in zip(after, again, strict=True) if new is not old),
        others=tuple(others),
    )


def _rests_on(memory: Memory, gone: Mapping[UUID, Memory], texts: Collection[str]) -> bool:
    evidence = set(memory.evidence)
    return not gone.keys().isdisjoint(evidence) and (evidence <= gone.keys() or tells(memory, texts))


def _made_with(memory: Memory, gone: Mapping[UUID, Memory], asked: Collection[UUID]) -> bool:
    of_gone = any(_merged_into(source, {memory.id: memory}) for source in gone.values())
    return of_gone or (memory.superseded_by in asked and _merged_into(memory, gone))


def _merged_into(memory: Memory, into: Mapping[UUID, Memory]) -> bool:
    one = None if memory.superseded_by is None else into.get(memory.superseded_by)
    return one is not None and memory.id in one.evidence


def _separate(memory: Memory) -> Memory:
    return replace(memory, superseded_by=None, superseded_at=None)


def _regrouped(memories: Sequence[Memory], gone: Mapping[UUID, Memory]) -> list[Memory]:
    """What restates an erased memory restates the oldest one left of its group."""
    eldest: dict[UUID, UUID] = {}
    for memory in sorted(memories, key=lambda memory: (memory.created_at, memory.id)):
        if memory.restates is not None and memory.restates in gone:
            eldest.setdefault(memory.restates, memory.id)

    def regrouped(memory: Memory) -> Memory:
        if memory.restates is None or memory.restates not in gone:
            return memory
        first = eldest[memory.restates]
        return replace(memory, restates=None if first == memory.id else first)

    return [regrouped(memory) for memory in memories]


def _without_evidence(memory: Memory, gone: Mapping[UUID, Memory]) -> Memory:
    left = tuple(one for one in memory.evidence if one not in gone)
    if left == memory.evidence:
        return memory
    return replace(memory, evidence=left, flags=tuple(dict.fromkeys((*memory.flags, EVIDENCE_ERASED))))
