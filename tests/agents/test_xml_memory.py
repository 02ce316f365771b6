"""A subconscious's memory, from a model's XML."""

from __future__ import annotations

import pytest

from simuverse.agents.xml import ParsedMemories, parse_memories
from simuverse.errors import MalformedReply
from simuverse.memory.records import Category, MemoryDraft


def memory(
    *,
    summary: str = "<summary>Ines found a coin.</summary>",
    category: str = "<category>observation</category>",
    keywords: str = "<keywords>coin</keywords>",
    importance: str = "<importance>2</importance>",
) -> str:
    return f"<memory>{summary}{category}{keywords}<critical_information/>{importance}</memory>"


def draft_of(reply: str, *, last_attempt: bool = False) -> MemoryDraft:
    (draft,) = parse_memories(reply, last_attempt=last_attempt).drafts
    return draft


def problem_of(reply: str, *, last_attempt: bool = False) -> str:
    with pytest.raises(MalformedReply) as caught:
        parse_memories(reply, last_attempt=last_attempt)
    return str(caught.value)


@pytest.mark.parametrize(
    "reply",
    [
        "<nothing_to_remember/>",
        "<nothing_to_remember></nothing_to_remember>",
        "Nothing new. <nothing_to_remember />",
        "<memory><nothing_to_remember/></memory>",
    ],
)
def test_nothing_to_remember_is_no_draft(reply: str) -> None:
    assert parse_memories(reply).drafts == ()


def test_nothing_to_remember_beside_a_memory_is_left_out() -> None:
    parsed = parse_memories(memory() + "<nothing_to_remember/>")
    assert len(parsed.drafts) == 1
    assert parsed.notes == ("<nothing_to_remember/> stands beside a memory and is left out",)


def test_several_memories_are_all_read_up_to_three() -> None:
    reply = "\n".join(memory(summary=f"<summary>Coin {n}.</summary>") for n in range(5))
    parsed = parse_memories(reply)
    assert [draft.summary for draft in parsed.drafts] == ["Coin 0.", "Coin 1.", "Coin 2."]
    assert parsed.notes == ("line 4: 2 more memories are left out; 3 are kept",)


@pytest.mark.parametrize("category", list(Category))
def test_each_of_the_eight_categories_is_read(category: Category) -> None:
    assert draft_of(memory(category=f"<category> {category.title()}. </category>")).category is category


@pytest.mark.parametrize("said", ["<category>gossip</category>", "<category/>", "<category>plan, action</category>"])
def test_an_unknown_category_goes_back_with_the_eight_named(said: str) -> None:
    problem = problem_of(memory(category=said))
    assert problem.startswith("line 1: <category> says '")
    assert all(category in problem for category in Category)


def test_a_missing_category_goes_back() -> None:
    assert problem_of(memory(category="")) == "line 1: <memory> lacks <category>."


@pytest.mark.parametrize(
    ("said", "flag"), [("<category>gossip</category>", "category_unknown:gossip"), ("", "category_unknown:")]
)
def test_an_unknown_category_in_the_last_attempt_is_an_observation_with_a_flag(said: str, flag: str) -> None:
    parsed = parse_memories(memory(category=said), last_attempt=True)
    assert parsed.drafts[0].category is Category.OBSERVATION
    assert parsed.drafts[0].flags == (flag,)
    assert parsed.notes == (f"line 1: {flag}",)


@pytest.mark.parametrize(
    ("said", "importance"),
    [
        ("8", 8),
        (" 8.0 ", 8),
        ("8/10", 8),
        ("8 / 10", 8),
        ("10/10", 10),
        ("8 out of 10", 8),
        ("about an 8, I think", 8),
        ("on a scale of 1-10: 7.", 7),
        ("8 (1 to 10)", 8),
        ("８", 8),
        ("٣", 3),
        ("**4**", 4),
    ],
)
def test_importance_is_read_with_words_around(said: str, importance: int) -> None:
    draft = draft_of(memory(importance=f"<importance>{said}</importance>"))
    assert (draft.importance, draft.flags) == (importance, ())


