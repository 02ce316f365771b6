"""What an erased memory's words are, where else they stand, and how they are taken out of a text. PURE.

A record of a run holds a memory many times over: as a record, in prompts and replies, as what was heard, and in other
sentences that say the same. Taking out is generous: a sentence too much is lost rather than one left.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, cast
from xml.sax.saxutils import escape

from simuverse.memory.analysis import tokens
from simuverse.memory.hygiene import RESTATED
from simuverse.memory.records import Memory

ERASED = "[erased]"

_FEWEST = 2
"""Distinct search tokens from which a text is told from others: "Yes." stands everywhere."""

_FEWEST_RESTATING = 3
"""The same for a sentence that only restates: two words may meet in any sentence."""

_SHARE = 0.5
"""Of a text's tokens that a sentence must hold to restate it: less says something else about the same things."""

_RECALLED = re.compile(r"<(flashback|memory)>.*?</\1>", re.DOTALL)
"""A memory in a prompt or in a reply."""

_SENTENCE = re.compile(r"[^.!?。！？\n<>\"“”]+")


def wordings(memories: Iterable[Memory]) -> tuple[str, ...]:
    """The texts that tell these memories, longest first.

    Of a summary that begins with who said it, what was said; critical information where it is more than a name or a
    number.
    """
    found: set[str] = set()
    for memory in memories:
        summary = memory.summary.strip()
        for speaker in (memory.provenance.speaker, memory.owner):
            summary = summary.removeprefix(f"{speaker}: ")
        found.add(summary)
        if len(set(tokens(memory.critical_information))) >= _FEWEST_RESTATING:
            found.add(memory.critical_information.strip())
    return _telling(found)


def tells(memory: Memory, texts: Collection[str]) -> bool:
    """Whether it holds one of the texts, in whatever case and spacing."""
    own = _plain(f"{memory.summary}\n{memory.critical_information}")
    return any(_plain(text) in own for text in texts)


def holds(content: bytes, texts: Collection[str]) -> bool:
    """Whether a file's bytes hold one of the texts: as it is, or as XML or JSON writes it."""
    return any(form.encode() in content for text in texts for form in _forms(text))


class Eraser:
    """Takes memories out of texts and of values as JSON has them.

    Args:
        memories: in every version that there was; none, to look for ``texts`` alone.
        texts: what else is to go, beside their own wordings.
    """

    def __init__(self, memories: Sequence[Memory], *, texts: Sequence[str] = ()) -> None:
        self._ids = {str(memory.id) for memory in memories}
        self.messages = {message for memory in memories for message in memory.provenance.messages}
        self.texts = _telling({*wordings(memories), *texts} - {ERASED})
        self._forms = [form for text in self.texts for form in _xml_forms(text)]
        self._tokens = [set(tokens(part)) for text in self.texts for part in {text, *_SENTENCE.findall(text)}]
        # Prompts repeat most of theirs; so each is looked at once.
        self._sentences: dict[str, bool] = {}

    def text(self, text: str) -> str:
        """Without the memories: whole recollections that hold them, their words, and sentences that restate them."""
        done = _RECALLED.sub(self._recalled, text)
        for form in self._forms:
            done = done.replace(form, ERASED)
        return _SENTENCE.sub(self._sentence, done)

    def finds(self, memory: Memory) -> bool:
        """Whether the memory holds the words, or says the same."""
        return any(self.text(text) != text for text in (memory.summary, memory.critical_information))

    def value(self, value: Any) -> Any:
        """The same of every text in a value, names of fields excepted; records of the memories keep their id alone."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(one) for one in cast("Sequence[Any]", value)]
        if isinstance(value, dict):
            fields = {name: self.value(one) for name, one in cast("Mapping[str, Any]", value).items()}
            return fields | self._blanks(fields)
        return value

    def _blanks(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        if fields.get("id") in self._ids and "summary" in fields:
            return {
                "summary": ERASED,
                **{name: [] for name in ("keywords", "flags") if name in fields},
                **{name: "" for name in ("critical_information", "location") if name in fields},
            }
        return {"text": ERASED} if fields.get("id") in self.messages and "text" in fields else {}

    def _recalled(self, found: re.Match[str]) -> str:
        return f"<{found[1]}>{ERASED}</{found[1]}>" if any(form in found[0] for form in self._forms) else found[0]

    def _sentence(self, found: re.Match[str]) -> str:
        sentence = found[0]
        if sentence not in self._sentences:
            words = set(tokens(sentence))
            self._sentences[sentence] = len(words) >= _FEWEST_RESTATING and any(
                len(words & known) >= max(RESTATED * len(words), _SHARE * len(known)) for known in self._tokens
            )
        return ERASED if self._sentences[sentence] else sentence


def _telling(texts: Collection[str]) -> tuple[str, ...]:
    """Those that can be told from others, longest first."""
    return tuple(sorted((text for text in texts if len(set(tokens(text))) >= _FEWEST), key=lambda t: (-len(t), t)))


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _forms(text: str) -> set[str]:
    """With XML's and JSON's escapes, and both."""
    return {form for xml in _xml_forms(text) for form in (xml, json.dumps(xml, ensure_ascii=False)[1:-1])}


def _xml_forms(text: str) -> list[str]:
    """As it is, and with as many of XML's escapes as someone may have used."""
    quoted = escape(text, {'"': "&quot;"})
    return list(dict.fromkeys((text, escape(text), quoted, quoted.replace("'", "&apos;"))))
