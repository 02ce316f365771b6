"""RELAX NG to GBNF: a grammar that lets llama.cpp write only replies that a schema accepts, and ends them in time.

Supported, because the schemas in ``prompts/`` need no more: ``grammar``, ``start``, ``element``, ``attribute``
(directly in its element), ``group``, ``choice``, ``optional``, ``zeroOrMore``, ``oneOrMore``, ``text``, ``value``,
``empty``. Anything else raises. The grammar is narrower than the schema: no white space between elements, no comments,
entities or processing instructions, a bounded number of repetitions, texts of bounded length on one line.

The schemas are files of this package and trusted, so the standard library reads them; what a model writes is not read
here.
GBNF: https://github.com/ggml-org/llama.cpp/tree/master/grammars
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal
from xml.etree import ElementTree
from xml.sax.saxutils import escape

Kind = Literal["text", "line", "name", "time"]
"""What may stand in a text: anything, also nothing; what begins with a word or a number; an identifier; a UTC time."""

_RELAX_NG = "{http://relaxng.org/ns/structure/1.0}"

_CONTROLS = r"\x00-\x1F\x7F-\x9F\uFFFE\uFFFF"
_NO_WORD = r" !-/:-@\[-`{-~\u00A0\u1680\u2000-\u200B\u2028\u2029\u202F\u205F\u3000\uFEFF"
_NAME_LENGTH = 32
_TIME_LENGTH = 20

SHORTEST_TEXT = 16
LONGEST_TEXT = 400
"""Characters. Below, nothing can be said; above, a small model says the same thing again."""


class UnsupportedSchema(ValueError):
    """The schema uses something that this module has no grammar for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Grammar:
    """A schema as GBNF, but for the length of its texts.

    Args:
        root: the expression for a whole reply.
        markup: characters of the longest reply without its texts.
        texts: how many texts the longest reply has.
    """

    root: str
    markup: int
    texts: int

    def room(self, characters: int) -> int:
        """Characters left for each text of a reply of ``characters``; below 0 where not even its markup fits."""
        return (characters - self.markup) // max(1, self.texts)

    def within(self, characters: int) -> str:
        """GBNF whose longest sentence has at most ``characters`` characters.

        Texts get :data:`LONGEST_TEXT` where there is room; :data:`SHORTEST_TEXT` even where there isn't, and then a
        reply may be longer.
        """
        limit = max(SHORTEST_TEXT, min(LONGEST_TEXT, self.room(characters)))
        return "\n".join(
            (
                f"root ::= {self.root}",
                f"text ::= char{{0,{limit}}}",
                f'line ::= ("-")? [^{_NO_WORD}{_CONTROLS}] char{{0,{limit - 2}}}',
                f"name ::= [A-Za-z] [A-Za-z0-9_]{{0,{_NAME_LENGTH - 1}}}",
                'time ::= "20" [0-9] [0-9] "-0" [1-9] "-" [0-2] [1-8] "T" [0-1] [0-9] ":" [0-5] [0-9] ":00Z"',
                f"char ::= [^<>&{_CONTROLS}]",
            )
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Part:
    expression: str
    markup: int = 0
    texts: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class _Compiler:
    repeats: int
    kinds: Mapping[str, Kind]
    without: frozenset[str]

    def part(self, node: ElementTree.Element, owner: str) -> _Part:
        """``owner``: the name of the element that ``node`` is in."""
        match _local(node):
            case "element":
                return self.element(node)
            case "group":
                return self.sequence(list(node), owner)
            case "choice":
                return _choice([self.part(child, owner) for child in node])
            case "optional" if self.without.issuperset(child.get("name", "") for child in node):
                return _Part(expression='""')
            case "optional":
                inner = self.sequence(list(node), owner)
                return _Part(expression=f"({inner.expression})?", markup=inner.markup, texts=inner.texts)
            case "zeroOrMore" | "oneOrMore" as repeated:
                inner = self.sequence(list(node), owner)
                least = 0 if repeated == "zeroOrMore" else 1
                return _Part(
                    expression=f"({inner.expression}){{{least},{self.repeats}}}",
                    markup=inner.markup * self.repeats,
                    texts=inner.texts * self.repeats,
                )
            case "text":
                return self.text(owner)
            case "value":
                value = escape((node.text or "").strip(), {'"': "&quot;"})
                return _Part(expression=_literal(value), markup=len(value))
            case "empty":
                return _Part(expression='""')
            case other:
                raise UnsupportedSchema(f"no grammar for <{other}> in element {owner or 'at the top'}")

    def element(self, node: ElementTree.Element) -> _Part:
        name = node.get("name", "")
        attributes = [child for child in node if _local(child) == "attribute"]
        content = [child for child in node if _local(child) != "attribute"]
        parts = [_fixed(f"<{name}")]
        for attribute in attributes:
            key = attribute.get("name", "")
            inner = [self.part(child, f"{name}/@{key}") for child in attribute] or [self.text(f"{name}/@{key}")]
            parts += [_fixed(f' {key}="'), *inner, _fixed('"')]
        if [_local(child) for child in content] == ["empty"]:
            parts.append(_fixed("/>"))
        else:
            parts += [_fixed(">"), self.sequence(content, name), _fixed(f"</{name}>")]
        return _sum(parts)

    def sequence(self, nodes: list[ElementTree.Element], owner: str) -> _Part:
        return _sum([self.part(node, owner) for node in nodes])

    def text(self, owner: str) -> _Part:
        kind = self.kinds.get(owner, "text")
        if "@" in owner and kind != "name":
            raise UnsupportedSchema(f"attribute {owner} must be of kind name: other texts may hold quotation marks")
        bounded = {"name": _NAME_LENGTH, "time": _TIME_LENGTH}.get(kind)
        return _Part(expression=kind, markup=bounded or 0, texts=0 if bounded else 1)


def compile_schema(rng: str, *, kinds: Mapping[str, Kind], without: frozenset[str], repeats: int) -> Grammar:
    """The grammar of a RELAX NG schema in XML syntax.

    Args:
        kinds: what may stand in the texts of an element (``summary``) or an attribute (``parameter/@name``) where the
            schema says ``text`` and its reader expects more; ``text`` for elements not named here.
        without: optional elements that are never written, because the reader's rules for them go beyond a grammar.
        repeats: how many times at most what the schema lets be repeated without end is repeated.

    Raises:
        UnsupportedSchema: it uses more than this module knows.
    """
    top = ElementTree.fromstring(rng)
    starts = list(top)
    if _local(top) != "grammar" or [_local(start) for start in starts] != ["start"]:
        raise UnsupportedSchema("a schema must be one <grammar> with one <start>")
    root = _Compiler(repeats=repeats, kinds=kinds, without=without).sequence(list(starts[0]), "")
    return Grammar(root=root.expression, markup=root.markup, texts=root.texts)


def _local(node: ElementTree.Element) -> str:
    return node.tag.removeprefix(_RELAX_NG)


def _literal(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _fixed(text: str) -> _Part:
    return _Part(expression=_literal(text), markup=len(text))


def _sum(parts: list[_Part]) -> _Part:
    return _Part(
        expression=" ".join(part.expression for part in parts),
        markup=sum(part.markup for part in parts),
        texts=sum(part.texts for part in parts),
    )


def _choice(parts: list[_Part]) -> _Part:
    return _Part(
        expression="(" + " | ".join(part.expression for part in parts) + ")",
        markup=max(part.markup for part in parts),
        texts=max(part.texts for part in parts),
    )
