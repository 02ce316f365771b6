"""The schema of a turn, narrowed to calls of the tools on offer: what a small model is held to, as it would make up
others."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from simuverse.agents.turn import Parameter, Tool

_NAMESPACE = "http://relaxng.org/ns/structure/1.0"
_CALL = f".//{{{_NAMESPACE}}}element[@name='tool_use']"


def offering(rng: str, tools: Sequence[Tool]) -> str:
    """The schema with a choice of calls in the place of any call: each with the parameters that its tool must have, and
    any of the others, in the tool's order.

    Args:
        rng: RELAX NG in XML syntax, with one element ``tool_use``.
        tools: one or more.
    """
    top = ElementTree.fromstring(rng)
    call = top.find(_CALL)
    if call is None:
        raise ValueError("the schema has no element tool_use")
    for part in list(call):
        call.remove(part)
    choice = _inside(call, "choice")
    for tool in tools:
        group = _inside(choice, "group")
        _inside(_inside(group, "element", name="tool_name"), "value").text = tool.name
        for parameter in tool.parameters:
            _put(group if parameter.required else _inside(group, "optional"), parameter)
    return ElementTree.tostring(top, encoding="unicode")


def _put(into: ElementTree.Element, parameter: Parameter) -> None:
    element = _inside(into, "element", name="parameter")
    _inside(_inside(element, "attribute", name="name"), "value").text = parameter.name
    if parameter.options:
        options = _inside(element, "choice")
        for option in parameter.options:
            _inside(options, "value").text = option
    else:
        _inside(element, "text")


def _inside(outer: ElementTree.Element, kind: str, **attributes: str) -> ElementTree.Element:
    return ElementTree.SubElement(outer, f"{{{_NAMESPACE}}}{kind}", attributes)
