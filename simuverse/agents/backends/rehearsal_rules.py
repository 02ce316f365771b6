"""What a rehearsed character does, given what stands in its prompt. PURE.

In order: talk, where that is all there is; answer who spoke; follow one's wishes as far as one knows how, and ask those
who might know; keep the promises that come to mind; greet people and tell them what was seen; stroll. A thing is known
by its name in the prompt, such as ``red_ball``; a memory is used only if it came back as a flashback. So a character
whose flashbacks are taken away doesn't know, asks again, and goes nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import sha256

from simuverse.agents.turn import Reflection, ToolCall, Turn, Utterance

EARSHOT = 80.0
"""How near a person must be to be spoken to; as the ``say`` tool's description states it."""

REACH = 40.0

EARLY = timedelta(minutes=12)
"""How long before an appointment one sets out."""

LATE = timedelta(minutes=10)
"""How long after its hour an appointment is over."""

PATIENCE = timedelta(minutes=40)
"""How long one stands by what one said one would do."""

HOURS = timedelta(hours=12)

_THING = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b")
_POINT = re.compile(r"\((\d+(?:\.\d+)?), (\d+(?:\.\d+)?)\)")
_SQUARE = re.compile(r"from (\d+) to (\d+)")
_CLOCK = re.compile(r"\b(\d{1,2}):(\d{2})\b")
_PERSON = re.compile(r"^(?P<name>.+?) is (?:here|(?P<far>\d+) to the [a-z-]+), (?!at \()")
_SIGHT = re.compile(
    r"^(?P<name>[a-z]+(?:_[a-z]+)+)(?:, an? [^,]+,)? (?:lies|is) (?:here|(?P<far>\d+) to the [a-z-]+), "
    r"at \((?P<x>[\d.]+), (?P<y>[\d.]+)\)(?:, (?P<state>[^;.]+))?"
)
_WANTED = ("back", "find", "lost", "missing")
_COMPANY = ("company", "together")


@dataclass(frozen=True, kw_only=True, slots=True)
class Memory:
    """A flashback as the prompt shows it."""

    summary: str
    time: datetime

    @property
    def speaker(self) -> str | None:
        """Who says it, where the summary is a line of speech: ``Jade: I saw it.``"""
        name, colon, _ = self.summary.partition(": ")
        return name if colon and " " not in name else None

    @property
    def content(self) -> str:
        """The words alone."""
        if self.speaker is not None:
            return self.summary.partition(": ")[2]
        return re.sub(r"^\w+ saw: ", "I saw that ", self.summary)


