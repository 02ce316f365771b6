"""Words that times are told by, in four languages, as what they mean. PURE.

Keys are in lower case and without accents; several words stand with single spaces. A language's words are only read in
a text of that language (:func:`simuverse.memory.analysis.language_of`), as ``hier`` is *here* in German and *yesterday*
in French.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType


class Kind(StrEnum):
    """What a word does in an expression of time; the value that goes with it in brackets."""

    DAY = "day"  # days from today [int]
    WEEKDAY = "weekday"  # 0, Monday, to 6
    MONTH = "month"  # 1 to 12
    SHORT_MONTH = "short_month"  # the same, read beside a day's number alone
    SEASON = "season"  # its first month [3, 6, 9, 12]
    SPAN = "span"  # half an hour [minutes]
    UNIT = "unit"  # [minute, hour, day, week, weekend, month, year]
    PART = "part"  # of a day [see PARTS]
    PART_TODAY = "part_today"  # tonight [part]
    PART_YESTERDAY = "part_yesterday"  # last night [part]
    MORNING_OR_TOMORROW = "morning_or_tomorrow"
    FEAST = "feast"  # [month, day, number of days]
    NUMBER = "number"  # [int]
    ORDINAL = "ordinal"  # [int]
    DATE = "date"  # [year, month, day]
    CLOCK = "clock"  # [hour, minute]
    LAST = "last"  # [None; -2: the one before]
    PAST = "past"  # the past week: up to now
    THIS = "this"
    NEXT = "next"
    AGO = "ago"  # after the amount
    AGO_OR_BEFORE = "ago_or_before"  # before the amount, or before a time
    SINCE = "since"
    UNTIL = "until"
    BEFORE = "before"
    AFTER = "after"
    BETWEEN = "between"
    FROM = "from"
    TO = "to"
    AND = "and"
    OF = "of"
    AT = "at"  # every other preposition that a time may follow ["to": it also joins a range]
    THE = "the"
    THIRD = "third"  # early, mid, late [0, 1, 2]
    ABOUT = "about"  # roughly; says nothing here
    HALF_DAY = "half_day"  # am, pm; o'clock, by day; of 24 hours [0, 12, None, 24]
    WORD = "word"  # any other


PARTS: Mapping[str, tuple[int, int]] = MappingProxyType(
    {"morning": (4, 12), "noon": (11, 14), "afternoon": (12, 18), "evening": (17, 24), "night": (18, 30)}
)
"""Hours of a day that each is taken to be, the second not included; a night goes on into the next day."""

Value = int | str | tuple[int, ...] | None
Meaning = tuple[Kind, Value]
Lexicon = Mapping[tuple[str, ...], Meaning]


def _lexicon(*groups: tuple[Kind, Mapping[Value, str]]) -> Lexicon:
    """Words of one meaning are parted by commas."""
    found: dict[tuple[str, ...], Meaning] = {}
    for kind, meanings in groups:
        for value, words in meanings.items():
            found.update((tuple(word.split()), (kind, value)) for word in words.split(", "))
    return MappingProxyType(found)


def _counted(words: str, first: int = 1) -> dict[Value, str]:
    """Words parted by white space, numbered; those of one number are joined by ``|``."""
    return {number: word.replace("|", ", ") for number, word in enumerate(words.split(), start=first)}


LEXICONS: Mapping[str, Lexicon] = MappingProxyType(
    {
        "english": _lexicon(
            (Kind.DAY, {0: "today, earlier today", -1: "yesterday", 1: "tomorrow", -2: "day before yesterday"}),
            (Kind.WEEKDAY, _counted("monday tuesday wednesday thursday friday saturday sunday", 0)),
            (
                Kind.MONTH,
                _counted(
                    "january february march april may june july august september october november december",
                ),
            ),
            (Kind.SHORT_MONTH, _counted("jan feb mar apr ... jun jul aug sep|sept oct nov dec")),
            (Kind.SEASON, {3: "spring", 6: "summer", 9: "autumn, fall", 12: "winter"}),
            (
                Kind.UNIT,
                {
                    "minute": "minute, minutes",
                    "hour": "hour, hours",
                    "day": "day, days",
                    "week": "week, weeks",
                    "weekend": "weekend, weekends",
                    "month": "month, months",
                    "year": "year, years",
                },
            ),
            (
                Kind.PART,
                {
                    "morning": "morning",
                    "noon": "noon, midday, lunchtime",
                    "afternoon": "afternoon",
                    "evening": "evening",
                    "night": "night",
                },
            ),
            (
                Kind.SPAN,
                {15: "quarter of an hour, a quarter of an hour", 30: "half an hour", 90: "an hour and a half"},
            ),
            (Kind.PART_TODAY, {"night": "tonight"}),
            (Kind.PART_YESTERDAY, {"night": "last night"}),
            (
                Kind.FEAST,
                {
                    (12, 24, 1): "christmas eve",
                    (12, 25, 2): "christmas, christmas day",
                    (12, 31, 1): "new year s eve",
                    (1, 1, 1): "new year s day, new year s",
                },
            ),
            (
                Kind.NUMBER,
                {
                    **_counted("one|a|an two three four five six seven eight nine ten eleven twelve"),
                    2: "two, a couple of, couple of, a couple, couple",
                    3: "three, a few, few",
                },
            ),
            (Kind.ORDINAL, _counted("first second third fourth fifth")),
            (Kind.LAST, {None: "last, previous"}),
            (Kind.PAST, {None: "past"}),
            (Kind.THIS, {None: "this, earlier this, the current, later this"}),
            (Kind.NEXT, {None: "next, the coming, coming"}),
            (Kind.AGO, {None: "ago, back"}),
            (Kind.SINCE, {None: "since, ever since"}),
            (Kind.UNTIL, {None: "until, till, up to"}),
            (Kind.BEFORE, {None: "before, prior to"}),
            (Kind.AFTER, {None: "after"}),
            (Kind.BETWEEN, {None: "between"}),
            (Kind.FROM, {None: "from"}),
            (Kind.TO, {None: "to, through"}),
            (Kind.AND, {None: "and"}),
            (Kind.OF, {None: "of"}),
            (Kind.AT, {None: "on, in, at, during, over, within, throughout, back in, as of"}),
            (Kind.THE, {None: "the"}),
            (
                Kind.THIRD,
                {
                    0: "early, beginning of, start of, early in",
                    1: "mid, middle of",
                    2: "late, end of, late in",
                },
            ),
            (Kind.ABOUT, {None: "about, around, roughly, exactly, some, early on"}),
            (Kind.HALF_DAY, {0: "am, a m", 12: "pm, p m", None: "o clock"}),
        ),
        "german": _lexicon(
            (Kind.DAY, {0: "heute", -1: "gestern", -2: "vorgestern", 2: "ubermorgen"}),
            (Kind.MORNING_OR_TOMORROW, {None: "morgen"}),
            (Kind.WEEKDAY, _counted("montag dienstag mittwoch donnerstag freitag samstag|sonnabend sonntag", 0)),
            (
                Kind.MONTH,
                _counted(
                    "januar|janner februar marz april mai juni juli august september oktober november dezember",
                ),
            ),
            (Kind.SEASON, {3: "fruhling, fruhjahr", 6: "sommer", 9: "herbst", 12: "winter"}),
            (
                Kind.UNIT,
                {
                    "minute": "minute, minuten",
                    "hour": "stunde, stunden",
                    "day": "tag, tage, tagen",
                    "week": "woche, wochen",
                    "weekend": "wochenende, wochenenden",
                    "month": "monat, monate, monaten, monats",
                    "year": "jahr, jahre, jahren, jahres",
                },
            ),
            (
                Kind.PART,
                {
                    "morning": "fruh, vormittag, morgens",
                    "noon": "mittag",
                    "afternoon": "nachmittag",
                    "evening": "abend, abends",
                    "night": "nacht",
                },
            ),
            (Kind.SPAN, {30: "einer halben stunde", 90: "anderthalb stunden, eineinhalb stunden"}),
            (Kind.PART_TODAY, {"evening": "heute abend"}),
            (Kind.PART_YESTERDAY, {"night": "letzte nacht, vergangene nacht"}),
            (Kind.FEAST, {(12, 24, 3): "weihnachten", (12, 31, 1): "silvester", (1, 1, 1): "neujahr"}),
            (
                Kind.NUMBER,
                {
                    **_counted("ein|eine|einen|einem|einer zwei drei vier funf sechs sieben acht neun zehn elf zwolf"),
                    3: "drei, ein paar",
                },
            ),
            (
                Kind.LAST,
                {
                    None: "letzte, letzten, letzter, letztes, vorige, vorigen, voriges, vergangene, vergangenen",
                    -2: "vorletzte, vorletzten, vorletztes",
                },
            ),
            (Kind.THIS, {None: "diese, diesen, diesem, dieses, dieser"}),
            (Kind.NEXT, {None: "nachste, nachsten, nachster, nachstes, kommende, kommenden"}),
            (Kind.AGO_OR_BEFORE, {None: "vor"}),
            (Kind.SINCE, {None: "seit"}),
            (Kind.UNTIL, {None: "bis, bis zum"}),
            (Kind.AFTER, {None: "nach"}),
            (Kind.BETWEEN, {None: "zwischen"}),
            (Kind.FROM, {None: "von, vom"}),
            (Kind.AND, {None: "und"}),
            (Kind.OF, {None: "des"}),
            (Kind.AT, {None: "am, im, an, in, um, zu, wahrend"}),
            (Kind.THE, {None: "der, die, das, den, dem"}),
            (Kind.THIRD, {0: "anfang", 1: "mitte", 2: "ende"}),
            (Kind.HALF_DAY, {24: "uhr"}),
        ),
        "french": _lexicon(
            (Kind.DAY, {0: "aujourd hui", -1: "hier", -2: "avant hier", 1: "demain"}),
            (Kind.WEEKDAY, _counted("lundi mardi mercredi jeudi vendredi samedi dimanche", 0)),
            (
                Kind.MONTH,
                _counted("janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre"),
            ),
            (Kind.SEASON, {3: "printemps", 6: "ete", 9: "automne", 12: "hiver"}),
            (
                Kind.UNIT,
                {
                    "minute": "minute, minutes",
                    "hour": "heure, heures",
                    "day": "jour, jours",
                    "week": "semaine, semaines",
                    "weekend": "week end, weekend",
                    "month": "mois",
                    "year": "an, ans, annee, annees",
                },
            ),
            (
                Kind.PART,
                {"morning": "matin", "noon": "midi", "afternoon": "apres midi", "evening": "soir", "night": "nuit"},
            ),
            (Kind.SPAN, {30: "une demi heure", 90: "une heure et demie"}),
            (Kind.PART_TODAY, {"evening": "ce soir"}),
            (Kind.PART_YESTERDAY, {"night": "la nuit derniere"}),
            (Kind.FEAST, {(12, 24, 2): "noel"}),
            (
                Kind.NUMBER,
                _counted("un|une deux trois|quelques quatre cinq six sept huit neuf dix onze douze"),
            ),
            (Kind.ORDINAL, {1: "premier, 1er"}),
            (Kind.LAST, {None: "dernier, derniere, derniers, dernieres, passe, passee"}),
            (Kind.THIS, {None: "ce, cet, cette"}),
            (Kind.NEXT, {None: "prochain, prochaine"}),
            (Kind.AGO_OR_BEFORE, {None: "il y a, avant"}),
            (Kind.SINCE, {None: "depuis"}),
            (Kind.UNTIL, {None: "jusqu a, jusqu au"}),
            (Kind.AFTER, {None: "apres"}),
            (Kind.BETWEEN, {None: "entre"}),
            (Kind.FROM, {None: "du"}),
            (Kind.AND, {None: "et"}),
            (Kind.OF, {None: "de, d, de l"}),
            (Kind.AT, {None: "en, pendant, a, dans, durant", "to": "au"}),
            (Kind.THE, {None: "le, la, l, les"}),
            (Kind.THIRD, {0: "debut, au debut de, debut de", 1: "mi, milieu de", 2: "fin, fin de"}),
        ),
        "spanish": _lexicon(
            (Kind.DAY, {0: "hoy", -1: "ayer", -2: "anteayer, antes de ayer", 2: "pasado manana"}),
            (Kind.MORNING_OR_TOMORROW, {None: "manana"}),
            (Kind.WEEKDAY, _counted("lunes martes miercoles jueves viernes sabado domingo", 0)),
            (
                Kind.MONTH,
                _counted("enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"),
            ),
            (Kind.SEASON, {3: "primavera", 6: "verano", 9: "otono", 12: "invierno"}),
            (
                Kind.UNIT,
                {
                    "minute": "minuto, minutos",
                    "hour": "hora, horas",
                    "day": "dia, dias",
                    "week": "semana, semanas",
                    "weekend": "fin de semana",
                    "month": "mes, meses",
                    "year": "ano, anos",
                },
            ),
            (Kind.PART, {"noon": "mediodia", "afternoon": "tarde", "night": "noche"}),
            (Kind.SPAN, {30: "media hora", 90: "una hora y media"}),
            (Kind.PART_TODAY, {"night": "esta noche"}),
            (Kind.PART_YESTERDAY, {"night": "anoche, la noche pasada"}),
            (Kind.FEAST, {(12, 24, 2): "navidad", (12, 31, 1): "nochevieja"}),
            (
                Kind.NUMBER,
                {
                    **_counted("un|una dos tres|unos|unas cuatro cinco seis siete ocho nueve diez once doce"),
                    2: "dos, un par de",
                },
            ),
            (Kind.ORDINAL, {1: "primero"}),
            (Kind.LAST, {None: "pasado, pasada, pasados, pasadas, ultimo, ultima, ultimos, ultimas"}),
            (Kind.THIS, {None: "este, esta, estos, estas"}),
            (Kind.NEXT, {None: "proximo, proxima"}),
            (Kind.AGO_OR_BEFORE, {None: "hace"}),
            (Kind.BEFORE, {None: "antes de, antes del"}),
            (Kind.SINCE, {None: "desde"}),
            (Kind.UNTIL, {None: "hasta"}),
            (Kind.AFTER, {None: "despues de, despues del"}),
            (Kind.BETWEEN, {None: "entre"}),
            (Kind.AND, {None: "y"}),
            (Kind.OF, {None: "de, del"}),
            (Kind.AT, {None: "en, durante, a, por"}),
            (Kind.THE, {None: "el, la, los, las"}),
            (Kind.THIRD, {0: "principios de", 1: "mediados de", 2: "finales de"}),
        ),
    }
)
"""By the language's name, as :mod:`simuverse.memory.languages` has it."""