@pytest.mark.parametrize(("said", "importance"), [("0", 1), ("-3", 1), ("11", 10), ("85/100", None), ("9" * 60, 10)])
def test_importance_out_of_range_is_clamped_and_flagged(said: str, importance: int | None) -> None:
    reply = memory(importance=f"<importance>{said}</importance>")
    if importance is None:
        assert f"<importance> says '{said}'" in problem_of(reply)
        return
    parsed = parse_memories(reply)
    assert parsed.drafts[0].importance == importance
    assert parsed.drafts[0].flags[0].startswith(f"importance_clamped:{said[:30]}")
    assert parsed.notes == (f"line 1: {parsed.drafts[0].flags[0]}",)


UNREADABLE = ["high", "", "8.5", "7-8", "3 or 4", "eight", "1-10", "v2", "1.2.3", "9" * 200]


@pytest.mark.parametrize("said", UNREADABLE)
def test_importance_that_is_no_whole_number_goes_back(said: str) -> None:
    problem = problem_of(memory(importance=f"<importance>{said}</importance>"))
    assert problem.startswith("line 1: <importance> says '")
    assert problem.endswith("; it must be one of 1, 2, 3, 4, 5, 6, 7, 8, 9, 10.")


def test_a_missing_importance_goes_back() -> None:
    assert problem_of(memory(importance="")) == "line 1: <memory> lacks <importance>."


@pytest.mark.parametrize("said", [f"<importance>{said}</importance>" for said in UNREADABLE] + [""])
def test_unreadable_importance_in_the_last_attempt_is_the_lowest_with_a_flag(said: str) -> None:
    draft = draft_of(memory(importance=said), last_attempt=True)
    assert draft.importance == 1
    assert len(draft.flags) == 1
    assert draft.flags[0].startswith("importance_unreadable:")
    assert len(draft.flags[0]) < 70


@pytest.mark.parametrize("last_attempt", [False, True])
@pytest.mark.parametrize(
    ("summary", "problem"),
    [
        ("", "line 1: <memory> lacks <summary>."),
        ("<summary> </summary>", "line 1: <summary> is blank. Say in one or two sentences what is to be remembered."),
        ("<summary/>", "line 1: <summary> is blank. Say in one or two sentences what is to be remembered."),
    ],
)
def test_without_a_summary_there_is_no_memory(summary: str, problem: str, last_attempt: bool) -> None:
    assert problem_of(memory(summary=summary), last_attempt=last_attempt) == problem


def test_of_two_memories_a_broken_one_costs_the_other_nothing_in_the_last_attempt() -> None:
    reply = memory(summary="") + memory()
    assert problem_of(reply) == "line 1: <memory> lacks <summary>."
    assert parse_memories(reply, last_attempt=True) == ParsedMemories(
        drafts=(draft_of(memory()),), notes=("a memory is left out: line 1: <memory> lacks <summary>.",)
    )


@pytest.mark.parametrize(
    ("said", "keywords"),
    [
        ("coin, market , well", ("coin", "market", "well")),
        ("coin; market;well", ("coin", "market", "well")),
        ("\n- coin\n- market\n* well\n", ("coin", "market", "well")),
        ("<keyword>coin</keyword><keyword>market</keyword>", ("coin", "market")),
        ("<item>coin</item>\n <item>old market</item>", ("coin", "old market")),
        ("coin, Coin, COIN, market", ("coin", "market")),
        ("硬币、市场，水井", ("硬币", "市场", "水井")),
        (", ; ,", ()),
        ("R&amp;D, &lt;b&gt;", ("R&D", "<b>")),
    ],
)
def test_keywords_are_read_from_any_list(said: str, keywords: tuple[str, ...]) -> None:
    assert draft_of(memory(keywords=f"<keywords>{said}</keywords>")).keywords == keywords


def test_missing_keywords_and_critical_information_are_blank() -> None:
    draft = draft_of("<memory><summary>A.</summary><category>plan</category><importance>5</importance></memory>")
    assert (draft.keywords, draft.critical_information) == ((), "")


def test_keywords_past_the_eighth_are_left_out_and_noted() -> None:
    parsed = parse_memories(memory(keywords="<keywords>a,b,c,d,e,f,g,h,i,j</keywords>"))
    assert parsed.drafts[0].keywords == tuple("abcdefgh")
    assert parsed.notes == ("line 1: 2 more keywords are left out; 8 are kept",)
