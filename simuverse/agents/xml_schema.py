"""The forms that models answer in, as the RELAX NG schemas in ``prompts/`` define them.

The schema is the only description of a form: what the repair of a reply takes for markup, what an error names as
allowed and what finally passes all come from it. It is read in the plain shape it is written in: elements inside each
other, ``optional``, ``zeroOrMore``, ``oneOrMore`` and ``choice``, no references.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from lxml import etree

from simuverse import prompts
from simuverse.errors import MalformedReply

_NAMESPACE = "{http://relaxng.org/ns/structure/1.0}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """What one element of a form may hold.

    Args:
        parent: the element it stands in; None for a root.
        children: names, in the order of the schema; empty where it holds text or nothing.
        required: those of the children that can't be missing.
        repeated: those that may come more than once.
        values: what its text must be one of; empty where any will do.
        attributes: names of those it must have.
        empty: it holds nothing at all.
    """

    parent: str | None
    children: tuple[str, ...]
    required: frozenset[str]
    repeated: frozenset[str]
    values: tuple[str, ...]
    attributes: frozenset[str]
    empty: bool

    @property
    def holds_text(self) -> bool:
        return not self.children and not self.empty


class Schema:
    """One form: its rules by element name, and the check of a document against it."""

    def __init__(self, name: str) -> None:
        source = etree.fromstring(prompts.text(f"{name}.rng").encode(), _parser())
        self._validator = etree.RelaxNG(source)
        self.rules: Mapping[str, Rule] = dict(_rules(source))
        self.roots = tuple(name for name, rule in self.rules.items() if rule.parent is None)

    def path(self, inside: str | None, name: str) -> tuple[str, ...]:
        """What to open to get from ``inside`` (None: outside) to ``name``, itself last; empty if nothing leads on."""
        way: list[str] = []
        at: str | None = name
        while at is not None and at != inside:
            way.append(at)
            at = self.rules[at].parent
        return tuple(reversed(way)) if at == inside else ()

    def check(self, document: etree._Element) -> None:
        """Passes what the schema passes. All elements must be of this form: others were dealt with before.

        Raises:
            MalformedReply: with the line, what is wrong and what is allowed.
        """
        if not self._validator.validate(document):
            raise MalformedReply(self._explain(document))

    def _explain(self, document: etree._Element) -> str:
        """In words a model can act on: libxml2's own say "Expecting an element , got nothing"."""
        for element in document.iter(etree.Element):
            rule, line = self.rules[element.tag], f"line {element.sourceline}"
            if rule.values and (element.text or "").strip() not in rule.values:
                said = shortened(element.text or "")
                return f"{line}: <{element.tag}> says {said!r}; it must be one of {', '.join(rule.values)}."
            there = {child.tag for child in element}
            missing = [name for name in rule.children if name in rule.required - there]
            if missing:
                return f"{line}: <{element.tag}> lacks {', '.join(f'<{name}>' for name in missing)}."
            unset = sorted(rule.attributes - set(element.keys()))
            if unset:
                return f'{line}: <{element.tag}> lacks its {unset[0]}: write <{element.tag} {unset[0]}="...">.'
        first = self._validator.error_log[0]
        return f"line {first.line}: {first.message}."


@cache
def schema(name: str) -> Schema:
    """The form ``name`` of ``prompts/``: ``memory_queries``, ``judgement``, ``memory`` or ``turn``."""
    return Schema(name)


def parse(document: str) -> etree._Element:
    """One well-formed document. No DTD is loaded, no entity resolved, no address opened, no depth beyond 256 read.

    Raises:
        MalformedReply: with the line and column.
    """
    try:
        return etree.fromstring(document, _parser())
    except etree.XMLSyntaxError as error:
        line, column = error.position
        raise MalformedReply(f"line {line}, column {column}: {error.msg}.") from error


def shortened(text: str, limit: int = 40) -> str:
    """On one line, at most ``limit`` characters, for quoting in a message."""
    line = " ".join(text[: 4 * limit].split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _parser() -> etree.XMLParser:
    return etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )


def _rules(grammar: etree._Element) -> Iterator[tuple[str, Rule]]:
    for element in grammar.iter(f"{_NAMESPACE}element"):
        parent = next(element.iterancestors(f"{_NAMESPACE}element"), None)
        inner = list(_contents(element, required=True, repeated=False))
        yield (
            element.get("name", ""),
            Rule(
                parent=None if parent is None else parent.get("name", ""),
                children=tuple(name for name, _, _ in inner),
                required=frozenset(name for name, required, _ in inner if required),
                repeated=frozenset(name for name, _, repeated in inner if repeated),
                values=tuple(value.text or "" for value in element.iterfind(f"{_NAMESPACE}choice/{_NAMESPACE}value")),
                attributes=frozenset(part.get("name", "") for part in element.iterfind(f"{_NAMESPACE}attribute")),
                empty=element.find(f"{_NAMESPACE}empty") is not None,
            ),
        )


def _contents(pattern: etree._Element, *, required: bool, repeated: bool) -> Iterator[tuple[str, bool, bool]]:
    """The elements right inside a pattern: name, whether it must be there, whether it may be there more than once."""
    for part in pattern:
        kind = etree.QName(part).localname
        if kind == "element":
            yield part.get("name", ""), required, repeated
        else:
            yield from _contents(
                part,
                required=required and kind not in ("optional", "zeroOrMore", "choice"),
                repeated=repeated or kind in ("zeroOrMore", "oneOrMore"),
            )
