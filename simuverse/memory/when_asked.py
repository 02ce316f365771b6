"""What a text has to do with the times it speaks of: whether it asks about one, or only mentions it. PURE.

A question about a time ("What did Mira say yesterday?") is only answered by that time: its window becomes the query's
filter, and the time's words are taken out of what is searched, as few memories hold them. If nothing else is asked
("What happened yesterday?") that time's memories are listed. A time that is only mentioned ("I saw her yesterday",
"Where is the ball you found yesterday?") lifts that time's memories a little. A time to come has no memories yet: it
does nothing, and neither does what something is for ("the plan for Monday").

What tells is the sentence that the time stands in. It asks about it if it is a question or a request, and its first
verb that shows tense is past, or perfect; in the present only where it asks for news or has "since". In German, French
and Spanish, whose past is also made with verbs of the present, a question about a time that is over is about it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo

from simuverse.memory.analysis import DEFAULT_LANGUAGE, content_words, language_of
from simuverse.memory.languages import LATIN
from simuverse.memory.records import MemoryFilter, MemoryQuery
from simuverse.memory.time_asked import TimeAsked, TimeUse
from simuverse.memory.when import TimeSpoken, times_spoken
from simuverse.memory.when_calendar import Window
from simuverse.memory.when_items import may_tell

_SENTENCE = re.compile(r"\S.*?(?:[?!…？؟]+|(?<!\d)\.+(?!\S)|\n|$)", re.DOTALL)
_WORD = re.compile(r"[^\W\d_]+")
_ASIDE = re.compile(
    r"^(?P<told>[^,?]+(?:,[^,?]+)*?)[,;]\s+(?:and |but |so )?"
    r"(?=(?:do|does|did|where|what|who|is|are|have|has|can|could|how|why)\b)",
    re.IGNORECASE,
)
"""Something told, and a question about something else in the same sentence."""

_WISH = re.compile(r"\bi(?:'d|’d| would)? (?:like|want) to (?:know|hear) what\b.* up to\b", re.IGNORECASE)
"""Wants to hear what goes on, which is nothing remembered: "I want to hear what everyone is up to this morning"."""

_QUESTION_MARK = re.compile(r"[?？؟]\W*$")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Speech:
    """How one language asks.

    Args:
        frames: what may stand around a question without changing what it asks: "can you tell me".
        openings: first words of a question or request that may lack its mark.
        to_come: words that put what follows them into the future.
        news: words that make a question in the present one about what has happened.
        empty: words without which a question still asks the same: "what happened", "what did you do".
        past, present: verbs that show tense; empty: the language's past can't be told by single words.
    """

    frames: re.Pattern[str]
    openings: frozenset[str]
    to_come: frozenset[str]
    news: re.Pattern[str]
    empty: frozenset[str]
    past: frozenset[str] = frozenset()
    present: frozenset[str] = frozenset()


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_ENGLISH = _Speech(
    frames=re.compile(
        r"\b(?:(?:do|can|could|would|will|did) you (?:(?:please|still|also|even|perhaps) )*"
        r"(?:remember|recall|know|tell|say|remind|describe|list|summari[sz]e|name|think of)(?: (?:me|us))?"
        r"|(?:tell|remind|ask) (?:me|us)|is it (?:true|right|correct) that"
        r"|i(?:'d|’d| would)? (?:like|want) to (?:know|hear)|i wonder|any idea)\b",
        re.IGNORECASE,
    ),
    openings=_set(
        "what who whom whose where which how why did was were have has had tell remind describe list summarise "
        "summarize recall remember think anything"
    ),
    past=_set("did was were had have has ve didn wasn weren hadn haven hasn happened"),
    present=_set(
        "is are am do does don doesn isn aren can could would should shall will may might must ll re wouldn couldn "
        "shouldn cannot"
    ),
    to_come=_set("will ll shall would should going gonna want wants planning plans plan expected supposed"),
    news=re.compile(r"\b(?:new|news|latest|happen\w*|going on|what\b.* up to)\b", re.IGNORECASE),
    empty=_set(
        "happen happens happened happening occur occurred go goes going went gone up out do does doing done say said "
        "says saying tell told tells telling talk talks talked talking speak spoke spoken discuss discussed chat "
        "chatted mention mentioned hear heard see saw seen notice noticed meet met make made learn learned learnt get "
        "got find found come came remember recall know knew remind describe list summarise summarize summary think "
        "thought anything something everything nothing thing things stuff event events news new latest day days time "
        "times life important importance most main interesting special memorable worth noteworthy highlights all any "
        "some else other like spend spent take took taken place experience experienced anyone anybody someone "
        "somebody everyone everybody people please hello hi hey dear well ok okay so now then again back exactly "
        "actually ever idea bring happenings busy let"
    ),
)
_SPEECH = {
    "english": _ENGLISH,
    "german": _Speech(
        frames=re.compile(
            r"\b(?:weißt du(?: noch)?|kannst du mir sagen|erinnerst du dich(?: daran)?|sag mir|erzähl mir)\b", re.I
        ),
        openings=_set("was wer wen wem wo wann wie welche welcher welches erzähl erinnerst hast haben war waren"),
        to_come=_set(
            "wird werden wirst werde willst will möchtest soll sollen sollst kommt kommst gehst geht machst macht"
        ),
        news=re.compile(r"\b(?:neu|neues|los|passiert|geschehen)\b", re.IGNORECASE),
        empty=_set(
            "passiert passierte geschehen geschah gemacht getan tat machte gesagt sagte erzählt erzählte gesprochen "
            "geredet gehört hörte gesehen sah getroffen traf erlebt erfahren los neu neues etwas alles tag sache "
            "sachen ereignis wichtig wichtiges bitte hallo denn so noch gewesen gab gegeben"
        ),
    ),
    "french": _Speech(
        frames=re.compile(r"\b(?:te souviens-tu de|tu te souviens de|peux-tu me dire|dis-moi|est-ce que)\b", re.I),
        openings=_set("que qu quoi qui où quand comment quel quelle raconte"),
        to_come=_set("va vas vais allons allez vont sera seras veux veut vient viens venez fais faites"),
        news=re.compile(r"\b(?:nouveau|nouvelles|neuf|passé)\b", re.IGNORECASE),
        empty=_set(
            "passé passe arrivé fait faire dit dire raconté raconter parlé parler entendu vu rencontré appris nouveau "
            "nouvelles neuf chose choses jour événement important tout bonjour salut donc été eu lieu"
        ),
    ),
    "spanish": _Speech(
        frames=re.compile(r"\b(?:te acuerdas de|recuerdas|puedes decirme|dime|sabes)\b", re.I),
        openings=_set("qué que quién quien dónde cuándo cómo cuál cuéntame"),
        to_come=_set("va vas voy vamos van será quieres quiere viene vienes haces"),
        news=re.compile(r"\b(?:nuevo|noticias|pasado)\b", re.IGNORECASE),
        empty=_set(
            "pasó pasado pasa ocurrió sucedió hiciste hizo hicimos hecho dijo dijiste dicho contó contaste hablaste "
            "hablamos oíste oído viste visto vio conociste nuevo noticias cosa cosas día evento importante todo hola"
        ),
    ),
}


_CALLED = 2
"""Words beside a time before a comma that may be no more than a greeting and a name: "Hello Jade, today, what ..."."""


def in_time(query: MemoryQuery, *, now: datetime, zone: tzinfo, owner: str) -> MemoryQuery:
    """The query with the time that its text speaks of; as it is if that is none, or it has a time of its own.

    Args:
        now: aware; the run's time.
        zone: whose days and hours are meant.
        owner: whose memory is asked: to be called by name asks for nothing.
    """
    own = query.filter.since is not None or query.filter.until is not None
    if own or query.time is not None or not may_tell(query.text):
        return query
    time = time_asked(query.text, now=now, zone=zone, owner=owner)
    if time is None:
        return query
    if time.use is TimeUse.BOOST:
        return replace(query, time=time)
    spoken = frozenset(_WORD.findall(time.phrase.casefold()))
    keywords = tuple(word for word in query.keywords if not spoken.issuperset(_WORD.findall(word.casefold())))
    use = TimeUse.WINDOW if keywords else time.use
    over = time.until is not None and time.until <= now
    wanted = _narrowed(query.filter, time, over=over)
    return replace(query, keywords=keywords, filter=wanted, time=replace(time, use=use))


def _narrowed(filter: MemoryFilter, time: TimeAsked, *, over: bool) -> MemoryFilter:
    """Of a time that is over, what has changed since is what held then."""
    return replace(filter, since=time.since, until=time.until, include_superseded=filter.include_superseded or over)


def time_asked(text: str, *, now: datetime, zone: tzinfo, owner: str) -> TimeAsked | None:
    """The time that a text asks about, else one that it mentions; of several sentences the last that has one."""
    language = "spanish" if "¿" in text else language_of(text)
    asked: TimeAsked | None = None
    for sentence in _sentences(text, now=now, zone=zone, owner=owner, language=language):
        found = _of_sentence(sentence, now=now, zone=zone, owner=owner, language=language)
        if found is not None and (asked is None or found.use is not TimeUse.BOOST or asked.use is TimeUse.BOOST):
            asked = found
    return asked


def _sentences(text: str, *, now: datetime, zone: tzinfo, owner: str, language: str) -> Iterator[str]:
    for match in _SENTENCE.finditer(text):
        aside = _ASIDE.match(match.group()) if _QUESTION_MARK.search(match.group()) else None
        told = "" if aside is None else _without(aside["told"], times_spoken(aside["told"], now=now, zone=zone))
        if aside is not None and (len(_WORD.findall(told)) > _CALLED or _content(told, language, owner)):
            yield aside["told"]
            yield match.group()[aside.end() :]
        else:
            yield match.group()


def _of_sentence(sentence: str, *, now: datetime, zone: tzinfo, owner: str, language: str) -> TimeAsked | None:
    if not may_tell(sentence):
        return None
    speech = _SPEECH.get(language, _ENGLISH)
    framed = speech.frames.search(sentence) is not None
    plain = speech.frames.sub(lambda frame: " " * len(frame.group()), sentence)
    every = times_spoken(sentence, now=now, zone=zone, language=language)
    verbs = [word.casefold() for word in _WORD.findall(_without(plain, every))]
    tense = _tense(verbs, speech)
    if tense == "present":
        every = times_spoken(sentence, now=now, zone=zone, forward=True, language=language)
    spoken = [
        time
        for time in every
        if (time.window.since is None or time.window.since < now)
        and not (time.purpose and time.window.until is not None)
    ]
    window = _one_window(spoken)
    if window is None:
        return None
    phrase = ", ".join(sentence[time.start : time.end] for time in spoken)
    rest = _without(sentence, spoken)
    content = _content(_without(plain, spoken), language, owner)
    words = {word.casefold() for word in _WORD.findall(_without(plain, spoken))}
    question = bool(_QUESTION_MARK.search(sentence)) or (
        not sentence.rstrip().endswith("!") and (framed or not speech.openings.isdisjoint(verbs[:1]))
    )
    over = window.until is not None and window.until <= now
    news = speech.news.search(plain) is not None and not _WISH.search(sentence)
    before = {word.group().casefold() for word in _WORD.finditer(plain[: spoken[0].start])}
    if window.since is None and not content and not question:
        return None  # good-bye until then
    if not words:
        about = True  # a time alone
    elif not question:
        about = False
    elif news or window.until is None:
        about = True
    else:
        about = not before & speech.to_come and (tense != "present" if speech.past else over)
    use = TimeUse.BOOST if not about else TimeUse.WINDOW if content else TimeUse.LIST
    return TimeAsked(phrase=phrase, since=window.since, until=window.until, use=use, text=rest)


def _tense(verbs: Sequence[str], speech: _Speech) -> str:
    """``past`` or ``present`` by the first verb that shows it; ``open`` where none does."""
    for place, word in enumerate(verbs):
        if word in speech.past:
            return "past"
        if word == "won" and verbs[place + 1 : place + 2] == ["t"]:
            return "present"
        if word in speech.present or (speech.past and word == "s" and verbs[place - 1] in speech.openings):
            return "present"
        if not speech.past and word in speech.to_come:
            return "present"
    return "open"


def _one_window(spoken: Sequence[TimeSpoken]) -> Window | None:
    """What several have in common ("yesterday ... at 3 pm"), else all from the first to the last."""
    window: Window | None = None
    for time in spoken:
        if window is None:
            window = time.window
        else:
            window = window.common(time.window) or window.hull(time.window)
            if window is None:
                return None
    return window


def _without(text: str, spoken: Sequence[TimeSpoken]) -> str:
    for time in reversed(spoken):
        text = text[: time.start] + " " + text[time.end :]
    text = re.sub(r"\s+([,.?!]|$)", r"\1", re.sub(r"\s+", " ", text)).strip()
    return text if _WORD.search(text) else ""


def _content(text: str, language: str, owner: str) -> list[str]:
    """Words that ask for something in particular."""
    known = LATIN.get(language, LATIN[DEFAULT_LANGUAGE])
    names = {word.casefold() for word in _WORD.findall(owner)}
    without = known.stop | _SPEECH.get(language, _ENGLISH).empty | names
    return [word for word in content_words(text) if word not in without]
