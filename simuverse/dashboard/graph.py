"""The world as Cytoscape sees it: nodes, links, colours. Pure.

Ids name the type (``agent:James``, ``item:red_ball``). There is one link an agent, ``near:<agent>``, which is
re-targeted and never replaced: an added or removed element would make the component write its own list back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from simuverse.dashboard.wording import title
from simuverse.world.state import Item, Link, Position, World, links

Element = dict[str, Any]
Theme = Literal["light", "dark"]

CROWD = 250
"""Agents above which links and labels cost more than they tell."""

NAME_WIDTH, NAME_HEIGHT = 60.0, 45.0
"""Room that a person and the name below take on the grid: nearer than that, two names would hide each other."""

HELD_ASIDE = 15.0
"""How far from its holder a carried thing is drawn, to the right and up, so that both can be seen."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Palette:
    """Colours that stay apart for the colour-blind (Okabe and Ito), each at least 3:1 on its ground."""

    agent: str
    landmark: str
    portable: str
    fixed: str
    ink: str
    muted: str
    ground: str


PALETTES: Mapping[Theme, Palette] = MappingProxyType(
    {
        "light": Palette(
            agent="#0072B2",
            landmark="#009E73",
            portable="#D55E00",
            fixed="#CC79A7",
            ink="#15202b",
            muted="#4a5763",
            ground="#ffffff",
        ),
        "dark": Palette(
            agent="#56B4E9",
            landmark="#009E73",
            portable="#E69F00",
            fixed="#CC79A7",
            ink="#eef3f7",
            muted="#b4c0ca",
            ground="#161d24",
        ),
    }
)


def elements(world: World) -> list[Element]:
    """Every node and link of ``world``, in an order that doesn't change while it lives."""
    crowd = len(world.bodies) > CROWD
    nodes = [
        *(_node("landmark", name, thing.position, movable=False) for name, thing in world.landmarks.items()),
        *(_item(name, item) for name, item in world.items.items()),
        *(
            _node("agent" if crowd else f"agent{_beside(name, world)}", name, body.position, movable=True)
            for name, body in world.bodies.items()
        ),
    ]
    if crowd:
        return nodes
    nearest = {link.agent: link.nearest for link in links(world)}
    return [*nodes, *(_link(link, twin=nearest[link.nearest] == link.agent) for link in links(world))]


def _item(name: str, item: Item) -> Element:
    kind = "portable" if item.portable else "fixed"
    if item.held_by is None:
        return _node(f"item {kind}", name, item.position, movable=item.portable)
    aside = Position(item.position.x + HELD_ASIDE, item.position.y - HELD_ASIDE)
    return _node(f"item {kind} held", name, aside, movable=False)


def _beside(name: str, world: World) -> str:
    """The class that puts someone's name away from whoever is too near for both names; none where nobody is."""
    here = world.bodies[name].position
    near = {
        other: body.position
        for other, body in world.bodies.items()
        if abs(body.position.x - here.x) < NAME_WIDTH and abs(body.position.y - here.y) < NAME_HEIGHT
    }
    if len(near) == 1:
        return ""
    right, down = (sum(getattr(here, axis) - getattr(one, axis) for one in near.values()) for axis in "xy")
    if right == down == 0:
        right = 1 if sorted(near).index(name) % 2 else -1
    if abs(right) >= abs(down):
        if right < 0 and here.x - NAME_WIDTH >= world.low:
            return " name-left"
        if right > 0 and here.x + NAME_WIDTH <= world.high:
            return " name-right"
    return " name-above" if down < 0 else ""


def _node(classes: str, name: str, position: Position, *, movable: bool) -> Element:
    return {
        "data": {"id": f"{classes.split(maxsplit=1)[0]}:{name}", "name": name, "label": title(name)},
        "position": {"x": position.x, "y": position.y},
        "classes": classes,
        "grabbable": movable,
    }


def _link(link: Link, *, twin: bool) -> Element:
    """A line. Of two that join the same pair the second, by name, isn't drawn: their dots would fill each other up."""
    classes = "near in-range" if link.in_range else "near"
    return {
        "data": {
            "id": f"near:{link.agent}",
            "source": f"agent:{link.agent}",
            "target": f"agent:{link.nearest}",
        },
        "classes": f"{classes} twin" if twin and link.nearest < link.agent else classes,
    }


def stylesheet(theme: Theme) -> list[Element]:
    """Of the map. Shape tells the type as well as colour does; lengths are in the units of the grid."""
    colour = PALETTES[theme]
    return [
        {
            "selector": "node",
            "style": {
                "label": "data(label)",
                "color": colour.muted,
                "font-size": 12,
                "font-family": "system-ui, sans-serif",
                "text-valign": "bottom",
                "text-margin-y": 4,
                "text-outline-color": colour.ground,
                "text-outline-width": 2,
                "border-width": 2,
                "border-color": colour.ground,
                "width": 22,
                "height": 22,
                "overlay-opacity": 0,
            },
        },
        {
            "selector": ".landmark",
            "style": {
                "shape": "hexagon",
                "background-color": colour.landmark,
                "text-valign": "top",
                "text-margin-y": -4,
            },
        },
        {"selector": ".portable", "style": {"shape": "diamond", "background-color": colour.portable}},
        {"selector": ".fixed", "style": {"shape": "round-rectangle", "background-color": colour.fixed, "height": 16}},
        {"selector": ".held", "style": {"label": "", "width": 15, "height": 15, "z-index": 12, "events": "no"}},
        {
            "selector": ".agent",
            "style": {
                "shape": "ellipse",
                "background-color": colour.agent,
                "color": colour.ink,
                "font-size": 14,
                "font-weight": "bold",
                "width": 32,
                "height": 32,
                "z-index": 10,
            },
        },
        {"selector": ".name-above", "style": {"text-valign": "top", "text-margin-y": -4}},
        {
            "selector": ".name-left",
            "style": {"text-valign": "center", "text-halign": "left", "text-margin-x": -4, "text-margin-y": 0},
        },
        {
            "selector": ".name-right",
            "style": {"text-valign": "center", "text-halign": "right", "text-margin-x": 4, "text-margin-y": 0},
        },
        {
            "selector": ".busy",
            "style": {"border-color": colour.portable, "border-width": 3, "border-style": "dashed"},
        },
        {
            "selector": ".selected",
            "style": {"outline-color": colour.ink, "outline-width": 3, "outline-offset": 2, "z-index": 11},
        },
        {
            "selector": ".near",
            "style": {
                "width": 3,
                "line-style": "dashed",
                "line-dash-pattern": [1, 8],
                "line-cap": "round",
                "line-color": colour.muted,
                "curve-style": "straight",
                "events": "no",
            },
        },
        {"selector": ".twin", "style": {"visibility": "hidden"}},
        {"selector": ".in-range", "style": {"width": 3, "line-style": "solid", "line-color": colour.agent}},
    ]
