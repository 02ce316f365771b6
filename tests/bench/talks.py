"""Invented talks with questions about them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from simuverse.bench.dialogues import Dialogue, Question, Turn

START = datetime(2031, 6, 2, 9, tzinfo=UTC)
KEYS = ("brass", "copper", "silver", "iron", "oak", "amber", "ivory", "jade", "coral", "slate", "cedar", "walnut")

PLACES = (
    *("mill", "quay", "orchard", "chapel", "market", "bridge"),
    *("tower", "stables", "vineyard", "quarry", "ferry", "granary"),
)


def dialogue(name: str, *questions: Question) -> Dialogue:
    """Twelve talks of three turns, the second of which says where a key of that talk's own material is."""
    sessions = tuple(
        tuple(
            Turn(id=f"{day}:{place}", speaker=speaker, text=text, time=START + timedelta(days=day, minutes=place))
            for place, (speaker, text) in enumerate(
                (
                    ("Mira", f"Good morning. It rained on the {site} again."),
                    ("Tomas", f"The {key} key hangs in cupboard {day}."),
                    ("Mira", f"Then I will look after lunch, behind the {site} of the {key} guild."),
                ),
                start=1,
            )
        )
        for day, (key, site) in enumerate(zip(KEYS, PLACES, strict=True), start=1)
    )
    return Dialogue(name=name, sessions=sessions, questions=questions)


def asks(text: str, *evidence: str, category: str = "single-hop") -> Question:
    return Question(text=text, evidence=frozenset(evidence), category=category)
