"""A world whose memories are on a Weaviate server that goes away in the middle, and comes back."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from simuverse.config import Settings
from simuverse.wiring import open_simulation
from simuverse.world.simulation import Simulation
from tests.live.weaviate_server import WeaviateServer

pytestmark = pytest.mark.live


async def test_turns_go_on_without_flashbacks_while_the_server_is_gone_and_say_so(
    weaviate_binary: str, tmp_path: Path
) -> None:
    with WeaviateServer.running(weaviate_binary, tmp_path) as server:
        settings = Settings(embedder="hashing", store=f"weaviate:{server.url}")
        async with open_simulation(settings, folder=tmp_path / "run") as simulation:
            await simulation.begin()
            for _ in range(3):
                assert all(not trace.problems for trace in await simulation.step())
            server.kill()
            for _ in range(5):
                for trace in await simulation.step():
                    assert trace.recollection.flashbacks == ()
                    assert "nothing could be recalled: Weaviate at http://127.0.0.1:" in trace.problems[0]
            assert simulation.tick == 8
            await asyncio.to_thread(server.start)
            assert await flashbacks_once_it_answers(simulation) > 0


async def flashbacks_once_it_answers(simulation: Simulation) -> int:
    """Of the first step in which every mind has its memory again."""
    async with asyncio.timeout(60):
        while True:
            traces = await simulation.step()
            if all(not trace.problems for trace in traces):
                return sum(len(trace.recollection.flashbacks) for trace in traces)
            await asyncio.sleep(0.1)
