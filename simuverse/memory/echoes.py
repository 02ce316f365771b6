"""Telling whether a text only says again what is known. PURE.

By a sum of signals, each with a round weight. Numbers, dates, names, negation and another person are no matter of
degree: where one differs, it is no restatement. What is only likely one is kept: a fact lost is worse than an echo
kept.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np

from simuverse.memory.arrangement import counts_otherwise, says_otherwise
from simuverse.memory.statements import LONGEST, Statement, stems
from simuverse.memory.synonyms import mean_the_same, meanings, tells_little
from simuverse.memory.word_vectors import WordVectors

FOREIGN = 0.45
"""Likeness to the nearest known word below which a word says something of its own."""

_PARALLEL = 0.6
"""Share of their words in the same order from which two texts are made to one pattern."""

_JOINTS = frozenset(
    ("and", "but", "because", "so", "who", "which", "while", "although", "when", "since", "und", "et", "y")
)

FEWEST = 2
"""Words that a text must have to be compared with a longer one: a single one is in too many."""

_FAR = 0.2
"""Cosine below which nothing but single words is shared."""

PREFIX = 5
"""Letters that two words share at their beginning to be taken for relatives, where no table tells."""
_RELATIVE = 0.8


SURE = 2.0
"""Score from which a text is a restatement: from here on no other was among the labelled pairs."""

SURE_OF_OWN = 0.0
"""The same for what one says oneself of what came to mind, or stands in one's prompt, this very turn: one says little
else of it, and what one says one knew."""

LIKELY, LIKELY_OF_OWN = 0.0, -1.5
"""Scores from which a text is linked to what it may restate: about as often right as not, below."""

_BASE = -6.5
"""So that a text of which nothing is known, held 0 and cosine 0, is no restatement by far."""

_HELD, _COSINE = 6.0, 4.0
"""Words known one by one tell most; the vectors of whole sentences, where names weigh as well, less."""

_FEW = 1
"""Words of its own that a sure restatement may have: two are enough to tell something beside it."""

_FOREIGN, _REPLACED, _CONFIRMS = -0.5, -2.0, 2.5
"""A word of its own is mostly a paraphrase's, yet tells; one put in another's place mostly makes another fact; and
whoever says that it was said before is believed, up to a point."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Echo:
    """How a draft compares with what is known.

    Args:
        held: mean likeness of its words to the nearest known ones, 0 to 1.
        cosine: of both texts, -1 to 1.
        foreign: words that are like none of the known.
        replaced: words that stand where the known text, made to the same pattern, has another.
        substitutes: it has a word of its own, and the known text one that it hasn't, so that one may stand in the
            other's place, in whatever order; or its words stand so that they say something else.
        confirms: it says that it was said before.
        adds: it goes on, after "and" or the like, with a word of its own.
    """

    held: float
    cosine: float
    foreign: int
    replaced: int
    substitutes: bool
    confirms: bool
    adds: bool

    @property
    def score(self) -> float:
        """Above 0 it is more likely a restatement than not."""
        parts = _HELD * self.held + _COSINE * self.cosine + _FOREIGN * self.foreign + _REPLACED * self.replaced
        return _BASE + parts + _CONFIRMS * self.confirms

    def is_sure(self, *, of_own: bool = False) -> bool:
        """Args: of_own: whether one says it oneself of what came to mind, or stands in one's prompt, this very turn."""
        least = SURE_OF_OWN if of_own else SURE
        return not self.adds and not self.substitutes and self.foreign <= _FEW and self.score >= least

    def is_likely(self, *, of_own: bool = False) -> bool:
        """Whether it is to be linked."""
        return not self.replaced and self.score >= (LIKELY_OF_OWN if of_own else LIKELY)


