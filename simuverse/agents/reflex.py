"""The subconscious without a model: what to ask and what to write down, by rule.

PURE. The rules are few and stated, and what they write says so: every draft is flagged ``by_rule``. The words are the
exchange's own, in whatever language they were said; the cue words below are English and only sharpen category and
importance.

Importance, 1 to 10, is how much it tells. A greeting or a question 1, a sight 3, anything else 2 and 1 more for every
six words that a search looks at, up to 6; 1 more for what answers a question, for a figure or a name, for a feeling; 2
for a promise or plan; at least 6 for what turns a month or a year of one's life, such as another job, at least 8 for
one of life's events, and 1 more where such a thing is of one's family. What is written down may be raised once its
meaning is known, see :mod:`simuverse.memory.graded_events`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from simuverse.agents.life_events import how_much_it_changes
from simuverse.agents.turn import Observation, Outcome, ToolCall, Utterance
from simuverse.memory.analysis import tokens
from simuverse.memory.records import (
    BY_RULE,
    IMPORTANCE_MAX,
    MAX_KEYWORDS,
    Category,
    MemoryDraft,
    MemoryQuery,
    Provenance,
    Source,
)

MAX_QUERIES = 3
_FEW_TOKENS = 3
_PLAIN = 2

LITTLE, SIGHT = 1, 3
"""Importance of greetings and questions, and of things seen."""

_WORD = re.compile(r"[\w][\w'’-]*")
_PLANS = frozenset(("promise", "promised", "will", "plan", "planned", "tomorrow", "appointment", "agreed", "deadline"))
_FEELINGS = frozenset(
    ("happy", "sad", "angry", "afraid", "scared", "love", "hate", "miss", "proud", "worried", "lonely", "excited")
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Note:
    """Something to write down, how its owner came to know it, and the memories that it rests on, if any."""

    draft: MemoryDraft
    provenance: Provenance
    evidence: tuple[UUID, ...] = ()


def queries(observation: Observation) -> tuple[MemoryQuery, ...]:
    """The observation itself as up to three hybrid queries: the last thing heard, what one is up to, what is near.

    Of what is near it is the name, a sight's first word, that asks: where it is now, no memory can know.
    """
    texts = [utterance.text for utterance in observation.heard[-1:]]
    texts += observation.intentions
    texts += [sight.partition(" ")[0].rstrip(",") for sight in observation.seen[:1]]
    wanted = [text for text in dict.fromkeys(texts) if tokens(text)]
    return tuple(MemoryQuery(text=text) for text in wanted[:MAX_QUERIES])


def notes(
    owner: str,
    observation: Observation,
    call: ToolCall | None,
    outcome: Outcome | None,
    *,
    sights: Iterable[str] = (),
    asked: bool = False,
) -> tuple[Note, ...]:
    """What there is to remember of a turn: what was said to the owner, what the owner said and did, what is new to see.

    Speech without a single word in it is passed over.

    Args:
        sights: those of ``observation.noticed`` that are new to the owner.
        asked: whether the last thing said before was a question.
    """
    turn = observation.turn
    found: list[Note] = []
    for utterance in observation.heard:
        if not _WORD.search(utterance.text):
            continue
        found.append(Note(draft=_spoken(utterance, answer=asked), provenance=heard_from(owner, utterance, turn)))
        asked = is_question(utterance.text)
    if outcome is not None and outcome.said is not None:
        own = Provenance(source=Source.OWN_ACTION, turn=turn, messages=(outcome.said.id,))
        found.append(Note(draft=_spoken(outcome.said, answer=asked), provenance=own))
    if call is not None and outcome is not None and outcome.notable:
        found.append(
            Note(draft=_deed(owner, call, outcome), provenance=Provenance(source=Source.OWN_ACTION, turn=turn))
        )
    for sight in sights:
        found.append(
            Note(
                draft=_draft(f"{owner} saw: {sight}", sight, Category.OBSERVATION, importance=SIGHT),
                provenance=Provenance(source=Source.OBSERVED, turn=turn),
            )
        )
    return tuple(note for note in found if tokens(note.draft.summary))


def heard_from(owner: str, utterance: Utterance, turn: str) -> Provenance:
    """Said to the owner, or told to someone else while the owner listened; or the owner's own words."""
    if utterance.speaker == owner:
        return Provenance(source=Source.OWN_ACTION, turn=turn, messages=(utterance.id,))
    if utterance.to is None or utterance.to == owner:
        return Provenance(source=Source.SAID_BY, speaker=utterance.speaker, turn=turn, messages=(utterance.id,))
    return Provenance(
        source=Source.TOLD, speaker=utterance.speaker, listener=utterance.to, turn=turn, messages=(utterance.id,)
    )


def statement(text: str) -> MemoryDraft:
    """A draft of a plain text that no one said aloud."""
    return _draft(text, text, Category.KNOWLEDGE)


def is_question(text: str) -> bool:
    """By its last mark: Latin, Chinese and Japanese, Arabic and Greek."""
    return text.rstrip().endswith(("?", "？", "؟", "\u037e", ";"))


def _spoken(utterance: Utterance, *, answer: bool) -> MemoryDraft:
    text = utterance.text.strip()
    tells = _how_much_it_tells(text)
    little = is_question(text) or (len(tokens(text)) <= _FEW_TOKENS and tells == _PLAIN)
    importance = LITTLE if little else tells + (1 if answer else 0)
    return _draft(f"{utterance.speaker}: {text}", text, Category.CONVERSATION, importance=importance)


def _deed(owner: str, call: ToolCall, outcome: Outcome) -> MemoryDraft:
    deed = " ".join((call.tool, *call.arguments.values()))
    return _draft(f"{owner}, {deed}: {outcome.sentence}", outcome.sentence, Category.ACTION)


def _draft(summary: str, text: str, category: Category, *, importance: int | None = None) -> MemoryDraft:
    """Args: importance: as far as it is known; by default how much ``text`` tells."""
    words = _words(text)
    if words & _PLANS:
        category = Category.PLAN
    if words & _FEELINGS:
        category = Category.EMOTION
    importance = _how_much_it_tells(text) if importance is None else importance
    importance = max(importance, how_much_it_changes(text))
    names = _names(text)
    return MemoryDraft(
        summary=summary,
        category=category,
        keywords=_keywords(text, names),
        critical_information=", ".join(names),
        importance=min(importance, IMPORTANCE_MAX),
        flags=(BY_RULE,),
    )


def _how_much_it_tells(text: str) -> int:
    words = _words(text)
    length = min(4, len(tokens(text)) // 6)
    return _PLAIN + length + bool(_names(text)) + 2 * bool(words & _PLANS) + bool(words & _FEELINGS)


def _words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(text))


def _names(text: str) -> list[str]:
    """Figures, names of things and, within a sentence, capitalised words: what must survive."""
    found: list[str] = []
    for match in _WORD.finditer(text):
        word = match.group()
        before = text[: match.start()].rstrip(" \"'(«“„")
        inside = bool(before) and before[-1] not in ".!?:…\n"
        if any(c.isdigit() for c in word) or "_" in word or (inside and word[0].isupper() and tokens(word)):
            found.append(word)
    return list(dict.fromkeys(found))


def _keywords(text: str, names: list[str]) -> tuple[str, ...]:
    """Names first, then the other words that a search looks at, longest first; at most eight."""
    words = [word for word in dict.fromkeys(_WORD.findall(text)) if word not in names and tokens(word)]
    words.sort(key=lambda word: -len(word))
    return tuple([*names, *words][:MAX_KEYWORDS])
