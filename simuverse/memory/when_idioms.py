"""Words that bound a time elsewhere, used otherwise: "what are you up to today", "who looked after May". PURE."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from simuverse.memory.when_items import Items
from simuverse.memory.when_words import Kind


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_BE = _set("be am is are was were been being s m re isn wasn aren weren")
_UP_TO_AFTER = _BE | _set(
    "get gets got getting gotten feel feels felt feeling live lives lived living look looks looked looking own owns "
    "owned catch caught face faces faced facing come comes came rise rises rose risen add adds added"
)
"""Words that "up to" belongs to."""

_ADVERBS = _set("all also both even just not now only quite really still t together")
_SUBJECTS = _set(
    "i you he she it we they one everyone everybody anyone anybody someone somebody people folk folks others rest lot"
)
_DETERMINERS = _set("the a an my your his her its our their this that these those two three")
_LONGEST_SUBJECT = 5
"""Words between the verb and "up to"."""

_BEFORE_WHAT = {
    "english": {
        Kind.AFTER: _set("look looks looked looking ask asks asked asking inquire inquired named takes took"),
        Kind.BEFORE: _set("kneel kneels knelt kneeling bow bows bowed stand stands stood standing"),
    },
    "german": {Kind.AGO_OR_BEFORE: _set("angst furcht scheu respekt sorge schutz")},
}
"""Words that such a one belongs to: "look after", "stand before", "Angst vor"."""

_SAYS_THAT = _set("is was isn wasn will won feels felt seems seemed")


class Idioms:
    """Args: language: as :class:`simuverse.memory.when_items.Items` has it."""

    def __init__(self, items: Items, language: str) -> None:
        self._items = items
        self._words: Mapping[Kind, frozenset[str]] = MappingProxyType(_BEFORE_WHAT.get(language, {}))

    def at(self, at: int) -> bool:
        """Whether the word there, which may bound a time, belongs to the words before it."""
        if self._items[at].word == "up":
            return self._up_to(at)
        return self._word(at - 1, at) in self._words.get(self._items.kind(at), ())

    def says_that(self, at: int, after: int) -> bool:
        """Whether "since" or "before" at ``at`` begins a clause whose subject is the time up to ``after``."""
        if self._items.kind(at) not in (Kind.SINCE, Kind.BEFORE) or self._items[after].word not in _SAYS_THAT:
            return False
        begins = not self._items.spaced(at) or self._items.kind(at - 1) is Kind.AND
        return begins and self._items.spaced(after)

    def _up_to(self, at: int) -> bool:
        """After "is", "get", "live"; or as in "what is the boy up to", "is Mira up to it"."""
        place = at - 1
        while self._word(place, at) in _ADVERBS:
            place -= 1
        last = self._word(place, at)
        if last in _UP_TO_AFTER:
            return True
        for verb in range(place - 1, max(place - _LONGEST_SUBJECT, 0) - 1, -1):
            asks = self._word(verb - 1, at)
            if self._word(verb, at) in _BE and asks in ("", "what"):
                first = self._word(verb + 1, at)
                named = first in _SUBJECTS | _DETERMINERS or self._items.capital(verb + 1)
                return named and (bool(asks) or place == verb + 1 or self._word(place - 1, at) in _DETERMINERS)
        return False

    def _word(self, place: int, at: int) -> str:
        """Empty where something other than spaces, commas and apostrophes parts it from ``at``."""
        return self._items[place].word if all(self._items.joined(between + 1) for between in range(place, at)) else ""
