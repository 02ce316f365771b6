"""What became of a flashback in its turn: used, ignored, contradicted. By rule, without a call. PURE.

*Used*: the reply took something from it that was in nothing else the character perceived, a name, a number or words
enough. *Contradicted*: something was said in the turn that can't be true beside it. All else is *ignored*. Words are
compared as a search compares them, so what is used in other words counts as ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from simuverse.memory.analysis import tokens
from simuverse.memory.changed_facts import replaced_by
from simuverse.memory.records import Memory
from simuverse.memory.statements import Statement, particular, said, speaker_of, statement_of, stems

_ABOUT = 0.6
"""Share of a memory's words that a sentence must hold to be about the same, so that what differs contradicts it."""

_ENOUGH = 2
"""Words taken from a memory from which it was used; of names, numbers and dates one is enough."""

_SHARE = 1 / 3
"""Share of what is new in a reply that a single other word must be, to have been taken from a memory."""

_SENTENCE = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")
_CLAIMS_NOTHING = re.compile(r"^(?:please )?(?:don['’]t|do not|never)\b|\bwithout\b|[?？؟]\s*$", re.IGNORECASE)
"""Warnings and questions: they deny nothing."""

_SMALL_TALK = frozenset(
    tokens(
        "hello good morning day evening night thanks thank well glad happy sorry sure see hear know think tell ask say "
        "remember forget help nice lovely great fine please welcome course right wait come go look want need like "
        "time thing way today let much many really idea friend wonder hope maybe perhaps"
    )
)
"""Words that stand in any reply, whatever came to mind."""


class Fate(StrEnum):
    """What became of a flashback in its turn."""

    USED = "used"
    """The reply took something from it that was in nothing else the character perceived."""
    IGNORED = "ignored"
    CONTRADICTED = "contradicted"
    """Something was said in the turn that can't be true beside it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Judged:
    memory: UUID
    fate: Fate


def judged(
    memories: Sequence[Memory], *, owner: str, reply: str, heard: Sequence[tuple[str, str]], perceived: Iterable[str]
) -> tuple[Judged, ...]:
    """What became of the memories that came to mind in a turn.

    Args:
        reply: what the owner said, or did, in words.
        heard: what was said to the owner in this turn, as speaker and text.
        perceived: all other texts that the owner had before it, flashbacks excepted.
    """
    used = _used(memories, owner, reply, heard, perceived)
    own, others = _sentences([(owner, reply)]), _sentences(heard)
    return tuple(
        Judged(memory=memory.id, fate=_fate(statement_of(memory), own, others, used=memory.id in used))
        for memory in memories
    )


def _fate(known: Statement, own: Sequence[Statement], others: Sequence[Statement], *, used: bool) -> Fate:
    """Who uses a memory and says its numbers and dates again holds to it."""
    again = [one for one in own if known.particulars and known.particulars <= one.particulars]
    if used and any(one.negated == known.negated for one in again):
        return Fate.USED
    if any(_contradicts(one, known) for one in (*own, *others)):
        return Fate.CONTRADICTED
    return Fate.USED if used else Fate.IGNORED


def _sentences(voices: Iterable[tuple[str, str]]) -> list[Statement]:
    return [said(part, by=who) for who, text in voices for part in _SENTENCE.split(text) if part.strip()]


def _used(
    memories: Sequence[Memory], owner: str, reply: str, heard: Sequence[tuple[str, str]], perceived: Iterable[str]
) -> set[UUID]:
    """What a word is taken from is the one memory that holds most of what is new in the reply."""
    asked = set(tokens(" ".join(text for _, text in heard)))
    people = set(tokens(" ".join((owner, *(who for who, _ in heard)))))
    known = asked | people | set(tokens(" ".join(perceived)))
    new = set(tokens(reply)) - known - _SMALL_TALK
    telling = {stem for word in _telling_words(reply) for stem in tokens(word)} & new
    held = {memory.id: _tokens_of(memory) for memory in memories}
    used: set[UUID] = set()
    left = set(new)
    for memory in sorted(memories, key=lambda one: -len(held[one.id] & new)):
        taken = held[memory.id] & left
        on_the_subject = bool(held[memory.id] & asked - people)
        if len(taken) >= _ENOUGH or taken & telling or (taken and on_the_subject and len(taken) >= _SHARE * len(new)):
            used.add(memory.id)
            left -= taken
    return used


def _tokens_of(memory: Memory) -> set[str]:
    own = set(tokens(speaker_of(memory)))
    return set(tokens(f"{memory.summary}\n{memory.critical_information}\n{' '.join(memory.keywords)}")) - own


def _telling_words(text: str) -> Iterator[str]:
    """Numbers, dates and the like, and names within a sentence."""
    statement = said(text, by="")
    yield from statement.names
    yield from (word for word in statement.spoken if particular(word) is not None)


def _contradicts(one: Statement, known: Statement) -> bool:
    if one.empty or known.empty or _CLAIMS_NOTHING.search(one.text):
        return False
    if replaced_by(known, one) is not None:
        return True
    own, words = _stems(one), _stems(known)
    shared = own & words
    if len(shared) < _ENOUGH or len(shared) < _ABOUT * min(len(own), len(words)):
        return False
    if one.negated != known.negated:
        return True
    return bool(one.particulars and known.particulars) and one.particulars.isdisjoint(known.particulars)


def _stems(statement: Statement) -> set[str]:
    return {stem for word in statement.words for stem in stems(word)}
