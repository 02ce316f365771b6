"""The subconscious without ``await``."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from simuverse.blocking import open_subconscious
from simuverse.config import Settings
from simuverse.errors import SettingsError, StoreMismatch
from simuverse.memory.records import Source

FAST = Settings(embedder="hashing")


def threads() -> set[str]:
    return {thread.name for thread in threading.enumerate() if thread.name.startswith("subconscious of")}


def test_it_remembers_and_recollects_without_a_loop(tmp_path: Path) -> None:
    store = f"sqlite:{tmp_path / 'ada.db'}"
    with open_subconscious("Ada", store=store, settings=FAST) as mind:
        told = mind.remember("The blue kite hangs in the old oak.", said_by="Bo")
        assert [memory.provenance.speaker for memory in told.written] == ["Bo"]
        assert mind.remember("The oak is tall.", source=Source.OPERATOR).written[0].provenance.source is Source.OPERATOR
    with open_subconscious("Ada", store=store, settings=FAST) as mind:
        recalled = mind.recollect("Where is the blue kite?", said_by="Bo")
        assert "old oak" in recalled.as_xml()
        assert mind.mind.owner == "Ada"
    assert threads() == set()


def test_two_minds_at_once_have_a_thread_each() -> None:
    with open_subconscious("Ada", settings=FAST) as ada, open_subconscious("Bo", settings=FAST) as bo:
        assert threads() == {"subconscious of Ada", "subconscious of Bo"}
        ada.remember("The kite is blue.", said_by="Bo")
        assert len(bo.recollect("Which kite?")) == 0
    assert threads() == set()


def test_what_goes_wrong_is_raised_and_the_thread_ends(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="is not a store"), open_subconscious("Ada", store="x", settings=FAST):
        raise AssertionError("opened")
    assert threads() == set()
    with open_subconscious("Ada", store=f"sqlite:{tmp_path / 'ada.db'}", settings=FAST):
        pass
    other = open_subconscious("Ada", store=f"sqlite:{tmp_path / 'ada.db'}", settings=Settings())
    with pytest.raises(StoreMismatch), other:
        raise AssertionError("opened")
    assert threads() == set()


def test_what_the_script_raises_passes_through_and_closes_the_mind() -> None:
    with pytest.raises(ZeroDivisionError), open_subconscious("Ada", settings=FAST):
        raise ZeroDivisionError
    assert threads() == set()


async def test_it_works_where_a_loop_runs_already() -> None:
    def talk() -> int:
        with open_subconscious("Ada", settings=FAST) as mind:
            mind.remember("The kite is blue.", said_by="Bo")
            return len(mind.recollect("Which kite is blue?"))

    assert talk() == 1
    assert await asyncio.to_thread(talk) == 1
