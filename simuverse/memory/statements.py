"""What a memory says, taken apart so that two of them can be compared: words, particulars, persons, cues. PURE.

Words are those of any language; particulars, cues and persons are told by English words and a few of other languages.
Where they aren't told, less is known of a statement, and what is compared with it counts as something else sooner.
"""

from __future__ import annotations

import re
from bisect import bisect
from dataclasses import dataclass, replace
from functools import lru_cache

from simuverse.memory.analysis import content_words, tokens
from simuverse.memory.caches import until_erased
from simuverse.memory.records import Memory, Source

_CACHED = 16_384
"""Statements that are kept, about 15 MB: what was compared is often compared again the turn after."""

_WORD = re.compile(r"\w+(?:['’]\w+)*")


def listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


_UP_TO_TWENTY = (
    "zero . two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
_NUMBERS = {word: str(number) for number, word in enumerate(_UP_TO_TWENTY.split(" "))} | {
    "thirty": "30",
    "forty": "40",
    "fifty": "50",
    "sixty": "60",
    "seventy": "70",
    "eighty": "80",
    "ninety": "90",
    "hundred": "100",
    "thousand": "1000",
    "half": "half",
    "quarter": "quarter",
    "twice": "2",
    "double": "2",
}
"""Number words, but "one", which is more often somebody."""

_DATES = (
    "monday tuesday wednesday thursday friday saturday sunday january february march april june july august september "
    "october november december spring summer autumn winter morning noon afternoon evening night midnight yesterday "
    "today tomorrow tonight weekend"
)
_KINDS = (
    "red green blue yellow black white grey gray brown purple pink orange north south east west northern southern "
    "eastern western"
)
_PARTICULAR = listed(f"{_DATES} {_KINDS}")
"""Days, times, colours, directions: another one of them is another fact, however near in meaning."""

_NEGATIONS = listed(
    "not no never nothing none nobody nowhere without neither nor cannot kein keine keinen keinem keiner nicht nie "
    "niemals ne pas jamais rien nunca nada não niet geen нет не никогда hardly scarcely barely wrong false untrue lied "
    "doubt doubts denies denied mistaken unable dont doesnt didnt isnt arent wasnt werent wont cant couldnt wouldnt"
)
_SCOPE = 2
"""Words with a meaning that a negation is taken to deny: "I don't eat meat" denies both."""

_NEGATED_CHARACTERS = re.compile("[不没沒]")

_OPENINGS = listed(
    "yes no now well sure okay ok thanks sorry hello hi hey look listen please maybe perhaps honestly actually finally "
    "however then so oh ah true right anyway besides meanwhile"
)
"""What stands before a comma at the beginning of a sentence and is nobody's name."""

_OWN = re.compile(
    r"\b(?:i|my|me|mine|we|our|us|myself|ich|mein\w*|mir|mich|je|mon|ma|mes|mi|mis|yo|я)\b|我", re.IGNORECASE
)
_US = listed("we us our")

_LISTENERS = re.compile(
    r"\b(?:you|your|yours|du|dein\w*|dir|dich|tu|tus|ton|ta|tes|vous|votre|tú|ты)\b|你", re.IGNORECASE
)

_FRAMES = re.compile(
    r"(?:(?<=^)|(?<=[,;.!?:] ))(?:(?:as|like) (?:you|i) (?:said|told (?:you|me)|know|mentioned)"
    r"|(?:you|i) (?:have |had )?(?:already |just )?(?:told|said|mentioned)(?: (?:me|you))?"
    r"(?: (?:already|before|that|about))*"
    r"|i (?:still |do )?(?:remember|know)(?: (?:that|how|where))?|(?:that|this|which|it) is"
    r" (?:right|true|still true|correct)"
    r"|you know (?:where|that|what)|you remembered(?: that)?|do you remember|remember|yes|yeah|exactly"
    r"|indeed|of course"
    r"|(?:i was told|they say|people say|i hear|i heard)(?: that)?"
    r"|so it (?:was|is))\b[ ,:]*|, as you know,|, you said|, you told me",
    re.IGNORECASE,
)
"""What is put around words that were heard before."""

_REPORTED = re.compile(
    r"(?:(?<=^)|(?<=[,;.!?:] ))(?:[A-Z][\w-]*|[Hh]e|[Ss]he|[Tt]hey) (?:(?:tells|told) (?:[A-Z][\w-]*|me|us) that"
    r"|(?:says|said|mentions|mentioned)(?: to (?:[A-Z][\w-]*|me|us))?(?: that)?)\b[ ,:]*"
)
"""Who said it to whom, where somebody else puts it into words."""

_QUOTE = re.compile(
    r"^(?P<who>[A-Z][\w-]*(?: [A-Z][\w-]*)?)"
    r"(?: (?:has |had )?(?:said|says|told|tells|wrote|writes)(?: to)?(?: (?:me|us|you|[A-Z][\w-]*))?)?"
    r"(?::|,(?= ?[\"“«'‘])) *[\"“«'‘]?(?=\S)"
)
"""Who said it, where somebody else quotes it word for word."""

_HEADINGS = listed("note notes warning remember reminder news update fact summary memo ps rule price time place")
"""What stands before a colon and is nobody."""

_ADDRESSED = re.compile(
    r"^(?P<first>[A-Z][\w'’-]*), (?!(?:(?:my|your|his|her|our|their|the|an?)\b|[A-Z][\w-]*['’]s\b)[^,]*,)"
    r"|, (?P<last>[A-Z][\w'’-]*)[.!?…]*$"
)
"""Whom it is said to, by name. Not "Pia, your daughter, ...", which says who Pia is."""

_ASIDES = re.compile(
    r"\bstill\b|(?:(?<=^)|(?<=[,;.!?:] ))(?:you know|i tell you|let me tell you|believe me|trust me|mind you|guess what"
    r"|imagine|i swear|by the way|listen|look|well|honestly|actually|you see|(?:did you know|have you heard)(?: that)?"
    r"|as i see it)(?:, | that )",
    re.IGNORECASE,
)
"""Tells nothing beside what it is said of."""

_CHANGES = re.compile(
    r"\b(?:now|nowadays|these days|at present|any ?more|any longer|no longer|instead|again|since|from \w+ on|starting"
    r"|has changed|changed to|changed my|change of plan|moved|got another|have a new|have another|is back|turned"
    r"|switched|replaced|cancell?ed|called off|put off|postponed|stopped|quit|gave up|given up|broke off|jetzt|nun"
    r"|inzwischen|maintenant|désormais|ahora|adesso|agora|теперь|сейчас)\b|现在|如今|今は",
    re.IGNORECASE,
)
"""What says that something else held before."""

_PAST = re.compile(r"\b(?:was|were|had|did|used to|formerly|once|before|ago|back then|earlier)\b", re.IGNORECASE)

LONGEST = 400
"""Words of a text whose order is compared with that of as many others: the time grows with the square."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Statement:
    """What someone says.

    Args:
        text: without the speaker's name before it.
        speaker: who says it, or is quoted by a name and a colon; the owner of what wasn't said by anyone else.
        spoken: all words in lower case, without what was put around them.
        words: those of them that carry meaning, and neither count, date nor negate.
        particulars: numbers, dates, colours, directions, as they compare.
        names: words within a sentence, or whom it is addressed to, that begin with a capital, in lower case.
        addressed: those of them that only tell whom it is said to.
        negated: whether it denies, as an odd number of negations does.
        denied: for each negation, search tokens of the words that it denies.
        of_speaker, of_listener: whether it speaks of oneself, or of the one addressed.
        confirms: whether it says that it was said before.
        change: the words, in lower case, by which it says that something else held before; else empty.
        past: whether it tells of what was.
        asks: whether it is a question.
    """

    text: str
    speaker: str
    spoken: tuple[str, ...]
    words: tuple[str, ...]
    particulars: frozenset[str]
    names: frozenset[str]
    addressed: frozenset[str]
    negated: bool
    denied: tuple[frozenset[str], ...]
    of_speaker: bool
    of_listener: bool
    confirms: bool
    change: str
    past: bool
    asks: bool

    @property
    def stems(self) -> frozenset[str]:
        """Search tokens of its words."""
        return frozenset(stem for word in self.words for stem in stems(word))

    @property
    def changes(self) -> bool:
        """Whether it says that something else held before."""
        return bool(self.change)

    @property
    def of_us(self) -> bool:
        """Whether it speaks of oneself only as one of several: "we", never "I"."""
        own = {one for one in (word.partition("'")[0] for word in self.spoken) if _OWN.fullmatch(one)}
        return bool(own) and own <= _US

    @property
    def unaddressed(self) -> Statement:
        """Without whom it is said to."""
        return replace(
            self,
            words=tuple(word for word in self.words if word not in self.addressed),
            names=self.names - self.addressed,
            addressed=frozenset(),
        )

    @property
    def empty(self) -> bool:
        return not self.words and not self.particulars


def statement_of(memory: Memory) -> Statement:
    """Of the summary alone: keywords and the like are made of it."""
    return said(memory.summary, by=speaker_of(memory))


def speaker_of(memory: Memory) -> str:
    return memory.provenance.speaker or memory.owner


def same_voice(one: Memory, other: Memory) -> bool:
    """Whether both come from the same mouth, or the same eyes."""
    return speaker_of(one) == speaker_of(other) and _kind(one.provenance.source) == _kind(other.provenance.source)


def _kind(source: Source) -> Source:
    """Said to the owner or in earshot is the same to whoever said it."""
    return Source.SAID_BY if source is Source.TOLD else source


@lru_cache(maxsize=_CACHED)
def said(text: str, *, by: str) -> Statement:
    """Args: text: a name and a colon before it are left out if it is the speaker's."""
    text = text.removeprefix(f"{by}: ").strip()
    quote = _QUOTE.match(text)
    if quote is not None and quote["who"].casefold() not in _HEADINGS:
        by, quoted = quote["who"], text[quote.end() :]
    else:
        quoted = text
    bare = _FRAMES.sub(" ", quoted)
    confirms = bare != quoted
    bare = _ASIDES.sub(" ", _REPORTED.sub(" ", bare))
    words = [_plain(word) for word in content_words(bare)]
    spoken = tuple(_plain(word) for word in _WORD.findall(bare.casefold()))
    change = _CHANGES.search(bare)
    return Statement(
        text=text,
        speaker=by,
        spoken=spoken,
        words=tuple(word for word in words if _tells(word)),
        particulars=frozenset(filter(None, map(particular, spoken))),
        names=_names(bare),
        addressed=_addressed(bare.strip()),
        negated=_denies(bare, spoken),
        denied=_denied(spoken),
        of_speaker=_OWN.search(bare) is not None,
        of_listener=_LISTENERS.search(bare) is not None,
        confirms=confirms,
        change="" if change is None else change.group().casefold(),
        past=_PAST.search(bare) is not None,
        asks=text.endswith(("?", "？", "؟", "\u037e")),
    )


def stems(word: str) -> frozenset[str]:
    return _stems(word)


@lru_cache(maxsize=_CACHED)
def _stems(word: str) -> frozenset[str]:
    return frozenset(tokens(word))


def _tells(word: str) -> bool:
    """Whether it is a word like any other, no number, negation or pronoun."""
    pronoun = _OWN.fullmatch(word) or _LISTENERS.fullmatch(word)
    return bool(word) and particular(word) is None and not _negates(word) and not pronoun


def _negates(word: str) -> bool:
    return word in _NEGATIONS or word.endswith(("n't", "n’t"))


def _plain(word: str) -> str:
    return re.sub(r"['’]s?$", "", word)


def particular(word: str) -> str | None:
    """The one spelling of a number, a date and the like; None of any other word."""
    if word[0].isdigit():
        digits = re.match(r"[\d.,:]+", word)
        return word if digits is None else digits.group().rstrip(".,:")
    if word in _NUMBERS:
        return _NUMBERS[word]
    for spelling in (word, word.removesuffix("s")):
        if spelling in _PARTICULAR:
            return spelling
    return None


def _denies(text: str, spoken: tuple[str, ...]) -> bool:
    """Whether an odd number of its words deny."""
    shortened = len(re.findall(r"n['’]t\b", text, re.IGNORECASE))
    characters = len(_NEGATED_CHARACTERS.findall(text))
    words = sum(word in _NEGATIONS for word in spoken) - ("ne" in spoken and "pas" in spoken)
    return (shortened + characters + words) % 2 == 1


def _denied(spoken: tuple[str, ...]) -> tuple[frozenset[str], ...]:
    """The next words with a meaning, of each negation; where none follow, those before it."""
    telling = [(place, stems(word)) for place, word in enumerate(spoken) if not _negates(word) and stems(word)]
    places = [place for place, _ in telling]
    scopes: list[frozenset[str]] = []
    for place, word in enumerate(spoken):
        if _negates(word):
            next_one = bisect(places, place)
            near = telling[next_one : next_one + _SCOPE] or telling[max(next_one - _SCOPE, 0) : next_one]
            scopes.append(frozenset[str]().union(*(held for _, held in near)))
    return tuple(scopes)


def _addressed(text: str) -> frozenset[str]:
    names = {match["first"] or match["last"] for match in _ADDRESSED.finditer(text)}
    return frozenset(_plain(name.casefold()) for name in names) & _names(text)


def _names(text: str) -> frozenset[str]:
    found: set[str] = set()
    for match in _WORD.finditer(text):
        word, before = _plain(match.group()), text[: match.start()].rstrip(" \"'(«“„")
        inside = bool(before) and before[-1] not in ".!?:…\n"
        addressed = not inside and text[match.end() : match.end() + 1] == "," and word.casefold() not in _OPENINGS
        if (inside or addressed) and word[:1].isupper() and tokens(word) and particular(word.casefold()) is None:
            found.add(word.casefold())
    return frozenset(found)


until_erased(said.cache_clear)
until_erased(_stems.cache_clear)
