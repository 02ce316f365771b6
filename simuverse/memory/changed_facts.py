"""Telling that a statement takes the place of an earlier one: the same subject and attribute, another value. PURE.

By rules, for English; other languages are left to people and models. They ask for one and the same voice, which the
caller sees to: what others say of somebody never makes somebody's own words past. Three ways:

- *A value in the same place.* Two statements in the present run alike but for one stretch, and that stretch is what
  only one value of can hold: a number or date, a state such as open or closed, where one lives, what one works as, a
  favourite, a name, a plan.
- *A cue.* It says that something else held before ("now", "moved to", "these days", "instead"), and is about the same
  subject and attribute.
- *An end.* It says that something holds no more ("cancelled", "stopped", "no longer").

Questions, and what tells of the past, change nothing. Where it isn't sure, both statements stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from simuverse.memory.statements import LONGEST, Statement, listed, particular, stems

_LONGEST_VALUE = 3
"""Words with a meaning of their own in a value: more of them tell several things."""

_LONGEST = 12
"""Words with a meaning of their own in a statement that is taken for one fact."""

_LEAST_SHARED = 0.5
"""Share of the earlier statement's words that the later one must hold, beside a cue."""

_ALIKE, _ALIKE_WITH_CUE = 0.5, 0.4
"""Share of their words in the same order from which two statements run alike; a cue makes the later one longer."""

_PRESENT = listed(
    "am is are m re s have has live lives work works owe owes pay pays cost costs weigh weighs open opens close closes "
    "leave leaves start starts begin begins meet meets take takes wake wakes sleep sleeps sit sits stand stands hang "
    "hangs lie lies belong belongs play plays study studies drive drives eat eats drink drinks speak speaks teach "
    "teaches keep keeps own owns earn earns need needs want wants plan plans arrive arrives depart departs last lasts "
    "run runs stay stays read reads wear wears use uses"
)
"""Words that tell a state or a habit, and can stand between a subject and a value."""

_STATES = listed(
    "open closed shut locked unlocked broken repaired mended free taken empty full on off lit dark single married "
    "engaged divorced ill sick healthy alive dead pregnant awake asleep dry wet clean dirty here away home"
)

_ONE_VALUE = re.compile(
    r"\b(?:(?:live|lives|living) (?:in|at|on|with)|(?:work|works|working) (?:as|at|for)|favou?rite [\w ]+? (?:is|are)"
    r"|(?:is|am|are) (?:called|named)|(?:name|job|number|address|password|hint|code|rent|salary|age|size|birthday"
    r"|boss|teacher|landlady|landlord|doctor|mayor|password hint)(?: of [\w' ]+?)? (?:is|are)|planning to \w+"
    r"|belongs? to|(?:hangs|lies|stands) (?:in|on|at|by|under|behind|near))\b",
    re.IGNORECASE,
)
"""What holds one value at a time, which follows it."""

_MANY = listed(
    "like likes love loves hate hates know knows enjoy enjoys want wants need needs eat eats drink drinks speak speaks "
    "play plays understand understands collect collects"
)
"""Verbs of which several things hold at a time."""

_COUNTED = re.compile(r"\b(?:is|are|am|lies|weighs?|costs?|owes?|pays?|have|has|keeps?|earns?)\b", re.IGNORECASE)
"""Verbs by which one number or date holds at a time. What leaves or meets at a time may do so at another as well."""

_HOME = re.compile(
    r"(?P<who>\bi|\bwe|\b(?:my|our) [\w ]+?|\b[A-Z]\w+)(?: have| has|['’]ve|['’]s)?(?: just| recently| finally)?"
    r" (?:live|lives|(?:am|is|are) living|moved?)(?: from (?P<old>[\w ]+?))? (?:in|to|into|at)"
    r" (?P<where>[\w' -]+?)(?=[.,;!]|$| and | but | last | now| these | since | for | with | in )",
    re.IGNORECASE,
)
_PUT = re.compile(
    r"\b(?:moved|carried|took|brought|put) (?P<what>(?:the|my|our) [\w ]+?)(?: from [\w ]+?)?"
    r" (?:to|into|in|on|under|behind) (?P<where>[\w' ]+)",
    re.IGNORECASE,
)
_LIES = re.compile(
    r"^(?P<what>(?:the|my|our) [\w ]+?) (?:is|are|lies|lie|hangs|hang|stands|sits|is kept)\b", re.IGNORECASE
)