@dataclass(frozen=True, kw_only=True, slots=True)
class Scene:
    """All that a rehearsed character knows."""

    me: str
    time: datetime
    place: str = ""
    tools: tuple[str, ...] = ()
    wishes: tuple[str, ...] = ()
    seen: tuple[str, ...] = ()
    heard: tuple[Utterance, ...] = ()
    carrying: tuple[str, ...] = ()
    answer: str = ""
    memories: tuple[Memory, ...] = ()

    def people(self) -> list[tuple[float, str]]:
        """Distance and name of everyone in sight, nearest first."""
        matches = [_PERSON.match(sentence) for sentence in self.seen]
        return sorted((float(m["far"] or 0), m["name"]) for m in matches if m)

    def sight(self, thing: str) -> re.Match[str] | None:
        return next((m for s in self.seen if (m := _SIGHT.match(s)) and m["name"] == thing), None)

    def about(self, thing: str) -> Iterator[Memory]:
        """Flashbacks that say something of a thing: no questions, no confessions of not knowing."""
        spoken = thing.replace("_", " ")
        for memory in self.memories:
            text = memory.content
            if (thing in text or spoken in text) and "?" not in text and "don't know" not in text:
                yield memory

    def did_say(self, *parts: str) -> bool:
        """Whether a flashback holds words of one's own with all these parts."""
        return any(m.speaker == self.me and all(p in m.content for p in parts) for m in self.memories)

    def met_today(self, person: str) -> bool:
        """Whether a flashback of the last hours has that person in it."""
        return any(person in m.summary and self.time - m.time < HOURS for m in self.memories)

    def whim(self, sides: int, what: str = "") -> int:
        """A number below ``sides`` that follows from who, when (it lasts five minutes) and what for."""
        lasting = self.time.replace(minute=self.time.minute // 5 * 5)
        return sha256(f"{self.me}{lasting.isoformat()}{what}".encode()).digest()[0] % sides


def decide(scene: Scene) -> Turn:
    """The first rule that has something to do."""
    turn = next(filter(None, (rule(scene) for rule in _RULES)), None) or _stroll(scene)
    return replace(turn, reflection=replace(turn.reflection, goal=_goal(scene)))


def _goal(scene: Scene) -> str:
    """The first wish that isn't fulfilled, as far as one can tell."""
    return next((w for w in scene.wishes if not any(t in scene.carrying for t in _THING.findall(w))), "")


def _converse(scene: Scene) -> Turn | None:
    """Where talking is all one can do: say what comes to mind of a question, take note of the rest."""
    if "move_to" in scene.tools or not scene.heard:
        return None
    said = scene.heard[-1]
    if not said.text.rstrip().endswith("?"):
        return _say(f"I see, {said.speaker}. I will remember that.", "", task=f"Listen to {said.speaker}.")
    known = next((m for m in scene.memories if "?" not in m.content and m.speaker != scene.me), None)
    words = f"That I don't know, {said.speaker}."
    if known is not None:
        whose = "You told me" if known.speaker == said.speaker else f"{known.speaker or 'I'} said"
        words = f"{whose}: {known.content}"
    return _say(words, "", task=f"Answer {said.speaker}.")


def _answer(scene: Scene) -> Turn | None:
    """To the last thing said to one, if it asks for an answer."""
    addressed = [u for u in scene.heard if u.to in (None, scene.me) and u.speaker != scene.me]
    if not addressed:
        return None
    said = addressed[-1]
    things = _THING.findall(said.text)
    if "will you" in said.text.lower() and things:
        thing = things[-1]
        words = f"Yes, {said.speaker}, I will come to the {thing} with you."
        return _say(words, said.speaker, task=f"Keep my word to {said.speaker}: I will come to the {thing}.")
    if "?" in said.text and things:
        known = next((m for m in scene.about(things[0]) if m.speaker != said.speaker), None)
        words = f"I don't know, {said.speaker}." if known is None else f"{said.speaker}, {_told(scene, known)}"
        return _say(words, said.speaker, task=f"Answer {said.speaker} about the {things[0]}.")
    wanted = next((t for t in things if any(t in wish for wish in scene.wishes)), None)
    if wanted is not None and _POINT.search(said.text):
        return _say(f"Thank you, {said.speaker}.", said.speaker, task=f"Fetch the {wanted}, as {said.speaker} told me.")
    if said.text.startswith("Hello"):
        return _say(f"Good to see you, {said.speaker}.", said.speaker, task=f"Be with {said.speaker} for a moment.")
    return None


def _fetch(scene: Scene) -> Turn | None:
    """A thing one misses: pick it up, walk to it, or ask where it is."""
    thing = _wished(scene, _WANTED)
    if thing is None or thing in scene.carrying:
        return None
    sight = scene.sight(thing)
    if sight is not None and float(sight["far"] or 0) <= REACH:
        return _do("pick_up", {"item": thing}, task=f"Pick up the {thing}: here it is.")
    if sight is not None:
        return _do("move_to", {"target": thing}, task=f"Fetch the {thing}: I see it.")
    for memory in scene.about(thing):
        point = _POINT.search(memory.content)
        if point is not None:
            whose = f", as {memory.speaker} told me" if memory.speaker not in (None, scene.me) else ""
            return _do("move_to", {"x": point[1], "y": point[2]}, task=f"Fetch the {thing} at {point[0]}{whose}.")
    return _ask_around(scene, f"have you seen the {thing}?", task=f"Find out where the {thing} is.")


def _keep_company(scene: Scene) -> Turn | None:
    """A place one doesn't want to go to alone: ask people along, then be there in time."""
    place = _wished(scene, _COMPANY)
    if place is None:
        return None
    opening = next((m for m in scene.about(place) if _CLOCK.search(m.content)), None)
    if opening is None:
        return None
    if _past(scene, opening):
        return None
    if _due(scene, opening):
        return _be_at(scene, place, task=f"Be at the {place} in time, as I said.")
    hour = _CLOCK.search(opening.content)
    assert hour is not None
    question = f"the {place} opens at {hour[0]}. Will you come to the {place} with me?"
    return _ask_around(scene, question, task=f"Find company for the {place}.", mark="Will you come")


def _keep_promise(scene: Scene) -> Turn | None:
    """Something one promised, if it comes to mind: find help, then do it."""
    promise = next((m for m in scene.memories if "promised" in m.content.lower() and _THING.search(m.content)), None)
    if promise is None:
        return None
    thing = _THING.findall(promise.content)[0]
    sight = scene.sight(thing)
    if sight is not None and (sight["state"] or "").strip() == "open":
        return None
    yes = (m for m in scene.about(thing) if m.content.startswith(f"Yes, {scene.me}"))
    helper = next((m for m in yes if scene.time - m.time <= PATIENCE), None)
    if helper is not None:
        return _be_at(scene, thing, task=f"Keep my promise about the {thing}, with {helper.speaker}.", verb="open")
    return _ask_around(scene, f"will you help me with the {thing}?", task=f"Keep my promise about the {thing}.")


def _meet(scene: Scene) -> Turn | None:
    """Go where someone said they would come with one."""
    for memory in scene.memories:
        things = _THING.findall(memory.content)
        agreed = memory.speaker != scene.me and memory.content.startswith(f"Yes, {scene.me}, I will come to the ")
        if not agreed or not things or scene.time - memory.time > PATIENCE:
            continue
        sight = scene.sight(things[-1])
        if sight is not None and (sight["state"] or "").strip() == "open":
            continue
        if not any(_CLOCK.search(m.content) for m in scene.about(things[-1])):
            task = f"Keep my promise about the {things[-1]}, with {memory.speaker}."
            return _be_at(scene, things[-1], task=task, verb="open")
    return None


def _help(scene: Scene) -> Turn | None:
    """Be where one said one would come."""
    for memory in scene.memories:
        things = _THING.findall(memory.content)
        if memory.speaker != scene.me or "I will come to the" not in memory.content or not things:
            continue
        if scene.time - memory.time > PATIENCE:
            continue
        thing = things[-1]
        whom = memory.content.removeprefix("Yes, ").partition(",")[0]
        sight = scene.sight(thing)
        if sight is not None and (sight["state"] or "").strip() == "open":
            continue
        opening = next((m for m in scene.about(thing) if _CLOCK.search(m.content)), None)
        if opening is None or (_due(scene, opening) and not _past(scene, opening)):
            return _be_at(scene, thing, task=f"Keep my word to {whom}: I will come to the {thing}.", verb="open")
    return None


def _greet(scene: Scene) -> Turn | None:
    """Whoever is near and wasn't greeted yet, with the last thing one saw."""
    for far, person in scene.people()[:1]:
        if far <= EARSHOT and not scene.heard and not scene.met_today(person):
            seen = next((m.content for m in scene.memories if m.content.startswith("I saw that ")), "")
            return _say(f"Hello, {person}. {seen}".strip(), person, task=f"Say hello to {person}.")
    return None


def _stroll(scene: Scene) -> Turn:
    """Somewhere, with nothing on one's mind but whether something was promised."""
    task = "Think of whom I said yes to, and where I will come."
    places = [m["name"] for s in scene.seen if (m := _SIGHT.match(s)) and float(m["far"] or 0) > REACH]
    goals = sorted(places + [name for far, name in scene.people() if far > EARSHOT])
    if goals and scene.whim(3) > 0:
        return _do("move_to", {"target": goals[scene.whim(len(goals))]}, task=task)
    square = _SQUARE.search(scene.place)
    if square is None:
        return _do("look", {}, task=task)
    low, high = float(square[1]), float(square[2])
    x, y = (round(low + (high - low) * scene.whim(9, axis) / 8) for axis in "xy")
    return _do("move_to", {"x": str(x), "y": str(y)}, task=task)


def _ask_around(scene: Scene, question: str, *, task: str, mark: str | None = None) -> Turn | None:
    """The nearest person not asked yet, as far as one remembers; None where there is nobody left to ask."""
    mark = mark or question
    for far, person in scene.people():
        if scene.did_say(f"{person}, ", mark):
            continue
        if far <= EARSHOT:
            return _say(f"{person}, {question}", person, task=task)
        return _do("move_to", {"target": person}, task=f"{task} Ask {person}.")
    return None


def _be_at(scene: Scene, thing: str, *, task: str, verb: str = "") -> Turn:
    sight = scene.sight(thing)
    if sight is None or float(sight["far"] or 0) > REACH:
        return _do("move_to", {"target": thing}, task=task)
    company = any(far <= 2 * REACH for far, _ in scene.people())
    if verb and (sight["state"] or "").strip() == "closed" and company:
        return _do("use", {"item": thing, "verb": verb}, task=task)
    return _do("wait", {}, task=task)


def _wished(scene: Scene, words: tuple[str, ...]) -> str | None:
    """The thing of the first wish that holds one of the words."""
    for wish in scene.wishes:
        things = _THING.findall(wish)
        if things and any(word in wish.lower() for word in words):
            return str(things[0])
    return None


def _due(scene: Scene, appointment: Memory) -> bool:
    return scene.time >= _time_of(scene, appointment) - EARLY


def _past(scene: Scene, appointment: Memory) -> bool:
    return scene.time > _time_of(scene, appointment) + LATE


def _time_of(scene: Scene, appointment: Memory) -> datetime:
    clock = _CLOCK.search(appointment.content)
    assert clock is not None
    return scene.time.replace(hour=int(clock[1]) % 24, minute=int(clock[2]) % 60)


def _told(scene: Scene, memory: Memory) -> str:
    """A memory in one's own words: what someone else said is told as theirs."""
    if memory.speaker in (None, scene.me):
        return memory.content
    return f"{memory.speaker} told me: {memory.content.removeprefix(f'{scene.me}, ')}"


def _say(text: str, to: str, *, task: str) -> Turn:
    return _do("say", {"text": text, "to": to} if to else {"text": text}, task=task)


def _do(tool: str, arguments: dict[str, str], *, task: str) -> Turn:
    return Turn(reflection=Reflection(current_task=task), call=ToolCall(tool=tool, arguments=arguments))


_RULES = (_converse, _answer, _fetch, _keep_company, _keep_promise, _meet, _help, _greet)
