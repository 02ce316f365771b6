"""The page's skeleton: what stays as it is while a run is looked at. The page's own scripts fill in what changes."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import dash_cytoscape as cytoscape
from dash import dcc, html
from dash.development.base_component import Component

from simuverse.dashboard.graph import Element, stylesheet
from simuverse.world.simulation import Parts

POLL_EVERY = 250
"""Milliseconds between two looks at the run: nothing is sent while nothing is new."""
REHEARSAL = "rehearsal"
"""Name of the model that is none."""
SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)

INDEX = """<!DOCTYPE html>
<html lang="en">
<head>
{%metas%}
<title>{%title%}</title>
<link rel="icon" href="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Ccircle
cx='6' cy='6' r='5' fill='%230072B2'/%3E%3Ccircle cx='11' cy='11' r='4' fill='%23D55E00'/%3E%3C/svg%3E">
{%css%}
</head>
<body>
{%app_entry%}
<footer class="scripts">{%config%}{%scripts%}{%renderer%}</footer>
</body>
</html>
"""

LEGEND = (
    ("agent", "person"),
    ("landmark", "place"),
    ("portable", "loose thing"),
    ("fixed", "fixed thing"),
    ("line solid", "can talk"),
    ("line dotted", "nearest, too far to talk"),
)
KEYS = (
    ("Space", "play or pause"),
    (".", "one tick"),
    ("1 – 9", "select someone"),
    ("?", "this help"),
    ("Esc", "close the help, or select no one"),
)


def page(*, title: str, parts: Parts, elements: list[Element]) -> Component:
    """The whole page.

    Args:
        title: of the scenario.
        elements: of the map as it is now.
    """
    return html.Div(
        [
            _header(title, parts),
            html.Div(id="banners", role="alert"),
            html.P(id="waiting", className="banner waiting", hidden="hidden"),
            html.Main([_map(elements), _panel(), _log(), _table()], className="columns"),
            html.Div(id="toast", className="toast", hidden="hidden"),
            html.Div(id="announcements", className="unseen", **_attributes(aria_live="polite", role="status")),
            _help(),
            dcc.Store(id="stylesheets", data={"light": stylesheet("light"), "dark": stylesheet("dark")}),
            dcc.Interval(id="beat", interval=POLL_EVERY),
        ],
        className="page",
    )


def _header(title: str, parts: Parts) -> Component:
    return html.Header(
        [
            html.Div(
                [
                    html.H1("Simu-Verse"),
                    html.Span(title, className="scenario"),
                    html.Span(f"version {version('simu-verse')}", className="version"),
                ],
                className="name",
            ),
            html.Div(
                [
                    html.Button("Pause", id="play", className="primary", **_attributes(data_do="toggle")),
                    html.Button("Step", id="step", **_attributes(data_do="step", title="One tick, then paused")),
                    html.Label(
                        [
                            "Speed ",
                            html.Select(
                                [html.Option(f"{speed:g}×", value=f"{speed:g}") for speed in SPEEDS], id="speed"
                            ),
                        ]
                    ),
                    html.Div(
                        [
                            html.Strong("–", id="clock"),
                            html.Span("", id="zone"),
                            html.Span("", id="date"),
                            html.Span("tick –", id="tick"),
                        ],
                        className="time",
                    ),
                    html.Div(
                        [
                            html.Button("Dark", id="theme", **_attributes(data_do="theme")),
                            html.Button("?", id="help-open", **_attributes(data_do="help", aria_label="Help: keys")),
                        ],
                        className="extras",
                    ),
                ],
                className="transport",
                role="group",
                **_attributes(aria_label="Transport"),
            ),
            html.Dl(_doctor(parts), id="doctor", className="doctor", **_attributes(aria_label="In use")),
        ],
        className="top",
    )


def _doctor(parts: Parts) -> list[Component]:
    """What is really in use, and in plain words what isn't a language model."""
    model = f"{REHEARSAL}: fixed rules, not a language model" if parts.model == REHEARSAL else parts.model
    named = {"Store": parts.store, "Embedder": parts.embedder, "Model": model, "Subconscious": parts.subconscious}
    return [html.Div([html.Dt(name), html.Dd(value)]) for name, value in named.items()]


def _map(elements: list[Element]) -> Component:
    canvas = cytoscape.Cytoscape(
        id="map",
        elements=elements,
        stylesheet=stylesheet("light"),
        layout={"name": "preset", "fit": False},
        autoRefreshLayout=False,
        userZoomingEnabled=False,
        userPanningEnabled=False,
        boxSelectionEnabled=False,
        autounselectify=True,
        minZoom=0.2,
        maxZoom=4,
        responsive=False,
        style={"width": "100%", "height": "100%"},
    )
    zoom = [
        html.Button("−", **_attributes(data_do="zoom-out", aria_label="Zoom out")),
        html.Button("Fit", **_attributes(data_do="zoom-fit", aria_label="Fit: show the whole map")),
        html.Button("+", **_attributes(data_do="zoom-in", aria_label="Zoom in")),
    ]
    return html.Section(
        [
            html.H2("The world", className="unseen"),
            html.Div(id="agents", className="agents", role="group", **_attributes(aria_label="Agents")),
            html.Div(
                [
                    html.Div(
                        [
                            html.Div(id="ground", className="ground"),
                            canvas,
                            html.Div(id="bubbles", className="bubbles"),
                        ],
                        className="map",
                        **_attributes(aria_hidden="true"),
                    ),
                    html.Div(zoom, className="zoom", role="group", **_attributes(aria_label="Zoom of the map")),
                ],
                className="stage",
            ),
            html.Ul(
                [html.Li([html.Span(className=f"mark {kind}"), text]) for kind, text in LEGEND],
                className="legend",
            ),
        ],
        className="world",
    )


def _panel() -> Component:
    return html.Section(
        [
            html.Div(id="person", className="person"),
            html.Div(id="held", className="held", hidden="hidden"),
            html.Div(id="card", className="card"),
        ],
        id="panel",
        className="panel",
        tabIndex="0",
        **_attributes(aria_label="The selected person's last turn"),
    )


def _log() -> Component:
    return html.Section(
        [
            html.H2("What happened"),
            html.Ol(id="log", className="log", tabIndex="0", **_attributes(aria_label="Events, newest first")),
        ],
        className="happened",
    )


def _table() -> Component:
    columns = ("Name", "Kind", "x", "y", "State")
    return html.Section(
        [
            html.H2("The world as a table"),
            html.Div(
                html.Table(
                    [
                        html.Thead(html.Tr([html.Th(column, scope="col") for column in columns])),
                        html.Tbody(id="things"),
                    ]
                ),
                className="scroll",
                tabIndex="0",
                role="region",
                **_attributes(aria_label="The world as a table"),
            ),
        ],
        className="things",
    )


def _help() -> Component:
    keys = [html.Div([html.Dt(html.Kbd(key)), html.Dd(does)]) for key, does in KEYS]
    return html.Dialog(
        [
            html.H2("Keys"),
            html.Dl(keys),
            html.P(
                "People and loose things can be dragged on the map; the world may refuse. Flashbacks are memories that "
                "came back before a turn, without being asked for: the bar of each shows how much relevance, "
                "importance and recency weighed."
            ),
            html.Button("Close", **_attributes(data_do="help-close")),
        ],
        id="help",
        **_attributes(aria_label="Help"),
    )


def _attributes(**named: str) -> dict[str, Any]:
    """HTML attributes that Python can't name: ``data_do`` is ``data-do``."""
    return {name.replace("_", "-"): value for name, value in named.items()}
