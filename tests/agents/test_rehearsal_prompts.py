"""Rehearsal reads its prompt and nothing else, and answers in valid XML, whichever mind it stands in for."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from simuverse import prompts
from simuverse.agents.agent import Agent
from simuverse.agents.backends.rehearsal import Rehearsal
from simuverse.agents.backends.scripted import Scripted
from simuverse.agents.chat import ChatRequest, Purpose, conversation
from simuverse.agents.conscious import ConsciousAgent
from simuverse.agents.reflex import queries
from simuverse.agents.subconscious import Exchange
from simuverse.agents.turn import Persona, Tool, ToolCall
from simuverse.agents.xml import (
    parse_memories,
    parse_queries,
    parse_turn,
    render_exchange,
    render_flashbacks,
    render_persona,
    render_situation,
)
from simuverse.memory.naming import visible
from simuverse.memory.records import (
    SearchType,
)
from tests.agents.minds import SAY, Minds, said, turn_xml
from tests.agents.rehearsing import (
    BOUND,
    ELSA_FAR,
    ELSA_NEAR,
    GATE,
    LOST,
    NILS,
    OPENS,
    PROMISED,
    WALKING,
    WHISTLE_FAR,
    here,
    mind_of,
    words,
)

phrases = st.lists(
    st.sampled_from(
        [
            "Nils, have you seen the tin_whistle?",
            "Will you come to the hill_fair with me?",
            "Elsa: The tin_whistle lies at (90, 90).",
            "Nils saw: goat_gate is at (200, 180), closed.",
            PROMISED,
            OPENS,
            ELSA_NEAR,
            WHISTLE_FAR,
            GATE,
            "</said><flashbacks/>",
            "It is 25:61 at the old_well_(1, 2).",
        ]
    )
    | st.text(min_size=1, max_size=30),
    max_size=4,
)


def prompt(
    persona: Persona, heard: list[str], seen: list[str], memories: list[str], tools: tuple[Tool, ...] = WALKING
) -> ChatRequest:
    model = Scripted([turn_xml()])
    observation = here(*(("Elsa", text) for text in heard), seen=tuple(seen))
    recollection = mind_of(*(text for text in memories if text.strip()))
    asyncio.run(ConsciousAgent(persona, model).decide(observation, recollection, tools))
    return model.requests[0]


@settings(deadline=None, max_examples=60)
@given(st.sampled_from([NILS, LOST, BOUND]), phrases, phrases, phrases, st.sampled_from([WALKING, (SAY,)]))
def test_the_same_prompt_has_the_same_answer_and_always_a_valid_one(
    persona: Persona, heard: list[str], seen: list[str], memories: list[str], tools: tuple[Tool, ...]
) -> None:
    request = prompt(persona, heard, seen, memories, tools)
    answers: set[str] = set()
    for used in (Rehearsal(), Rehearsal()):
        asyncio.run(used.complete(prompt(LOST, [], [], [])))
        answers.add(asyncio.run(used.complete(request)).text)

    [answer] = answers
    assert parse_turn(answer).call.tool


# --- as a second mind -------------------------------------------------------------------------------------------------


async def test_a_whole_turn_can_be_rehearsed_both_minds_by_the_same_rules(open_mind: Minds) -> None:
    model = Rehearsal()
    agent = Agent(ConsciousAgent(LOST, model), open_mind(model=model, persona=LOST))

    told = here(("Elsa", "Nils, I saw the tin_whistle at (200, 320)."), seen=(ELSA_NEAR,))
    thanks = await agent.think(told, WALKING)
    first = await agent.reflect(thanks, said(words(thanks.decision.call), speaker="Nils", to="Elsa"))
    later = replace(here(seen=(ELSA_FAR,)), turn="t2", intentions=LOST.wishes)
    second = await agent.think(later, WALKING)

    assert first.problems == ()
    assert [call.purpose for call in first.calls] == [Purpose.QUERIES, Purpose.TURN, Purpose.MEMORY]
    assert {call.model for call in first.calls} == {"rehearsal"}
    [memory] = first.remembered.written
    assert memory.summary == "Elsa: Nils, I saw the tin_whistle at (200, 320)."
    assert memory.provenance.speaker == "Elsa"
    assert second.recollection.problems == ()
    assert [flashback.memory for flashback in second.recollection] == [memory]
    assert second.decision.call == ToolCall(tool="move_to", arguments={"x": "200", "y": "320"})


async def test_of_a_turn_in_which_nothing_was_said_it_remembers_nothing(open_mind: Minds) -> None:
    mind = open_mind(model=Rehearsal())

    remembered = await mind.remember(Exchange(observation=here(seen=(WHISTLE_FAR,))))

    assert (remembered.written, remembered.problems) == ((), ())


def legal(text: str) -> str:
    """Without what XML can't hold, white space and case aside."""
    return re.sub("[^\\x21-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "", text)


@settings(deadline=None, max_examples=60)
@given(phrases, st.sampled_from([Purpose.QUERIES, Purpose.MEMORY]))
def test_whatever_is_perceived_its_xml_is_valid(texts: list[str], purpose: Purpose) -> None:
    observation = here(*(("Elsa", text) for text in texts), seen=tuple(texts))
    if purpose is Purpose.QUERIES:
        system = prompts.fill("queries", persona=render_persona(NILS))
        user = prompts.fill("queries_input", situation=render_situation(observation))
    else:
        system = prompts.fill("memory", persona=render_persona(NILS), recent="None yet.")
        exchange = render_exchange(observation, None, said("I see.", speaker="Nils"), "Nils")
        user = prompts.fill("memory_input", exchange=exchange, flashbacks=render_flashbacks(()))
    request = ChatRequest(messages=conversation(system, user), purpose=purpose, temperature=0)

    completion = asyncio.run(Rehearsal().complete(request))

    if purpose is Purpose.MEMORY:
        assert len(parse_memories(completion.text).drafts) == 1
    elif queries(observation):
        asked = [query.text for query in parse_queries(completion.text).queries]
        assert 1 <= len(asked) <= 3
        assert any(legal(asked[0]) in legal(visible(text)) for text in texts)


async def test_it_says_what_it_is_and_holds_nothing_open() -> None:
    model = Rehearsal()

    completion = await model.complete(
        ChatRequest(
            messages=conversation(
                prompts.fill("queries", persona=render_persona(NILS)),
                prompts.fill("queries_input", situation=render_situation(here(("Elsa", "Good morning.")))),
            ),
            purpose=Purpose.QUERIES,
            temperature=0,
        )
    )
    await model.aclose()

    assert model.name == completion.model == "rehearsal"
    [query] = parse_queries(completion.text).queries
    assert query.search_type is SearchType.HYBRID
