"""Times are shown by the clocks of the run's zone, in prompts, on the page and by commands; the journal is in UTC."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from simuverse import wiring
from simuverse.config import Settings
from simuverse.dashboard.snapshot import Transport, write
from simuverse.world.journal import JOURNAL, read_info, read_turns
from tests.commands import Here

FAST = ("--embedder", "hashing")
ZONE = "Asia/Kathmandu"
"""5:45 ahead of UTC; the grid's morning begins at 8:00 UTC."""


@pytest.fixture
def lived(here: Here, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two ticks in the zone; the setting holds for that command alone."""
    with monkeypatch.context() as patched:
        patched.setenv("SIMUVERSE_ZONE", ZONE)
        assert here("run", "--ticks", "2", "--out", "there", *FAST).code == 0
    return Path("there")


def test_prompts_show_the_zones_clocks_and_name_it(lived: Path) -> None:
    turn = next(read_turns(lived, agent="Jesse", tick=2))
    [call] = turn.decision.calls
    system, situation = (message.text for message in call.messages)
    assert f"the time ({ZONE})" in system
    assert "<time>2026-06-01T13:47+05:45</time>" in situation
    assert "<time>2026-05-31T13:45+05:45</time>" in turn.recollection.as_xml()
    assert turn.recollection.as_xml() in situation


def test_commands_show_the_runs_zone_without_being_told(here: Here, lived: Path) -> None:
    recalled = here("flashbacks", str(lived), "--agent", "Jesse").out
    assert recalled.startswith(f"Jesse, tick 2, 2026-06-01 13:47 {ZONE}\n")
    assert f"    2026-05-31 13:45 {ZONE}, known from before, " in recalled

    listed = here("memories", str(lived), "--agent", "Jesse", "list").out
    times = re.findall(r"  (\d{4}-\d\d-\d\d \d\d:\d\d) (\S*)  ", listed)
    assert len(times) == len(listed.splitlines()) > 3
    assert ("2026-05-31 13:45", ZONE) in times

    found = here("memories", str(lived), "--agent", "Jesse", "search", "west_cafe").out
    assert f"  2026-05-31 13:45 {ZONE}  knowledge  " in found
    [known] = re.findall(r"^\S+.*?(\S+)  2026.*west_cafe opens", found, re.MULTILINE)
    assert (
        f"created  2026-05-31T13:45:00+05:45 {ZONE}\n"
        in here("memories", str(lived), "show", known, "--agent", "Jesse").out
    )

    changed = here("memories", str(lived), "--agent", "Jesse", "anchor", known).out
    assert f"2026-05-31 13:45 {ZONE}" in changed
    assert f" {ZONE}  operator" in here("memories", str(lived), "--agent", "Jesse", "history").out
    assert f"from 2026-05-31 13:45 {ZONE} to " in here("store", "stats", str(lived)).out


def test_the_journal_is_in_utc_and_the_run_says_its_zone(here: Here, lived: Path) -> None:
    assert read_info(lived).zone == ZONE
    turns = list(read_turns(lived))
    assert {turn.observation.time.isoformat() for turn in turns} == {
        "2026-06-01T08:01:00+00:00",
        "2026-06-01T08:02:00+00:00",
    }
    body = (lived / JOURNAL).read_text(encoding="utf-8")
    kept = re.findall(r'"(?:created_at|time|since|until)":"([^"]+)"', body)
    assert kept
    assert all(time.endswith("Z") for time in kept)


@pytest.mark.parametrize("memory", ["on", "off"])
def test_a_zone_changes_what_is_shown_and_nothing_that_is_done(
    here: Here, monkeypatch: pytest.MonkeyPatch, memory: str
) -> None:
    deeds: list[list[object]] = []
    for zone in ("UTC", "Europe/Lisbon"):  # where it is morning at the same time
        monkeypatch.setenv("SIMUVERSE_ZONE", zone)
        out = f"in-{zone.replace('/', '-')}"
        assert here("run", "--ticks", "6", "--memory", memory, "--out", out, *FAST).code == 0
        turns = list(read_turns(Path(out)))
        assert {turn.recollection.zone for turn in turns} == {zone}
        deeds.append([(turn.agent, turn.decision.turn, turn.outcome) for turn in turns])
    assert deeds[0] == deeds[1]


@pytest.mark.parametrize(("zone", "clock", "named"), [(None, "08:00", ""), (ZONE, "13:45", ZONE)])
async def test_the_page_shows_the_runs_clock(zone: str | None, clock: str, named: str) -> None:
    async with wiring.open_simulation(Settings(embedder="hashing", zone=zone)) as simulation:
        shown = write(
            simulation,
            seq=1,
            now=0.0,
            transport=Transport(running=False, stepping=False, speed=1.0),
            banners=(),
            events=(),
            turns={},
        )
    state = msgspec.json.decode(shown.as_json())
    assert (state["clock"], state["zone"], state["date"]) == (clock, named, "1 Jun 2026")


async def test_without_a_zone_that_of_the_scenarios_start_is_shown(tmp_path: Path) -> None:
    scenario = (Path(wiring.__file__).parent / "world" / "scenarios" / "grid.toml").read_text(encoding="utf-8")
    east = tmp_path / "east.toml"
    east.write_text(scenario.replace("08:00:00Z", "08:00:00+09:00"), encoding="utf-8")
    settings = replace(Settings(embedder="hashing"), scenario=str(east))
    async with wiring.open_simulation(settings, folder=tmp_path / "run") as simulation:
        await simulation.step()
    assert read_info(tmp_path / "run").zone == "UTC+09:00"
    turn = next(read_turns(tmp_path / "run"))
    assert "<time>2026-06-01T08:01+09:00</time>" in turn.decision.calls[0].messages[1].text
