"""The page's callbacks: all run in the browser, none calls a model or a store."""

from __future__ import annotations

from dash import ClientsideFunction, Dash, Input, State


def add_callbacks(app: Dash) -> None:
    """Looks for news at every beat; the scripts in ``assets`` do the rest."""
    app.clientside_callback(  # type: ignore[no-untyped-call]  # pyright: ignore[reportUnknownMemberType]
        ClientsideFunction("simuverse", "beat"), Input("beat", "n_intervals"), State("stylesheets", "data")
    )
