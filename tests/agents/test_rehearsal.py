"""Characters that follow rules: what they do follows from what is before them and what comes to their minds."""

from __future__ import annotations

import pytest

from simuverse.agents.turn import ToolCall
from tests.agents.minds import SAY
from tests.agents.rehearsing import (
    BODO_FAR,
    BOUND,
    ELSA_FAR,
    ELSA_NEAR,
    GATE,
    LOST,
    MORNING,
    NILS,
    OPENS,
    PROMISED,
    WHISTLE_FAR,
    WHISTLE_HERE,
    does,
    here,
    words,
)

# --- answering --------------------------------------------------------------------------------------------------------


async def test_whoever_is_asked_tells_what_comes_to_mind_and_without_it_does_not_know() -> None:
    question = here(("Elsa", "Nils, have you seen the tin_whistle?"), seen=(ELSA_NEAR,))

    knows = (await does(NILS, question, "Nils saw: tin_whistle lies at (200, 320).")).call
    told = (await does(NILS, question, "Bodo: The tin_whistle lies at (90, 90).")).call
    blank = (await does(NILS, question)).call
    other = (await does(NILS, question, "Bodo: The old_well is dry.")).call

    assert "tin_whistle lies at (200, 320)" in words(knows)
    assert "Bodo told me" in words(told), "what was only said is passed on as another's"
    assert "(90, 90)" in words(told)
    assert knows.arguments["to"] == told.arguments["to"] == "Elsa"
    for unknowing in (blank, other):
        assert "I don't know" in words(unknowing)
        assert "(" not in words(unknowing)


async def test_nobody_is_told_what_they_said_themselves() -> None:
    question = here(("Elsa", "Nils, have you seen the tin_whistle?"), seen=(ELSA_NEAR,))

    assert "I don't know" in words((await does(NILS, question, "Elsa: The tin_whistle lies at (90, 90).")).call)


async def test_questions_and_ignorance_are_no_answers() -> None:
    question = here(("Elsa", "Nils, have you seen the tin_whistle?"), seen=(ELSA_NEAR,))
    memories = ("Bodo: Nils, have you seen the tin_whistle?", "Bodo: I don't know where the tin_whistle is.")

    assert "I don't know" in words((await does(NILS, question, *memories)).call)


async def test_who_asks_for_company_is_promised_it() -> None:
    call = (await does(NILS, here(("Elsa", "Will you come to the hill_fair with me?"), seen=(ELSA_NEAR,)))).call

    assert words(call).startswith("Yes, Elsa, I will come to the hill_fair")


async def test_good_news_is_thanked_for_and_a_greeting_returned() -> None:
    news = (await does(LOST, here(("Elsa", "Nils, I saw the tin_whistle at (200, 320)."), seen=(ELSA_NEAR,)))).call
    hello = (await does(NILS, here(("Elsa", "Hello, Nils."), seen=(ELSA_NEAR,)))).call

    assert words(news) == "Thank you, Elsa."
    assert "Elsa" in words(hello)
    assert hello.arguments["to"] == "Elsa"


# --- fetching ---------------------------------------------------------------------------------------------------------


async def test_a_missed_thing_is_fetched_only_if_a_flashback_tells_where_it_is() -> None:
    told = (await does(LOST, here(seen=(ELSA_NEAR,)), "Elsa: Nils, I saw the tin_whistle at (200, 320).")).call
    vague = (await does(LOST, here(seen=(ELSA_NEAR,)), "Elsa: I heard the tin_whistle once.")).call
    blank = (await does(LOST, here(seen=(ELSA_NEAR,)))).call

    assert (told.tool, told.arguments) == ("move_to", {"x": "200", "y": "320"})
    for unknowing in (vague, blank):
        assert unknowing.arguments["to"] == "Elsa"
        assert "have you seen the tin_whistle?" in words(unknowing)


async def test_a_missed_thing_in_sight_is_walked_to_and_picked_up() -> None:
    assert (await does(LOST, here(seen=(WHISTLE_FAR,)))).call == ToolCall(
        tool="move_to", arguments={"target": "tin_whistle"}
    )
    assert (await does(LOST, here(seen=(WHISTLE_HERE,)))).call == ToolCall(
        tool="pick_up", arguments={"item": "tin_whistle"}
    )


async def test_what_is_held_is_missed_no_more() -> None:
    turn = await does(LOST, here(carrying=("tin_whistle",)), "Elsa: Nils, I saw the tin_whistle at (200, 320).")

    assert turn.call.arguments.get("x") != "200"
    assert turn.reflection.goal == ""


async def test_nobody_is_asked_twice_as_far_as_one_remembers() -> None:
    asked = "Nils: Elsa, have you seen the tin_whistle?"
    greeted = "Nils: Hello, Elsa."

    again = (await does(LOST, here(seen=(ELSA_NEAR, BODO_FAR)), asked, greeted)).call
    forgetful = (await does(LOST, here(seen=(ELSA_NEAR, BODO_FAR)))).call

    assert again == ToolCall(tool="move_to", arguments={"target": "Bodo"})
    assert words(forgetful).startswith("Elsa, ")


# --- promises ---------------------------------------------------------------------------------------------------------


