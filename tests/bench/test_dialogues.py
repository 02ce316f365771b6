from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from simuverse.bench.dialogues import load_dialogues, paraphrases, plain_questions
from simuverse.errors import UsageError
from simuverse.memory.analysis import tokens

TALK: dict[str, Any] = {
    "speaker_a": "Mira",
    "speaker_b": "Tomas",
    "session_2_date_time": "9:05 am on 2 June, 2031",
    "session_2": [{"speaker": "Mira", "dia_id": "D2:1", "text": "The heron is back."}],
    "session_10_date_time": "12:10 am on 3 June, 2031",
    "session_10": [
        {"speaker": "Tomas", "dia_id": "D10:01", "text": "Look!", "blip_caption": "a grey bird", "query": "egret nest"},
        {"speaker": "Mira", "dia_id": "D10:2", "text": "On the weir again."},
    ],
    "events_session_2": {"Mira": ["saw a heron"]},
}


def asked(evidence: list[str], category: Any = 4) -> dict[str, Any]:
    return {"question": "Where is the heron?", "answer": "weir", "evidence": evidence, "category": category}


def write(folder: Path, content: object) -> Path:
    (folder / "talk.json").write_text(json.dumps(content), encoding="utf-8")
    return folder


def test_one_dialogue_a_file_and_a_list_of_them_are_the_same_dialogue(tmp_path: Path) -> None:
    qa = [asked(["D2:1"])]
    one = tmp_path / "one"
    many = tmp_path / "many"
    one.mkdir()
    many.mkdir()
    [flat] = load_dialogues(write(one, {**TALK, "qa": qa}))
    [listed] = load_dialogues(write(many, [{"sample_id": "talk", "conversation": TALK, "qa": qa}]))
    assert flat == listed
    assert flat.name == "talk"


def test_sessions_are_in_order_of_number_and_turns_follow_at_their_time(tmp_path: Path) -> None:
    [dialogue] = load_dialogues(write(tmp_path, {**TALK, "qa": []}))
    assert [[turn.id for turn in session] for session in dialogue.sessions] == [["2:1"], ["10:1", "10:2"]]
    first, second = dialogue.sessions[1]
    assert first.time == datetime(2031, 6, 3, 0, 10, tzinfo=UTC)
    assert second.time == first.time + timedelta(seconds=20)


def test_what_a_picture_shows_is_read_and_what_it_was_looked_for_by_is_not(tmp_path: Path) -> None:
    [dialogue] = load_dialogues(write(tmp_path, {**TALK, "qa": []}))
    assert dialogue.sessions[1][0].text == "Look! [shares a grey bird]"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (["D2:1; D10:2"], {"2:1", "10:2"}),
        (["D:2:1", "D2:01"], {"2:1"}),
        (["D10:02", "D10:99", "D"], {"10:2"}),
        (["D"], None),
        ([], None),
    ],
)
def test_evidence_is_read_however_it_is_spelt_and_a_question_left_without_is_not_asked(
    tmp_path: Path, written: list[str], read: set[str] | None
) -> None:
    [dialogue] = load_dialogues(write(tmp_path, {**TALK, "qa": [asked(written)]}))
    assert [question.evidence for question in dialogue.questions] == ([] if read is None else [read])


@pytest.mark.parametrize(("written", "read"), [(1, "multi-hop"), (5, "adversarial"), (9, "9"), ("riddle", "riddle")])
def test_categories_have_names(tmp_path: Path, written: object, read: str) -> None:
    [dialogue] = load_dialogues(write(tmp_path, {**TALK, "qa": [asked(["D2:1"], written)]}))
    assert dialogue.questions[0].category == read


@pytest.mark.parametrize("content", [{}, [1], "talk", {"qa": []}, {**TALK, "qa": [{"question": "Who?"}]}])
def test_a_file_of_another_form_is_named(tmp_path: Path, content: object) -> None:
    with pytest.raises(UsageError, match="talk isn't a dialogue"):
        load_dialogues(write(tmp_path, content))


def test_a_folder_without_files_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no \.json file"):
        load_dialogues(tmp_path)


def test_our_own_questions_share_no_word_with_what_answers_them() -> None:
    dialogues = paraphrases()
    assert len(dialogues) == 2
    for dialogue in dialogues:
        turns = {turn.id: turn for session in dialogue.sessions for turn in session}
        assert (len(turns), len(dialogue.questions)) == (200, 40)
        for question in dialogue.questions:
            for turn in (turns[one] for one in question.evidence):
                said = tokens(f"{turn.speaker}: {turn.text}")
                assert set(tokens(question.text)).isdisjoint(said), question.text


def test_the_same_dialogues_are_asked_plainly() -> None:
    dialogues = plain_questions()
    assert [(one.name, one.sessions) for one in dialogues] == [(one.name, one.sessions) for one in paraphrases()]
    for dialogue in dialogues:
        several = [question for question in dialogue.questions if question.category == "multi-hop"]
        assert (len(dialogue.questions), len(several)) == (40, 10)
        assert all(len(question.evidence) > 1 for question in several)