_CUES = listed(
    "now nowadays days present more longer instead again since from starting changed change new another back moved "
    "turned switched replaced i we it they this these at on any in a an the and but not isn don doesn no t to of is am "
    "are was been has have only"
)
"""Words of cues and others that carry no value."""

_ARTICLES = listed("the a an my our his her their")
_PREPOSITIONS = listed("in on at by with for of from to under behind near until as")
_PLACED = re.compile(r"\b(?:hangs|lies|stands|sits|lives?|is kept)\b", re.IGNORECASE)
"""Verbs of place: something is in, on or behind one thing at a time."""

_MOVED = listed("moved changed postponed off")
"""What comes before a value in words of its own."""

_CALLED_OFF = frozenset(("cancelled", "canceled", "called off"))
_PLAN = re.compile(r"\b(?:plan\w*|will|going to|promised|meet|appointment|invited|booked|put off)\b", re.IGNORECASE)

_ENDED = re.compile(
    r"\b(?:any ?more|any longer|no longer|cancell?ed|called off|stopped|quit|gave up|given up|broke off)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Replacement:
    """Args: why: in words, for the record of changes."""

    why: str


def replaced_by(old: Statement, new: Statement) -> Replacement | None:
    """Why ``old`` holds no more since ``new`` was said, by the same voice and later; None where it may still hold."""
    if not _tells_one_fact(old) or not _tells_one_fact(new) or old.past or (new.past and not new.changes):
        return None
    if old.spoken == new.spoken:
        return None
    if _ends(old, new):
        return Replacement(why="it was said to hold no more")
    if _moved(old, new):
        return Replacement(why="a move was told")
    if _other_value(old, new):
        return Replacement(why="another value was told")
    return None


def held_before(new: Statement) -> str:
    """Words by which to look for what a statement may replace, where it need not share any with it; else empty."""
    if not _tells_one_fact(new):
        return ""
    if _HOME.search(new.text) and "moved" in new.spoken:
        return "live lives home moved"
    return new.text if new.changes else ""


def _tells_one_fact(statement: Statement) -> bool:
    text = statement.text.strip()
    sentences = re.split(r"[.!?;]\s+", text)
    return (
        bool(statement.words or statement.particulars)
        and len(statement.words) <= _LONGEST
        and len(sentences) == 1
        and not statement.asks
    )


def _ends(old: Statement, new: Statement) -> bool:
    """Not what holds in its place: that is another value."""
    ended = _ENDED.search(new.text)
    if not ended or _ENDED.search(old.text) or not _same_person(old, new):
        return False
    told = [word for word in old.spoken if word not in _CUES and (word in old.words or particular(word))]
    shared = [word for word in told if not _is_missing(word, new)]
    if ended.group().casefold() in _CALLED_OFF:
        return bool(_PLAN.search(old.text)) and len(shared) >= min(2, len(told))
    verb = _verb(old)
    value = next((word for place, word in enumerate(old.spoken) if place > verb and word in told), None)
    return len(shared) >= len(told) / 2 and value in shared


def _moved(old: Statement, new: Statement) -> bool:
    before, after = _HOME.search(old.text), _HOME.search(new.text)
    if before and after and _who(before) == _who(after):
        return _place(before) != _place(after)
    put, lay = _PUT.search(new.text), _LIES.search(old.text)
    return bool(put and lay and _words_of(lay["what"]) == _words_of(put["what"]))


def _who(match: re.Match[str]) -> str:
    return match["who"].casefold().strip()


def _place(match: re.Match[str]) -> frozenset[str]:
    return _words_of(match["where"])


def _words_of(text: str) -> frozenset[str]:
    return frozenset(stem for word in text.casefold().split() for stem in stems(word))


def _other_value(old: Statement, new: Statement) -> bool:
    cue = new.changes and not _ENDED.search(new.text)
    if not _same_person(old, new) or not (cue or (_present(old) and _present(new))):
        return False
    if max(len(old.spoken), len(new.spoken)) > LONGEST:
        return False
    matcher = SequenceMatcher(None, old.spoken, new.spoken, autojunk=False)
    if matcher.ratio() < (_ALIKE_WITH_CUE if cue else _ALIKE):
        return False
    lost = [place for place, word in enumerate(old.spoken) if _is_missing(word, new)]
    gained = [word for word in new.spoken if _is_missing(word, old)]
    if not _shared(old, new) and not (set(old.spoken) & set(new.spoken) & _PRESENT):
        return False
    if not lost and not gained:
        return old.negated != new.negated
    if not lost or not gained or not _is_value(old, lost):
        return False
    if not _alike_in_kind(old, new, lost, gained):
        return False
    if cue and not _MANY.isdisjoint(old.spoken):
        return False
    if cue:
        return len(_shared(old, new)) >= _LEAST_SHARED * (len(old.words) - len(lost))
    return len(gained) <= _LONGEST_VALUE and _value_alone(old, new, {old.spoken[place] for place in lost}, set(gained))


def _alike_in_kind(old: Statement, new: Statement, lost: Sequence[int], gained: Sequence[str]) -> bool:
    """Whether both values are numbers or dates, or both are not, and both follow the same preposition."""
    if bool(particular(old.spoken[lost[-1]])) != bool(particular(gained[-1])):
        return False
    before = _preposition(old, lost[0], ())
    after = _preposition(new, len(new.spoken) - 1 - new.spoken[::-1].index(gained[-1]), gained)
    return before == after or _PLACED.search(old.text) is not None or not _MOVED.isdisjoint(new.spoken)


def _preposition(statement: Statement, place: int, value: Sequence[str]) -> str | None:
    """The one before a value, articles passed over."""
    for word in reversed(statement.spoken[:place]):
        if word not in _ARTICLES and word not in value:
            return word if word in _PREPOSITIONS else None
    return None


def _is_missing(word: str, other: Statement) -> bool:
    return word not in _CUES and word not in other.spoken and not stems(word) & _all_stems(other)


def _is_value(old: Statement, lost: Sequence[int]) -> bool:
    """Whether these places are one short stretch behind the subject and the verb."""
    between = [word for word in old.spoken[lost[0] : lost[-1]] if word in old.words or word in _PRESENT]
    before = [word for word in old.spoken[: lost[0]] if word in old.words or word in _PRESENT]
    return len(lost) <= _LONGEST_VALUE and len(between) <= len(lost) and bool(before) and lost[0] > _verb(old)


def _verb(statement: Statement) -> int:
    """Its place; 0 where it isn't known."""
    return next((place for place, word in enumerate(statement.spoken) if word in _PRESENT), 0)


def _value_alone(old: Statement, new: Statement, lost: set[str], gained: set[str]) -> bool:
    """Whether what differs is all that a value is, in a place where but one can stand."""
    if not lost & set(old.words) and not gained & set(new.words):
        return _COUNTED.search(old.text) is not None or _ONE_VALUE.search(old.text) is not None
    if lost <= _STATES and gained <= _STATES:
        return True
    frame = _ONE_VALUE.search(old.text)
    if frame is None or old.negated != new.negated:
        return False
    return new.text.casefold().startswith(old.text[: frame.end()].casefold())


def _present(statement: Statement) -> bool:
    return not _PRESENT.isdisjoint(statement.spoken)


def _same_person(old: Statement, new: Statement) -> bool:
    return old.of_speaker == new.of_speaker or bool(_shared(old, new))


def _shared(old: Statement, new: Statement) -> list[str]:
    """Words of the earlier statement that the later one has too, in whatever form."""
    held = _all_stems(new)
    return [word for word in (*old.words, *sorted(old.names - set(old.words))) if stems(word) & held]


def _all_stems(statement: Statement) -> frozenset[str]:
    return frozenset(stem for word in statement.spoken for stem in stems(word))
