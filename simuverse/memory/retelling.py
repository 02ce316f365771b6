"""Telling whether one may only retell, in words of one's own, what came to mind this very turn. PURE.

Who speaks right after something came to mind mostly speaks of it, and says freely what was said to them. So what
:mod:`simuverse.memory.echoes` takes for something else is looked at again, by what it adds. What is retold adds common
words alone, which tell little of anything, or words that together mean what it leaves out, as "kin by the sea" does for
"cousins on the coast"; denies what a word like "free" denies by itself; says "we" of what holds for everyone; or is
said to another, by name. That is never sure: it links a draft, and refuses none.

The other way round, what is only likely an echo isn't one if a rare word of its own has nothing in common with what it
leaves out: of the same pulpit, that it has woodworm and that somebody carved it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from simuverse.memory.echoes import (
    FOREIGN,
    PREFIX,
    denies_other,
    is_of_another,
    likeness,
    names,
    own_words,
    replaced,
    strange_names,
    tells_a_change,
    tells_other_particulars,
)
from simuverse.memory.statements import Statement, listed, stems
from simuverse.memory.store import Vector
from simuverse.memory.synonyms import mean_the_same, tells_little
from simuverse.memory.word_vectors import WordVectors

_NEAR = 0.45
"""Cosine below which it is hardly of the same."""

_COMMON, _COMMON_DENIED, _COMMON_INSTEAD = 0.8, 0.93, 0.5
"""Weights up to which a word is so common that it may be a paraphrase's. A denial needs another word than what it
denies ("no water" for "dry"); what stands in another's place says something else if it tells anything."""

_OF_THE_SAME = 0.2
"""Cosine of all their words from which two texts may be of the same, if neither a number nor a name says so."""

_MEANS_THE_REST = 0.12
"""Cosine of the words that only one of both has from which they may say the same: what is new of the same things has
hardly any likeness to what it leaves out."""

_RARE, _NOTHING_IN_COMMON = 1.0, 0.05
"""Weight from which a word of its own, and the same cosine below which it tells something else of the same things."""

_WORDIER = 2.0
"""How much more its own words may weigh than those it leaves out. Beyond, it tells something beside it."""

_DENYING = listed(
    "forbid forbids forbade forbidden ban bans banned prevent prevents prevented refuse refuses refused avoid avoids "
    "avoided lack lacks lacked miss misses missed missing fail fails failed stop stops stopped quit quits lose loses "
    "lost free empty dry closed shut gone absent alone allergic ill sick blind deaf lame dead broken afraid scared "
    "hate hates hated secret"
)
"""What says by itself that something isn't there, isn't done or isn't so."""

_TRUE = ("true", "right", "correct")

_BEYOND = re.compile(r"\b(?:too|also|besides|as well|should|ought|wants?|wish(?:es)?)\b")
"""Says that there is more, or that it isn't yet so."""


def may_retell(draft: Statement, known: Statement, *, cosine: float, table: WordVectors) -> bool:
    """Not of what one said oneself: that goes on, and what others said one knows from them alone.

    Args:
        draft: said by oneself.
        known: came to mind this turn.
    """
    if draft.speaker == known.speaker or draft.empty or known.empty or _tells_otherwise(draft, known):
        return False
    bare = draft.unaddressed
    foreign = _unlike(bare, known, table)
    if cosine >= _NEAR and _is_common(foreign, draft, known, table):
        return True
    return not replaced(draft, known) and _mean_the_same(foreign, _unlike(known, bare, table), bare, known, table)


def tells_something_else(draft: Statement, known: Statement, table: WordVectors) -> bool:
    """Whether a rare word of its own means nothing of what it leaves out.

    Args:
        draft: said by oneself.
        known: came to mind this turn.
    """
    bare = draft.unaddressed
    foreign, left_out = _unlike(bare, known, table), _unlike(known, bare, table)
    if not foreign or not left_out or max(table.weights(foreign)) < _RARE:
        return False
    return _cosine(foreign, left_out, table) < _NOTHING_IN_COMMON


