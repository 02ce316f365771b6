from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from simuverse.agents.chat import Message, Purpose
from simuverse.agents.trace import Decision, Recollection, Remembered, TurnTrace
from simuverse.agents.turn import Observation, Outcome, Reflection, ToolCall, Turn
from simuverse.dashboard.events import Kind, lost_half, notes_of
from simuverse.dashboard.turn_card import acted_on, card, sentence_of
from simuverse.memory.fates import Fate
from simuverse.memory.ledger import Became, Tally
from simuverse.memory.records import Candidate, Cut, MemoryFilter, MemoryQuery, Provenance, Source
from simuverse.memory.time_asked import TimeAsked, TimeUse
from tests.dashboard.staged import called, memory, recollection, score

NOON = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)
OBSERVATION = Observation(turn="r/4/James", time=NOON, location="at (100, 200)", intentions=("finding the ball",))
FETCH = ToolCall(tool="move_to", arguments={"target": "red_ball"})


def trace(name: str = "James", *, call: ToolCall = FETCH, ok: bool = True) -> TurnTrace:
    recalled = recollection(name, OBSERVATION)
    prompt = f"You see little.\n{recalled.as_xml()}\nWhat now?"
    return TurnTrace(
        agent=name,
        tick=4,
        observation=OBSERVATION,
        recollection=recalled,
        decision=Decision(
            turn=Turn(reflection=Reflection(goal="the ball"), call=call),
            calls=(replace(called(Purpose.TURN, prompt), messages=(Message(role="user", text=prompt),)),),
        ),
        outcome=Outcome(ok=ok, code="on_the_way", sentence="On the way to red_ball, 3 more ticks."),
        remembered=Remembered(mode="reflex"),
    )


def test_a_flashback_tells_what_became_of_it_now_and_before() -> None:
    turn = trace()
    first, second = turn.flashback_ids
    tally = Tally(used=1, ignored=2)
    became = Remembered(mode="reflex", became=(Became(memory=first, fate=Fate.USED, tally=tally),))

    shown = card(replace(turn, remembered=became))["recollection"]["flashbacks"]

    assert shown[0]["became"] == "used this time; shown 3 times: used 1, ignored 2, contradicted 0"
    assert (shown[1]["id"], shown[1]["became"]) == (str(second), None)


def test_what_had_to_go_and_what_failed_is_told() -> None:
    turn = trace()
    gone = turn.recollection.flashbacks[0].memory
    shown = card(replace(turn, remembered=Remembered(mode="reflex", failed=True, evicted=(gone,))))["remembered"]
    assert (shown["failed"], shown["evicted"]) == (True, [gone.summary])


def test_what_was_told_again_and_what_is_past_are_told_as_such() -> None:
    turn = trace()
    old, told = (flashback.memory for flashback in turn.recollection.flashbacks)
    new = replace(told, supersedes=old.id, provenance=replace(told.provenance, messages=("m1", "m2")))
    past = old.superseded(by=told.id, at=NOON)
    linked = replace(told, restates=old.id, anchored=True)
    remembered = Remembered(mode="reflex", written=(linked,), merged=(new,), past=(past,))

    shown = card(replace(turn, remembered=remembered))["remembered"]

    assert [one["marks"] for one in shown["written"]] == [["anchored", "may say again what is known"]]
    assert [one["marks"] for one in shown["merged"]] == [["in place of an earlier one", "told in 2 messages"]]
    assert [one["marks"] for one in shown["past"]] == [["past since 12:00"]]


def test_a_flashback_of_what_holds_no_more_says_so() -> None:
    turn = trace()
    first, second = turn.recollection.flashbacks
    past = replace(first, memory=first.memory.superseded(by=second.memory.id, at=NOON))
    shown = card(replace(turn, recollection=replace(turn.recollection, flashbacks=(past, second))))
    assert shown["recollection"]["flashbacks"][0]["marks"] == ["past since 12:00"]


def test_a_card_is_plain_json() -> None:
    assert msgspec.json.decode(msgspec.json.encode(card(trace())))["turn"] == "r/4/James"