async def test_a_promise_is_kept_only_if_it_comes_to_mind() -> None:
    kept = (await does(NILS, here(seen=(ELSA_NEAR,)), PROMISED, "Nils: Hello, Elsa.")).call
    forgotten = (await does(NILS, here(seen=(ELSA_NEAR,)), "Nils: Hello, Elsa.")).call

    assert "will you help me with the goat_gate?" in words(kept)
    assert "goat_gate" not in str(forgotten)


async def test_with_the_help_that_was_promised_it_is_done_and_done_once() -> None:
    helped = "Elsa: Yes, Nils, I will come to the goat_gate with you."
    opened = GATE.replace("closed", "open")

    assert (await does(NILS, here(), PROMISED, helped)).call == ToolCall(
        tool="move_to", arguments={"target": "goat_gate"}
    )
    assert (await does(NILS, here(seen=(GATE, ELSA_NEAR)), PROMISED, helped)).call == ToolCall(
        tool="use", arguments={"item": "goat_gate", "verb": "open"}
    )
    assert (await does(NILS, here(seen=(GATE, ELSA_FAR)), PROMISED, helped)).call.tool == "wait", "it takes two"
    done = (await does(NILS, here(seen=(opened, ELSA_NEAR)), PROMISED, helped, "Nils: Hello, Elsa.")).call
    assert done.tool != "use"


async def test_who_gave_a_word_comes_while_it_comes_to_mind() -> None:
    word = "Nils: Yes, Elsa, I will come to the goat_gate with you."
    greeted = "Nils: Hello, Elsa."

    assert (await does(NILS, here(seen=(ELSA_FAR,)), word, greeted)).call == ToolCall(
        tool="move_to", arguments={"target": "goat_gate"}
    )
    assert "goat_gate" not in str((await does(NILS, here(seen=(ELSA_FAR,)), greeted)).call)
    assert "goat_gate" not in str((await does(NILS, here(seen=(ELSA_FAR,)), word, greeted, age=24 * 60)).call)


# --- company ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hour", "minute", "goes"), [(8, 30, False), (8, 50, True), (9, 5, True), (9, 11, False), (12, 0, False)]
)
async def test_an_appointment_is_kept_around_its_hour(hour: int, minute: int, goes: bool) -> None:
    asked = "Nils: Elsa, the hill_fair opens at 09:00. Will you come to the hill_fair with me?"
    at = MORNING.replace(hour=hour, minute=minute)

    call = (await does(BOUND, here(seen=(ELSA_NEAR,), at=at), OPENS, asked, "Nils: Hello, Elsa.")).call

    assert (call == ToolCall(tool="move_to", arguments={"target": "hill_fair"})) == goes


async def test_company_is_asked_for_only_if_the_hour_comes_to_mind() -> None:
    knows = (await does(BOUND, here(seen=(ELSA_NEAR,)), OPENS, "Nils: Hello, Elsa.")).call
    blank = (await does(BOUND, here(seen=(ELSA_NEAR,)), "Nils: Hello, Elsa.")).call

    assert "Will you come to the hill_fair with me?" in words(knows)
    assert "hill_fair" not in str(blank)


async def test_an_hour_that_no_clock_shows_is_survived() -> None:
    await does(BOUND, here(seen=(ELSA_NEAR,)), "I know that the hill_fair opens at 99:99.")


# --- a talk -----------------------------------------------------------------------------------------------------------


async def test_where_talk_is_all_one_can_do_a_question_is_answered_by_what_comes_to_mind() -> None:
    question = here(("Elsa", "What did I tell you about the goats?"), location="in a talk with Elsa")

    told = (await does(NILS, question, "Elsa: The goats are in the barn.", tools=(SAY,))).call
    another = (await does(NILS, question, "Bodo: The goats are in the barn.", tools=(SAY,))).call
    blank = (await does(NILS, question, tools=(SAY,))).call
    useless = (await does(NILS, question, "Elsa: Where are the goats?", "Nils: I see, Elsa.", tools=(SAY,))).call

    assert words(told) == "You told me: The goats are in the barn."
    assert words(another) == "Bodo said: The goats are in the barn."
    for unknowing in (blank, useless):
        assert "I don't know" in words(unknowing)


async def test_in_a_talk_a_statement_is_taken_note_of() -> None:
    call = (await does(NILS, here(("Elsa", "My barn is red.")), tools=(SAY,))).call

    assert "Elsa" in words(call)
    assert "?" not in words(call)


# --- strolling --------------------------------------------------------------------------------------------------------


async def test_people_are_greeted_once_as_far_as_one_remembers() -> None:
    seen = "Nils saw: tin_whistle lies at (200, 320)."

    first = (await does(NILS, here(seen=(ELSA_NEAR,)), seen)).call
    again = (await does(NILS, here(seen=(ELSA_NEAR,)), "Nils: Hello, Elsa.")).call

    assert words(first).startswith("Hello, Elsa.")
    assert "tin_whistle" in words(first), "and told what one saw"
    assert again.tool != "say"


@pytest.mark.parametrize("hour", range(8, 20))
async def test_a_stroll_stays_in_the_square(hour: int) -> None:
    call = (await does(NILS, here(at=MORNING.replace(hour=hour, minute=hour)))).call

    assert call.tool == "move_to"
    assert 50 <= float(call.arguments["x"]) <= 550
    assert 50 <= float(call.arguments["y"]) <= 550


async def test_without_a_square_one_looks_around() -> None:
    assert (await does(NILS, here(location="in a talk with Elsa"))).call.tool == "look"
