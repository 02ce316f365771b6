"""Text to search tokens: the same for every store, for what is kept and for what is asked.

A token is a word without case and accents, cut to its stem; stop words are left out, negation is not. Scripts that put
no spaces between words, and Korean, whose particles cling to them, give pairs of neighbouring characters. The stemmers
are Snowball's, compiled: the same stems as its pure Python classes give, fifty times as fast.

Words in Latin letters are stemmed by the text's own language, told by a vote of its function words. Without a clear
winner it is English; so a few bare keywords are stemmed as English whatever they are, and therefore a memory in another
language is indexed under the English stems of its words too.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from importlib import import_module
from itertools import chain, pairwise
from typing import NamedTuple, Protocol, cast

from simuverse.memory.caches import let_go, until_erased
from simuverse.memory.languages import LATIN, OTHER
from simuverse.memory.records import Memory

DEFAULT_LANGUAGE = "english"

MAX_TOKEN = 64
"""Characters of a token at most: what is longer is no word but a link or a code, and is cut, unstemmed."""

_CACHED_WORDS = 65_536
"""Words whose tokens are kept, about 15 MB: more than a lifetime of one language's chat."""

_CACHED_MEMORIES = 16_384
"""Memories whose tokens are kept, about 10 MB: a recall wants those of every candidate, turn after turn."""

_KEPT_BY_STEMMER = 0
"""Words: what is kept must be let go of when a memory is erased, and the caches above it do."""

_MIN_VOTES = 2
"""Function words that a language needs to be believed; one alone (``die``, ``no``, ``a``) is in too many languages."""

_SCRIPT_LANGUAGE = {
    "ARABIC": "arabic",
    "ARMENIAN": "armenian",
    "CYRILLIC": "russian",
    "DEVANAGARI": "hindi",
    "GREEK": "greek",
    "TAMIL": "tamil",
}
"""One stemmer a script, also for its other languages: a name must give the same token in every sentence."""

_PAIRED_SCRIPTS = {
    "CJK": "CJK",
    "HIRAGANA": "CJK",
    "KATAKANA": "CJK",
    "KATAKANA-HIRAGANA": "CJK",
    "IDEOGRAPHIC": "CJK",
    "HANGUL": "HANGUL",
    "THAI": "THAI",
    "LAO": "LAO",
    "KHMER": "KHMER",
    "MYANMAR": "MYANMAR",
}
"""How their letters' Unicode names begin -> what runs on without a break."""

_PAIRED = frozenset(_PAIRED_SCRIPTS.values())