_LONGEST = max(len(words) for lexicon in LEXICONS.values() for words in lexicon)
_FIRST = {language: frozenset(words[0] for words in lexicon) for language, lexicon in LEXICONS.items()}

_TELLING = frozenset(
    (
        Kind.DAY,
        Kind.WEEKDAY,
        Kind.MONTH,
        Kind.SHORT_MONTH,
        Kind.SEASON,
        Kind.SPAN,
        Kind.UNIT,
        Kind.PART,
        Kind.PART_TODAY,
        Kind.PART_YESTERDAY,
        Kind.MORNING_OR_TOMORROW,
        Kind.FEAST,
    )
)
TELLING = frozenset(
    words[0]
    for lexicon in LEXICONS.values()
    for words, (kind, value) in lexicon.items()
    if kind in _TELLING or (kind is Kind.HALF_DAY and value in (None, 24))
)
"""Without one of these words, or a figure, no text tells a time in any of the languages."""


def meanings(words: Sequence[str], language: str) -> list[tuple[Kind, Value, int]]:
    """From the left, each word's meaning and how many words it takes; of several meanings the longest."""
    lexicon, first = LEXICONS.get(language, {}), _FIRST.get(language, frozenset())
    found: list[tuple[Kind, Value, int]] = []
    at = 0
    while at < len(words):
        kind, value, taken = Kind.WORD, None, 1
        if words[at] in first:
            for length in range(min(_LONGEST, len(words) - at), 0, -1):
                known = lexicon.get(tuple(words[at : at + length]))
                if known is not None:
                    (kind, value), taken = known, length
                    break
        found.append((kind, value, taken))
        at += taken
    return found