def compared(draft: Statement, known: Statement, *, cosine: float, table: WordVectors | None = None) -> Echo | None:
    """None where it is no restatement, whatever else they share.

    That is where the draft holds a number, date, colour or name that the known text hasn't; where one of both denies;
    where it answers what the known text asks; where it speaks of whoever says it, and the known text of somebody else;
    where it says that something else held before; where it is a single word of a longer text; and where both have
    hardly anything to do with each other.

    Args:
        table: of word vectors, so that words of like meaning count; without one only relatives in spelling do.
    """
    if cosine < _FAR or _differs(draft, known):
        return None
    own = own_words(draft, known)
    if len(own) + len(draft.particulars) < FEWEST and set(draft.words) != set(known.words):
        return None
    held = likeness(own, known, table)
    missing = _not_in(tuple(dict.fromkeys(known.words)), (*held,))
    telling = [(word, held[word]) for word in own if missing or held[word] >= FOREIGN or not tells_little(word)]
    foreign = [word for word, near in telling if near < FOREIGN]
    return Echo(
        held=float(np.mean([near for _, near in telling])) if telling else 1.0,
        cosine=cosine,
        foreign=len(foreign),
        replaced=replaced(draft, known),
        substitutes=bool(missing and _not_in((*held,), _words(known), instead=True)) or says_otherwise(draft, known),
        confirms=draft.confirms,
        adds=_goes_on(draft, foreign),
    )


def _differs(draft: Statement, known: Statement) -> bool:
    if draft.empty or known.empty:
        return draft.spoken != known.spoken
    return (
        tells_other_particulars(draft, known)
        or denies_other(draft, known)
        or tells_a_change(draft, known)
        or is_of_another(draft, known)
        or bool(strange_names(draft, known))
    )


def tells_other_particulars(draft: Statement, known: Statement) -> bool:
    """Whether it has a number, date or colour that the known text hasn't, or answers what that asks."""
    other = bool(draft.particulars - known.particulars) or counts_otherwise(draft, known)
    return other or (known.asks and not draft.asks)


def tells_a_change(draft: Statement, known: Statement) -> bool:
    """Whether it says that something else held before, and the known text doesn't."""
    return draft.changes and not known.changes and not _is_of(draft.change, known)


def denies_other(draft: Statement, known: Statement) -> bool:
    """Whether one denies, and the other doesn't, or denies something else."""
    if draft.negated != known.negated or bool(draft.denied) != bool(known.denied):
        return True
    own, others = (frozenset[str]().union(*one.denied) for one in (draft, known))
    held = draft.stems
    lifted = [scope for scope in known.denied if scope & held and not scope & own]
    return bool(lifted) or any(scope and not scope & others for scope in draft.denied)


def _is_of(change: str, known: Statement) -> bool:
    """Whether a word like "moved" is the known text's own."""
    held = frozenset[str]().union(*map(stems, change.split()))
    return bool(held) and held <= known.stems


def _words(known: Statement) -> tuple[str, ...]:
    return (*known.words, *known.names, *_name_of(known.speaker))


def _goes_on(draft: Statement, foreign: Sequence[str]) -> bool:
    joints = [place for place, word in enumerate(draft.spoken) if word in _JOINTS and place > 1]
    return bool(joints) and not set(foreign).isdisjoint(draft.spoken[joints[0] + 1 :])


def _name_of(speaker: str) -> tuple[str, ...]:
    return tuple(speaker.casefold().split())


def strange_names(draft: Statement, known: Statement) -> frozenset[str]:
    """Names that the known text hasn't."""
    words = _words(known)
    return frozenset(
        name for name in draft.names if name not in words and not any(stems(name) & stems(word) for word in words)
    )


def names(draft: Statement, speaker: str) -> bool:
    """Whether it has the speaker's name."""
    return not set(_name_of(speaker)).isdisjoint(draft.spoken)


def own_words(draft: Statement, known: Statement) -> tuple[str, ...]:
    """Those that are compared, repeats kept: not the name of whoever said what is known."""
    return tuple(word for word in draft.words if word not in _name_of(known.speaker) and word not in _JOINTS)


def is_of_another(draft: Statement, known: Statement) -> bool:
    """Whether it speaks of whoever says it, or is told, and the known text of somebody else."""
    if draft.speaker == known.speaker and draft.of_listener and not draft.of_speaker and not known.of_listener:
        return known.of_speaker
    if not draft.of_speaker or known.of_listener:
        return False
    if draft.speaker == known.speaker:
        return not known.of_speaker
    return not names(known, draft.speaker)


