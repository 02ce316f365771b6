"""Traces and memories as text for people."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

from simuverse import report
from simuverse.agents.trace import Decision, Recollection, Remembered, TurnTrace
from simuverse.agents.turn import Observation, Outcome, Reflection, ToolCall, Turn, Utterance
from simuverse.memory.records import (
    Candidate,
    Category,
    Cut,
    Factor,
    Flashback,
    FoundBy,
    Hit,
    Memory,
    MemoryFilter,
    MemoryQuery,
    Provenance,
    Score,
    Source,
)
from simuverse.memory.time_asked import TimeAsked, TimeUse
from tests.agents.minds import NOW

MEMORY = Memory(
    id=UUID("1b4e28ba-2fa1-511d-883f-0016d3cca427"),
    owner="Mira",
    summary="Bo: The ferry leaves at nine.",
    category=Category.PLAN,
    keywords=("ferry", "nine"),
    critical_information="nine",
    importance=7,
    created_at=NOW,
    last_accessed_at=NOW,
    location="at the mill",
    provenance=Provenance(source=Source.SAID_BY, speaker="Bo", turn="t1", messages=("t1/m0",)),
    episode="day",
    position=3,
    flags=("by_rule",),
)
SCORE = Score(
    preset="balanced",
    relevance=Factor(raw=0.8, scaled=0.93, weight=1.0),
    importance=Factor(raw=7.0, scaled=0.5, weight=0.1),
    recency=Factor(raw=1.0, scaled=1.0, weight=0.1),
)
FOUND = FoundBy(query=1, cosine=0.71, semantic_rank=2, bm25=3.25, keyword_rank=1, context_bm25=1.5, context_rank=4)
RECALLED = Recollection(
    mode="reflex",
    queries=(MemoryQuery(text="When does the ferry leave?"), MemoryQuery(text="boats", keywords=("ferry", "pier"))),
    flashbacks=(Flashback(memory=MEMORY, score=SCORE, rank=1, found_by=(FOUND,)),),
    candidates=(
        Candidate(memory=MEMORY, score=SCORE, found_by=(FOUND,), matched=0.5),
        Candidate(
            memory=replace(MEMORY, summary="The pier is made of oak."),
            score=SCORE,
            found_by=(FOUND,),
            matched=0.1,
            cut=Cut.GATE,
            missed_by=0.07,
        ),
    ),
    considered=12,
)
TRACE = TurnTrace(
    agent="Mira",
    tick=4,
    observation=Observation(
        turn="t4", time=NOW, heard=(Utterance(id="t4/m0", speaker="Bo", text="Are you coming?", to="Mira"),)
    ),
    recollection=RECALLED,
    decision=Decision(
        turn=Turn(reflection=Reflection(), call=ToolCall(tool="say", arguments={"text": "Yes.", "to": "Bo"})),
        problems=("the first reply wasn't XML",),
    ),
    outcome=Outcome(ok=True, code="said", sentence="You said it to Bo."),
    remembered=Remembered(mode="reflex", written=(MEMORY,), refused=("restates a flashback: the ferry",)),
)


def test_a_turn_tells_what_was_heard_recalled_done_and_remembered() -> None:
    text = report.turn(TRACE)
    assert text.splitlines()[0] == f"Mira, tick 4, {NOW:%Y-%m-%d %H:%M}"
    for line in (
        '  heard Bo: "Are you coming?"',
        '  query 0: hybrid "When does the ferry leave?"',
        '  query 1: hybrid "boats"; keywords ferry, pier',
        "  flashback 1: Bo: The ferry leaves at nine.",
        "    1.08 = relevance 0.93 (1 x 0.93) + importance 0.05 (0.1 x 0.50) + recency 0.10 (0.1 x 1.00)",
        "    found by query 1: meaning #2 (cosine 0.71), words #1 (BM25 3.25), words in context #4 (BM25 1.50)",
        "  just missed:",
        "    The pier is made of oak.",
        "  did say text='Yes.' to='Bo': You said it to Bo.",
        "  remembered: Bo: The ferry leaves at nine.",
        "  not stored: restates a flashback: the ferry",
        "  problem: the first reply wasn't XML",
    ):
        assert line in text.splitlines()
    assert "cut by gate by 0.07; 1.08 = relevance" in text


def test_the_parts_of_a_score_add_up_to_its_total() -> None:
    total, _, parts = report.score_text(SCORE).partition(" = ")
    figures = [float(part.split()[1]) for part in parts.split(" + ")]
    assert abs(float(total) - sum(figures)) < 0.011


def test_a_mind_that_is_off_and_one_that_found_nothing_are_told_apart() -> None:
    assert list(report.recollection(Recollection(mode="off"))) == ["memory is off"]
    nothing = list(report.recollection(Recollection(mode="reflex", considered=3)))
    assert nothing == ["nothing came to mind; 3 memories were weighed"]


def test_a_memory_in_a_line_shows_its_id_source_and_marks() -> None:
    line = report.memory_line(MEMORY)
    assert line.startswith("1b4e28ba-2fa1-511d-883f-0016d3cca427  ")
    assert "  plan  7/10  said by Bo  Bo: The ferry leaves at nine." in line
    old = replace(MEMORY, anchored=True, superseded_by=UUID(int=5), superseded_at=NOW + timedelta(hours=1))
    assert "said by Bo [anchored] [past]  " in report.memory_line(old)


def test_all_fields_that_are_set_are_shown_and_no_others() -> None:
    shown = {
        line.strip().partition("  ")[0]: line.strip().partition("  ")[2]
        for line in report.memory_fields(MEMORY).splitlines()
    }
    assert shown["id"] == str(MEMORY.id)
    assert shown["importance"] == "7/10"
    assert shown["keywords"] == "ferry, nine"
    assert shown["critical information"] == "nine"
    assert shown["source"] == "said by Bo"
    assert shown["messages"] == "t1/m0"
    assert shown["episode"] == "day, position 3"
    assert shown["flags"] == "by_rule"
    assert not {"anchored", "supersedes", "superseded by", "forgotten", "evidence"} & shown.keys()


def test_a_hit_shows_the_figures_it_has() -> None:
    both = Hit(memory=MEMORY, cosine=0.5, bm25=2.0, semantic_rank=3, keyword_rank=1, fused=0.8)
    assert report.hit_line(both).startswith("cosine 0.500 (#3), BM25 2.000 (#1)  1b4e28ba")
    words = Hit(memory=MEMORY, cosine=None, bm25=2.0, semantic_rank=None, keyword_rank=1, fused=0.8)
    assert report.hit_line(words).startswith("BM25 2.000 (#1)  1b4e28ba")


def test_the_time_that_a_query_speaks_of_is_told_once_and_what_was_found_by_it() -> None:
    time = TimeAsked(phrase="yesterday", since=NOW - timedelta(days=1), until=NOW, use=TimeUse.WINDOW)
    window = MemoryFilter(since=time.since, until=time.until)
    query = MemoryQuery(text="What happened yesterday?", time=time, filter=window)
    ends = f"from {NOW - timedelta(days=1):%Y-%m-%d %H:%M} until {NOW:%Y-%m-%d %H:%M} UTC"
    assert report.query_text(query) == f'hybrid "What happened yesterday?"; asks about "yesterday": {ends}'
    assert report._found(FoundBy(query=0, listed=True)) == "query 0: by its time"


def test_a_filters_window_is_told_beside_a_time_that_is_not_the_same() -> None:
    time = TimeAsked(phrase="yesterday", since=NOW - timedelta(days=1), until=NOW, use=TimeUse.WINDOW)
    shorter = MemoryQuery(text="Who?", time=time, filter=MemoryFilter(since=NOW - timedelta(hours=2), until=NOW))
    assert [line.split()[0] for line in report.conditions(shorter)] == ["asks", "since", "before"]
    mentioned = replace(time, use=TimeUse.BOOST)
    both = MemoryQuery(text="Who?", time=mentioned, filter=MemoryFilter(since=time.since, until=time.until))
    assert [line.split()[0] for line in report.conditions(both)] == ["mentions", "since", "before"]


def test_every_condition_of_a_query_is_told_and_no_other() -> None:
    asked = MemoryFilter(
        category=Category.PLAN,
        min_importance=2,
        max_importance=9,
        since=NOW,
        until=NOW + timedelta(days=1),
        about="Jade",
        exclude_sources=frozenset({Source.SEED, Source.INFERRED}),
        include_superseded=True,
        include_forgotten=True,
    )
    assert list(report.conditions(MemoryQuery(text="boats", filter=asked))) == [
        "category plan",
        "importance at least 2",
        "importance at most 9",
        f"since {NOW:%Y-%m-%d %H:%M}",
        f"before {NOW + timedelta(days=1):%Y-%m-%d %H:%M}",
        "about Jade",
        "not inferred, seed",
        "also what is past",
        "also what is hidden",
    ]
    assert list(report.conditions(MemoryQuery(text="boats"))) == []


def test_silence_is_told_with_what_the_query_was_limited_to() -> None:
    query = MemoryQuery(text="boats", keywords=("pier",), filter=MemoryFilter(category=Category.PLAN, about="Jade"))
    assert list(report.recollection(Recollection(mode="reflex", queries=(query,)))) == [
        'query 0: hybrid "boats"; keywords pier; category plan; about Jade',
        "nothing came to mind; 0 memories were weighed",
    ]
