"""A whole turn of a real language model in this process: queries, decision and memory, each in valid XML."""

from __future__ import annotations

from pathlib import Path

import pytest

from simuverse.agents.chat import Purpose
from simuverse.config import Settings
from simuverse.wiring import open_dialogue, open_subconscious

pytestmark = [pytest.mark.live, pytest.mark.usefixtures("engine_and_weights"), pytest.mark.timeout(900)]


async def test_a_whole_turn_of_a_real_model(tmp_path: Path) -> None:
    settings = Settings(model="local:smollm2", store=f"sqlite:{tmp_path / 'ada.db'}", model_timeout=600)
    async with open_subconscious("Ada", settings=settings) as mind:
        told = await mind.remember("I keep the key of the boathouse under the blue bucket.", said_by="Nora")

    async with open_dialogue("Ada", partner="Nora", settings=settings) as opened:
        turn = await opened.dialogue.answer("Where is the key of the boathouse?")

    assert [call.purpose for call in turn.calls] == [Purpose.QUERIES, Purpose.TURN, Purpose.MEMORY]
    for call in turn.calls:
        assert call.problem is None
        assert call.input_tokens
        assert call.output_tokens
        assert call.seconds > 0
    assert turn.recollection.mode == "deliberate"
    assert turn.recollection.queries
    assert not turn.decision.failed
    assert {memory.owner for memory in turn.remembered.written} <= {"Ada"}
    recalled = [flashback.memory.id for flashback in turn.recollection]
    assert set(recalled) <= {memory.id for memory in told.written}
    assert ("<flashback>" in turn.decision.calls[0].messages[-1].text) == bool(recalled)