def likeness(words: Sequence[str], known: Statement, table: WordVectors | None) -> dict[str, float]:
    """Of each word, once and in its order, to the nearest of the known text: 0 to 1."""
    each, others = tuple(dict.fromkeys(words)), tuple(dict.fromkeys(_words(known)))
    if not each or not others:
        return dict.fromkeys(each, 0.0)
    near = np.zeros((len(each), len(others)))
    if table is not None:
        vectors = table.word_vectors(others)
        near = np.stack([np.vecdot(vectors, word) for word in table.word_vectors(each)]).astype(np.float64)
    relatives = _Relatives(others)
    for row, word in enumerate(each):
        for column in relatives.of(word, by_prefix=table is None):
            other = others[column]
            if _same(word, other):
                near[row, column] = 1.0
            elif shared := stems(word) & stems(other):
                near[row, column] = len(shared) / len(stems(word))
            elif table is None and word[:PREFIX] == other[:PREFIX] and len(word) > PREFIX < len(other):
                near[row, column] = _RELATIVE
    return dict(zip(each, np.clip(near.max(axis=1), 0.0, 1.0).tolist(), strict=True))


class _Relatives:
    """Finds among many words those that may be another's: the same, of its stem, or of like meaning."""

    def __init__(self, words: Sequence[str]) -> None:
        self._places: defaultdict[tuple[str, object], set[int]] = defaultdict(set)
        for place, word in enumerate(words):
            for key in _keys(word):
                self._places[key].add(place)

    def of(self, word: str, *, by_prefix: bool = False) -> set[int]:
        """Their places; by prefix also those that only begin alike."""
        keys = (key for key in _keys(word) if by_prefix or key[0] != "prefix")
        return set[int]().union(*(self._places.get(key, ()) for key in keys))


def _keys(word: str) -> list[tuple[str, object]]:
    own = stems(word)
    prefix = [("prefix", word[:PREFIX])] if len(word) > PREFIX else []
    return [
        ("word", word),
        *(("stem", stem) for stem in own),
        *(("meaning", number) for number in meanings(word, own)),
        *prefix,
    ]


def _same(word: str, other: str) -> bool:
    return word == other or mean_the_same(word, stems(word), other, stems(other))


def _not_in(words: Sequence[str], others: Sequence[str], *, instead: bool = False) -> list[str]:
    """Those that tell something, by themselves or instead of others, and are among the others in no form."""
    relatives = _Relatives(others)
    return [word for word in words if not tells_little(word, in_place_of_another=instead) and not relatives.of(word)]


def replaced(draft: Statement, known: Statement) -> int:
    """Stretches of the same length that differ, in texts that run alike otherwise; words without meaning count not.

    Of what differs over more than :data:`LONGEST` words nobody can be sure, so it counts as one.
    """
    own, others = draft.spoken, known.spoken
    same = 0
    if max(len(own), len(others)) > LONGEST:
        own, others = _where_they_differ(own, others)
        same = len(draft.spoken) - len(own)
        if max(len(own), len(others)) > LONGEST:
            return 1
    matcher = SequenceMatcher(None, others, own, autojunk=False)
    matched = same + sum(block.size for block in matcher.get_matching_blocks())
    if 2 * matched < _PARALLEL * (len(draft.spoken) + len(known.spoken)):
        return 0
    count = 0
    for kind, start, end, other_start, other_end in matcher.get_opcodes():
        if kind == "replace" and end - start == other_end - other_start:
            pairs = zip(others[start:end], own[other_start:other_end], strict=True)
            count += sum(
                a in known.words and b in draft.words and not stems(a) & stems(b) and not _same(a, b) for a, b in pairs
            )
    return count


def _where_they_differ(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Without what both begin with, and what both end with."""
    shorter = min(len(one), len(other))
    begin = next((place for place in range(shorter) if one[place] != other[place]), shorter)
    rest = shorter - begin
    end = next((place for place in range(rest) if one[-1 - place] != other[-1 - place]), rest)
    return one[begin : len(one) - end], other[begin : len(other) - end]