def test_flashbacks_are_those_of_the_trace_with_every_figure() -> None:
    shown = card(trace())["recollection"]["flashbacks"]
    kept = trace().recollection.flashbacks
    assert [one["id"] for one in shown] == [str(f.memory.id) for f in kept]
    assert [one["summary"] for one in shown] == [f.memory.summary for f in kept]
    for one, flashback in zip(shown, kept, strict=True):
        factors = {f["name"]: f for f in one["score"]["factors"]}
        assert one["score"]["total"] == flashback.score.total
        assert {name: f["part"] for name, f in factors.items()} == flashback.score.parts
        assert factors["importance"]["raw"] == flashback.score.importance.raw
        assert factors["relevance"]["weight"] == 1.0
    first = shown[0]
    assert first["found_by"][0]["query"] == 1
    assert (first["found_by"][0]["semantic_rank"], first["found_by"][0]["bm25"]) == (1, 3.25)
    assert first["matched"] == 0.5
    assert [one["signals"] for one in shown] == [{}, {"words": 0.4}]


def test_a_runner_up_says_what_cut_it_and_by_how_much() -> None:
    (missed,) = card(trace())["recollection"]["runners_up"]
    assert missed["why"] == "too little to do with what is going on: 0.07 short of the gate"


@pytest.mark.parametrize(
    ("cut", "by", "words"),
    [
        (Cut.NEAR_DUPLICATE, 0.1, "0.10 over the likeness allowed"),
        (Cut.COOL_DOWN, None, "shown in one of the last turns"),
        (Cut.JUDGED, None, "the model judged that it doesn't belong here"),
        (Cut.COUNT, 0.3, "0.30 behind the last that came back"),
        (Cut.TOKENS, 12.0, "12 tokens over"),
    ],
)
def test_every_cut_has_its_words(cut: Cut, by: float | None, words: str) -> None:
    missed = Candidate(memory=memory("James", 8, "A bird sang.", OBSERVATION), score=score(0.1, 0.1, 0.1), cut=cut)
    turn = replace(trace(), recollection=Recollection(mode="reflex", candidates=(replace(missed, missed_by=by),)))
    assert words in card(turn)["recollection"]["runners_up"][0]["why"]


def test_silence_says_what_came_nearest_and_what_it_lacked() -> None:
    silence = card(trace("Jamal"))["recollection"]["silence"]
    assert "Jamal once had tea at the cafe." in silence
    assert "0.07 short of the gate" in silence
    assert card(trace())["recollection"]["silence"] is None


@pytest.mark.parametrize(
    ("recalled", "words"),
    [
        (Recollection(mode="off"), "switched off"),
        (Recollection(mode="reflex", problems=("nothing could be recalled: closed",)), "nothing could be recalled"),
        (Recollection(mode="reflex"), "nothing to ask"),
        (Recollection(mode="reflex", queries=recollection("James", OBSERVATION).queries), "No memory was found"),
    ],
)
def test_every_kind_of_silence_has_its_reason(recalled: Recollection, words: str) -> None:
    assert words in card(replace(trace(), recollection=recalled))["recollection"]["silence"]


def test_a_told_memory_shows_its_way_from_the_teller_to_the_deed() -> None:
    first, second = card(trace())["recollection"]["flashbacks"]
    assert [link["text"] for link in first["chain"]] == [
        "told by Jade",
        "remembered",
        "came back",
        "move_to target=red_ball",
    ]
    assert [link["when"] for link in first["chain"]] == ["11:53", "7 minutes ago", "12:00", ""]
    assert [link["link"] for link in second["chain"]] == ["learnt", "recalled", "acted"]
    assert (first["acted_on"], second["acted_on"]) == (True, False)


def test_a_refused_deed_is_marked_in_the_chain() -> None:
    assert card(trace(ok=False))["recollection"]["flashbacks"][0]["chain"][-1]["when"] == "refused"


def test_talk_is_no_deed_done_on_a_memory() -> None:
    told = memory("James", 1, "Jade: I saw red_ball.", OBSERVATION, speaker="Jade")
    assert acted_on(told, FETCH)
    assert not acted_on(told, ToolCall(tool="say", arguments={"text": "red_ball", "to": "Jade"}))
    assert not acted_on(told, ToolCall(tool="wait"))
    assert not acted_on(told, ToolCall(tool="move_to", arguments={"x": "1"}))


