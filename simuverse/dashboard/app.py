"""The page as a Dash app: a factory, so that several can live in one process."""

from __future__ import annotations

import msgspec
from dash import Dash
from dash.development.base_component import Component

from simuverse.dashboard.api import add_api
from simuverse.dashboard.callbacks import add_callbacks
from simuverse.dashboard.layout import INDEX, page
from simuverse.dashboard.session import Session


def create_app(session: Session, *, host: str = "127.0.0.1") -> Dash:
    """The page of a session that has been started.

    Args:
        host: that it is served on.
    """
    app = Dash(
        __name__,
        title="Simu-Verse",
        update_title="",
        serve_locally=True,
        index_string=INDEX,
        add_log_handler=False,
    )

    def layout() -> Component:
        state = msgspec.json.decode(session.snapshot().body)
        return page(title=session.title, parts=session.parts, elements=state["elements"])

    app.layout = layout
    add_callbacks(app)
    add_api(app.server, session, host=host)
    return app