def _tells_otherwise(draft: Statement, known: Statement) -> bool:
    return (
        tells_other_particulars(draft, known)
        or _denies_otherwise(draft, known)
        or (tells_a_change(draft, known) and draft.change != "since")  # mostly gives a reason
        or (is_of_another(draft, known) and not (draft.of_us and not known.of_speaker))
        or not (strange_names(draft, known) <= _told_by_name(draft, known))
        or (_goes_beyond(draft) and not _goes_beyond(known))
    )


def _goes_beyond(statement: Statement) -> bool:
    return _BEYOND.search(" ".join(statement.spoken)) is not None


def _told_by_name(draft: Statement, known: Statement) -> frozenset[str]:
    """Whom it is told to. Where it doesn't name whoever said it, "your" is another's."""
    return draft.addressed if names(draft, known.speaker) else frozenset()


def _denies_otherwise(draft: Statement, known: Statement) -> bool:
    """Not if both deny the same, if a denial is left out with all that it denies, or if one word denies by itself."""
    if not denies_other(draft, known):
        return False
    own, others = (frozenset[str]().union(*one.denied) for one in (draft, known))
    if draft.denied and known.denied:
        return not own <= others
    if known.denied and not draft.negated and others.isdisjoint(draft.stems):
        return False
    by_itself = [word for word in (known if draft.denied else draft).spoken if word in _DENYING]
    return not by_itself or any(_is_among(word, own | others) for word in (*by_itself, *_TRUE))


def _is_among(word: str, tokens: frozenset[str]) -> bool:
    own, alike = stems(word), {token[:PREFIX] for token in tokens if len(token) >= PREFIX}
    return (
        not own.isdisjoint(tokens)
        or word[:PREFIX] in alike
        or any(mean_the_same(word, own, token, (token,)) for token in tokens)
    )


def _telling(statement: Statement, other: Statement) -> list[str]:
    return [word for word in dict.fromkeys(own_words(statement, other)) if not tells_little(word)]


def _unlike(statement: Statement, other: Statement, table: WordVectors) -> list[str]:
    """Its words that are like none of the other's."""
    held = likeness(_telling(statement, other), other, table)
    return [word for word, near in held.items() if near < FOREIGN]


def _is_common(foreign: Sequence[str], draft: Statement, known: Statement, table: WordVectors) -> bool:
    if bool(draft.denied) != bool(known.denied):
        most = _COMMON_DENIED
    else:
        most = _COMMON_INSTEAD if replaced(draft, known) else _COMMON
    return all(weight <= most for weight in table.weights(foreign))


def _mean_the_same(
    foreign: Sequence[str], left_out: Sequence[str], draft: Statement, known: Statement, table: WordVectors
) -> bool:
    """Whether what each has for itself may say the same in other words, of the same."""
    if not foreign or not left_out or sum(table.weights(foreign)) > _WORDIER * sum(table.weights(left_out)):
        return False
    of_the_same = bool(draft.particulars & known.particulars or draft.names & known.names)
    if not of_the_same:
        of_the_same = _cosine(_telling(draft, known), _telling(known, draft), table) >= _OF_THE_SAME
    return of_the_same and _cosine(foreign, left_out, table) >= _MEANS_THE_REST


def _cosine(words: Sequence[str], others: Sequence[str], table: WordVectors) -> float:
    return float(np.vecdot(_together(words, table), _together(others, table)))


def _together(words: Sequence[str], table: WordVectors) -> Vector:
    """What words are about together, of length 1; or 0, if they have nothing in common with anything."""
    weights = np.asarray(table.weights(words), dtype=np.float32)
    total: Vector = np.sum(table.word_vectors(words) * weights[:, np.newaxis], axis=0)
    length = np.float32(np.linalg.norm(total))
    unit: Vector = total / length if length else total
    return unit