def test_what_flashbacks_put_into_the_prompt_is_marked_and_nothing_is_lost() -> None:
    turn = trace()
    (message,) = card(turn)["calls"][0]["messages"]
    assert "".join(part["text"] for part in message["parts"]) == turn.calls[0].messages[0].text
    assert [part["text"] for part in message["parts"] if part["flashback"]] == [turn.recollection.as_xml()]


def test_queries_show_their_conditions() -> None:
    queries = card(trace())["recollection"]["queries"]
    assert queries[1]["conditions"] == ["importance at least 3"]
    assert [query["number"] for query in queries] == [1, 2]


def test_the_time_that_a_query_speaks_of_is_told() -> None:
    turn = trace()
    time = TimeAsked(phrase="yesterday", since=NOON - timedelta(days=1), until=NOON, use=TimeUse.LIST)
    asking = replace(turn.recollection, queries=(MemoryQuery(text="What happened yesterday?", time=time),))
    [query] = card(replace(turn, recollection=asking))["recollection"]["queries"]
    assert query["conditions"] == [time.describe()]
    assert time.describe().startswith('asks for all of "yesterday": from ')


def test_times_are_shown_by_the_clocks_of_the_runs_zone() -> None:
    turn = trace()
    time = TimeAsked(phrase="yesterday", since=NOON - timedelta(days=1), until=NOON, use=TimeUse.WINDOW)
    asked = MemoryQuery(text="What was said yesterday?", time=time, filter=MemoryFilter(since=time.since))
    shown = card(replace(turn, recollection=replace(turn.recollection, queries=(asked,), zone="Asia/Kathmandu")))

    first = shown["recollection"]["flashbacks"][0]
    assert (shown["clock"], first["when"]) == ("17:45", "17:38")
    assert [link["when"] for link in first["chain"]][:3] == ["17:38", "7 minutes ago", "17:45"]
    assert shown["recollection"]["queries"][0]["conditions"] == [
        'asks about "yesterday": from 2026-05-31 17:45 until 2026-06-01 17:45 Asia/Kathmandu',
        "since 2026-05-31 17:45 Asia/Kathmandu",
    ]


def test_a_call_is_one_line() -> None:
    assert sentence_of(FETCH) == "move_to target=red_ball"
    assert sentence_of(ToolCall(tool="wait")) == "wait"


def test_the_log_tells_what_was_acted_on_and_what_was_refused() -> None:
    notes = list(notes_of(trace(ok=False)))
    assert [note.kind for note in notes] == [Kind.RECALLED, Kind.REFUSED]
    assert notes[0].text == "remembered what was said by Jade at 11:53 and acted on it: move_to target=red_ball"


def test_a_deed_that_goes_on_is_logged_once() -> None:
    assert [note.kind for note in notes_of(trace(), before=trace(call=ToolCall(tool="wait")))] == [Kind.RECALLED]
    assert list(notes_of(trace(), before=trace())) == []


def test_only_what_came_from_others_is_logged_as_acted_on() -> None:
    own = memory("James", 1, "red_ball is mine.", OBSERVATION)
    own = replace(own, provenance=Provenance(source=Source.OWN_ACTION, turn="1"))
    turn = trace()
    flashback = replace(turn.recollection.flashbacks[0], memory=own)
    turn = replace(turn, recollection=replace(turn.recollection, flashbacks=(flashback,)))
    assert not acted_on(own, FETCH)
    assert list(notes_of(turn)) == []


def test_a_half_is_lost_when_something_outside_fails_and_not_otherwise() -> None:
    turn = trace()
    assert not lost_half(turn)
    assert not lost_half(
        replace(turn, recollection=replace(turn.recollection, problems=("a fourth query was dropped",)))
    )
    assert lost_half(replace(turn, recollection=Recollection(mode="reflex", problems=("nothing could be recalled",))))
    assert lost_half(replace(turn, decision=replace(turn.decision, failed=True)))
    assert lost_half(replace(turn, remembered=Remembered(mode="reflex", raw="James walked.")))
    unanswered = called(Purpose.MEMORY, "Write.", reply=None, problem="no answer")
    assert lost_half(replace(turn, remembered=Remembered(mode="deliberate", calls=(unanswered,))))
