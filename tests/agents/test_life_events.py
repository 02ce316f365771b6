from __future__ import annotations

import pytest

from simuverse.agents.life_events import LIFE_EVENT, TURN, how_much_it_changes


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("Yusuf and Carla are getting married in May.", LIFE_EVENT),
        ("He was laid off in the spring.", LIFE_EVENT),
        ("My father died on Tuesday.", LIFE_EVENT + 1),
        ("I start a job at the harbour.", TURN),
        ("She is in hospital with pneumonia.", TURN),
        ("My son is in hospital.", TURN + 1),
        ("Happy birthday, dear Carla!", 0),
        ("I moved the chair to the window.", 0),
        ("We had leek pie.", 0),
        ("", 0),
    ],
)
def test_events_are_told_by_their_words_in_any_form(text: str, least: int) -> None:
    assert how_much_it_changes(text) == least