_FOLDED = str.maketrans(
    {"æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "ħ": "h", "ı": "i", "ł": "l", "ŋ": "n", "þ": "th", "ŧ": "t"}
)
"""Latin letters that people without that keyboard write otherwise, and that don't decompose."""

_CYRILLIC_FOLDED = str.maketrans({"ё": "е", "ѐ": "е", "ѝ": "и", "\u0300": None, "\u0301": None})
"""Stress marks and the two dots of ё are often left out; й, ї, ў, ѓ and ќ are letters of their own."""

_OPTIONAL_MARKS = re.compile("[\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u0652\u0670]")
"""Hebrew points, Arabic vowel marks and the stretching line: written or not, it is the same word."""

_APOSTROPHES = "'\u2018\u2019\u02bb\u02bc\u0060\u00b4"
_NUMBER = (
    r"(?=[0-9])(?<![0-9][.,:])(?<![0-9])"
    r"(?:[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?|[0-9]+[.,:][0-9]+)"  # 12,500.50  3.5  3,5  14:30
    r"(?![0-9]|[.,:][0-9])"
)
"""A number with one separator is one token; more of them are a date or a list, whose parts are tokens."""
_WORD = re.compile(rf"{_NUMBER}|[^ .,:']+(?:'[^ .,:']+)*")
_NO_LETTERS_ALONE = re.compile("[0-9'`]")
_LETTERS = re.compile("[a-z]+")
"""What most sentences in ASCII need, those without numbers and apostrophes: the same words in half the time."""
_THOUSANDS = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?")

_CLITICS = frozenset({"s", "t", "d", "m", "re", "ve", "ll"})


class _Reading(NamedTuple):
    stems: bool = True
    stop_words: bool = True


_reading = _Reading()


@contextmanager
def read_without(*, stems: bool = False, stop_words: bool = False) -> Generator[None]:
    """For measuring what they add: text is read without stems, or without leaving out stop words.

    Everything in this process is, and what was stored so isn't found otherwise.
    """
    global _reading  # noqa: PLW0603
    before, _reading = _reading, _Reading(stems=not stems, stop_words=not stop_words)
    _forget_readings()
    try:
        yield
    finally:
        _reading = before
        _forget_readings()


def _forget_readings() -> None:
    let_go()
    _stop_words.cache_clear()


def tokens(text: str) -> list[str]:
    """Search tokens in the order of the text, repeats kept. None of them is empty or holds white space."""
    words = _words(text)
    language = _language(words)
    return list(chain.from_iterable(_word_tokens(word, language) for word in words))


@lru_cache(maxsize=_CACHED_MEMORIES)
def content_words(text: str) -> tuple[str, ...]:
    """Words as they are written, in lower case and whole, without stop words; repeats kept."""
    words = _words(text)
    tells = _telling(_language(words)).__getitem__
    return tuple(filter(tells, words))


class _Telling(dict[str, bool]):
    """Whether a word is more than a stop word or a stray mark, worked out when it is first met."""

    def __init__(self, language: str) -> None:
        self._stop = _stop_words(language)

    def __missing__(self, word: str) -> bool:
        if len(self) >= _CACHED_WORDS:
            self.clear()
        tells = self[word] = word.partition("'")[0] not in self._stop and any(map(str.isalnum, word))
        return tells


_telling = cache(_Telling)
until_erased(content_words.cache_clear)
until_erased(_telling.cache_clear)


def language_of(text: str) -> str:
    """Name of the language that the text's function words speak for, as its stemmer is named; else English."""
    return _language(_words(text))


def query_terms(text: str) -> tuple[str, ...]:
    """What a query looks for: its tokens."""
    return tuple(tokens(text))


def memory_tokens(memory: Memory) -> list[str]:
    """Tokens that a memory is found by: of its summary, keywords, critical information and speaker.

    They hold what a query of any one of its words would look for, however little that query tells of its language: in
    other languages than English the English stem as well, and each Chinese character alone beside the pairs.
    """
    return search_text(memory).split()


def search_text(memory: Memory) -> str:
    """The string that stores index: :func:`memory_tokens` joined by single spaces."""
    speaker = memory.provenance.speaker or ""
    return _indexed("\n".join((memory.summary, *memory.keywords, memory.critical_information, speaker)))


@lru_cache(maxsize=_CACHED_MEMORIES)
def _indexed(text: str) -> str:
    words = _words(text)
    language = _language(words)
    found: list[str] = []
    for word in words:
        own = _word_tokens(word, language)
        found.extend(own)
        if language != DEFAULT_LANGUAGE or not word.isascii():
            bare = (*_word_tokens(word, DEFAULT_LANGUAGE), *filter(_is_han, word))
            known = set(own)
            found.extend(token for token in bare if token not in known)
    return " ".join(found)


until_erased(_indexed.cache_clear)


def matched_share(terms: Sequence[str], tokens: Collection[str]) -> float:
    """Share of the distinct ``terms`` that are among ``tokens``: 0 to 1; 0 without terms."""
    wanted = set(terms)
    return len(wanted.intersection(tokens)) / len(wanted) if wanted else 0.0


class _Characters(dict[int, str | None]):
    """What :meth:`str.translate` makes of each character, worked out when it is first met."""

    def __missing__(self, code: int) -> str | None:
        value = self[code] = _character(chr(code))
        return value


def _character(char: str) -> str | None:
    if char in ".,:":
        return char
    if char in _APOSTROPHES:
        return "'"
    category = unicodedata.category(char)
    if category == "Nd":
        return str(unicodedata.decimal(char))
    if category == "Cf" and char != "\u200b":  # joiners, direction marks, soft hyphen; the one left out parts words
        return None
    return char if category[0] in "LNM" else " "


_CHARACTERS = _Characters()


def _words(text: str) -> list[str]:
    """Words and numbers in lower case, marks kept."""
    if text.isascii():
        text = text.lower()
        if not _NO_LETTERS_ALONE.search(text):
            return _LETTERS.findall(text)
    else:
        text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
        # Compatibility forms take these apart; lower case of the Turkish capital leaves its dot behind.
        text = text.replace("\u0e4d\u0e32", "\u0e33").replace("\u0ecd\u0eb2", "\u0eb3").replace("i\u0307", "i")
    return _WORD.findall(text.translate(_CHARACTERS))


@cache
def _votes() -> dict[str, tuple[str, ...]]:
    """Function word, as written and without accents -> languages it speaks for."""
    votes: dict[str, set[str]] = {}
    for language, words in LATIN.items():
        for word in words.stop | words.telling:
            for spelling in (word, _fold(word)):
                votes.setdefault(spelling, set()).add(language)
    return {word: tuple(sorted(languages)) for word, languages in votes.items()}


def _language(words: Sequence[str]) -> str:
    """The one language with the most function words in the text, at least two; else the default."""
    votes = [*filter(None, map(_votes().get, words))]
    if len(votes) < _MIN_VOTES:
        return DEFAULT_LANGUAGE
    count = Counter(chain.from_iterable(votes))
    most = max(count.values())
    leaders = [language for language, number in count.items() if number == most]
    return leaders[0] if most >= _MIN_VOTES and len(leaders) == 1 else DEFAULT_LANGUAGE


def _word_tokens(word: str, language: str) -> tuple[str, ...]:
    """Tokens of one word or number, or of a stretch of a script without spaces."""
    return _cached_tokens(word, language) if len(word) <= MAX_TOKEN else _tokens_of(word, language)


@lru_cache(maxsize=_CACHED_WORDS)
def _cached_tokens(word: str, language: str) -> tuple[str, ...]:
    return _tokens_of(word, language)


until_erased(_cached_tokens.cache_clear)


def _tokens_of(word: str, language: str) -> tuple[str, ...]:
    if "." in word or "," in word or ":" in word:
        return (_number(word)[:MAX_TOKEN],)
    found: list[str] = []
    for script, run in _runs(word):
        if script in _PAIRED:
            found.extend(_pairs(run))
        elif script == "LATIN":
            found.extend(_latin(run, language))
        else:
            found.extend(_other(run, script))
    return tuple(found)


def _number(number: str) -> str:
    """One spelling: a comma before three digits parts thousands, another is a decimal point."""
    return number.replace(",", "" if _THOUSANDS.fullmatch(number) else ".")


@cache
def _script(char: str) -> str:
    """Script of a letter by its Unicode name; ``DIGIT``; empty for what belongs to whatever stands before it."""
    if "0" <= char <= "9":
        return "DIGIT"
    if char == "'" or unicodedata.category(char)[0] == "M":
        return ""
    script = unicodedata.name(char, "UNNAMED").split(" ", 1)[0]
    return _PAIRED_SCRIPTS.get(script, script)


def _is_han(char: str) -> bool:
    return unicodedata.name(char, "").startswith("CJK ")


def _runs(word: str) -> list[tuple[str, str]]:
    """The word cut where its script changes. Digits stay with letters, as in ``b12``, except in paired scripts."""
    if word.isascii():
        return [("LATIN", word)]
    runs: list[tuple[str, str]] = []
    for char in word:
        script = _script(char)
        current, run = runs[-1] if runs else ("", "")
        if script in {"", current} or (script == "DIGIT" and current and current not in _PAIRED):
            joined = current
        elif current == "DIGIT" and script not in _PAIRED:
            joined = script
        else:
            runs.append((script, char))
            continue
        if run:  # a mark with no letter before it is nothing
            runs[-1] = (joined, run + char)
    return runs


def _pairs(run: str) -> list[str]:
    """Overlapping pairs of characters, each with its marks; a lone one as it is."""
    characters: list[str] = []
    for char in run:
        if characters and _script(char) == "":
            characters[-1] += char
        else:
            characters.append(char)
    if len(characters) == 1:
        return characters
    return [first + second for first, second in pairwise(characters)]


def _latin(run: str, language: str) -> list[str]:
    parts = run.split("'")
    if len(parts) > 1:
        if parts[-1] == "t" and parts[-2].endswith("n"):
            return ["not"]  # don't, can't: the auxiliary tells nothing, the negation all
        # Turkish hangs its endings on names by an apostrophe; elsewhere it marks what was shortened: l'eau, James's
        parts = parts[:1] if language == "turkish" else [p for p in parts if len(p) > 1 and p not in _CLITICS]
    stop = _stop_words(language)
    stems = [_latin_stem(part, language) for part in parts if part not in stop]
    return [stem for stem in stems if stem]  # nothing is left of stray marks


def _latin_stem(word: str, language: str) -> str:
    """English endings bear no accents, so they are folded first, and José is Jose; other stemmers need them."""
    if language == DEFAULT_LANGUAGE:
        return _stem(_fold(word), language)
    return _fold(_stem(word, language))[:MAX_TOKEN]


def _other(run: str, script: str) -> list[str]:
    word = run.replace("'", "")
    if script == "CYRILLIC":
        word = word.translate(_CYRILLIC_FOLDED)
    elif script == "GREEK":
        word = _fold(word)
    elif script in {"ARABIC", "HEBREW"}:
        word = _OPTIONAL_MARKS.sub("", word)
    language = _SCRIPT_LANGUAGE.get(script)
    if not word or (language is not None and _reading.stop_words and word in OTHER[language].stop):
        return []
    return [_stem(word, language) if language is not None else word[:MAX_TOKEN]]


def _fold(word: str) -> str:
    """Without accents."""
    if word.isascii():
        return word
    bare = "".join(char for char in unicodedata.normalize("NFD", word) if not unicodedata.combining(char))
    return bare.translate(_FOLDED)


@cache
def _stop_words(language: str) -> frozenset[str]:
    """As written and without accents; a word that only its accent tells from a stop word stays."""
    stop = LATIN[language].stop if _reading.stop_words else frozenset[str]()
    return stop | {_fold(word) for word in stop}


def _stem(word: str, language: str) -> str:
    """A stemmer of its own for every word: they keep state, and threads share the cache above them."""
    if len(word) > MAX_TOKEN or not _reading.stems:
        return word[:MAX_TOKEN]
    return _stemmers()(language, _KEPT_BY_STEMMER).stemWord(word)[:MAX_TOKEN] or word


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...  # noqa: N802


@cache
def _stemmers() -> Callable[[str, int], _Stemmer]:
    """Takes a language and how many words to keep."""
    return cast("Callable[[str, int], _Stemmer]", import_module("Stemmer").Stemmer)
