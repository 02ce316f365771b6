"""A subconscious's queries, from a model's XML."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from simuverse.agents.xml import parse_queries
from simuverse.errors import MalformedReply
from simuverse.memory.records import Category, MemoryFilter, MemoryQuery, SearchType


def query(filters: str = "", *, kind: str = "hybrid", keywords: str = "kite", text: str = "Where is the kite?") -> str:
    return (
        f"<query><search_type>{kind}</search_type><keywords>{keywords}</keywords>"
        f"<query_text>{text}</query_text>{filters}</query>"
    )


def reply(*queries: str) -> str:
    return "<memory_queries>\n" + "\n".join(queries) + "\n</memory_queries>"


def filter_of(filters: str) -> MemoryFilter:
    (parsed,) = parse_queries(reply(query(f"<filters>{filters}</filters>"))).queries
    return parsed.filter


def problem_of(*queries: str) -> str:
    with pytest.raises(MalformedReply) as caught:
        parse_queries(reply(*queries))
    return str(caught.value)


def test_a_query_is_read_with_all_its_filters() -> None:
    filters = (
        "<filters><category>plan</category><min_importance>4</min_importance><max_importance>9</max_importance>"
        "<since>2026-03-01T00:00:00Z</since><until>2026-03-02T12:30+02:00</until><about>Lotte</about></filters>"
    )
    assert parse_queries(reply(query(filters, kind="keyword", keywords="kite, hill"))).queries == (
        MemoryQuery(
            search_type=SearchType.KEYWORD,
            text="Where is the kite?",
            keywords=("kite", "hill"),
            filter=MemoryFilter(
                category=Category.PLAN,
                min_importance=4,
                max_importance=9,
                since=datetime(2026, 3, 1, tzinfo=UTC),
                until=datetime(2026, 3, 2, 10, 30, tzinfo=UTC),
                about="Lotte",
            ),
        ),
    )


def test_three_queries_are_kept_and_the_rest_is_noted() -> None:
    parsed = parse_queries(reply(*(query(text=f"Question {n}?") for n in range(5))))
    assert [q.text for q in parsed.queries] == ["Question 0?", "Question 1?", "Question 2?"]
    assert parsed.notes == ("line 5: 2 more queries are left out; 3 are run",)


def test_an_invalid_query_is_left_out_with_its_reason() -> None:
    parsed = parse_queries(reply(query(kind="fuzzy"), query(keywords="", text=" "), query()))
    assert [q.text for q in parsed.queries] == ["Where is the kite?"]
    assert parsed.notes == (
        "a query is left out: line 2: <search_type> says 'fuzzy'; it must be one of keyword, semantic, hybrid.",
        "a query is left out: line 3: a query needs text or keywords.",
    )


def test_without_a_valid_query_every_reason_is_given() -> None:
    assert problem_of(query(kind="fuzzy"), query(keywords="", text="")) == (
        "line 2: <search_type> says 'fuzzy'; it must be one of keyword, semantic, hybrid. "
        "line 3: a query needs text or keywords."
    )


def test_no_query_at_all_is_an_error() -> None:
    assert problem_of() == "line 1: <memory_queries> holds no <query>."


def test_roots_may_be_missing_or_repeated() -> None:
    assert len(parse_queries(query() + query()).queries) == 2
    assert len(parse_queries(reply(query()) + reply(query())).queries) == 2


def test_what_a_query_lacks_is_blank_and_its_type_hybrid() -> None:
    parsed = parse_queries("<memory_queries><query><query_text>Who flew it?</query_text></query></memory_queries>")
    assert parsed.queries == (MemoryQuery(search_type=SearchType.HYBRID, text="Who flew it?"),)
    assert parsed.notes == ("line 1: a query without a search type is run as hybrid",)


def test_search_types_are_read_in_any_case() -> None:
    parsed = parse_queries(reply(query(kind=" Semantic. "), query(kind="KEYWORD")))
    assert [q.search_type for q in parsed.queries] == [SearchType.SEMANTIC, SearchType.KEYWORD]


def test_blank_filters_ask_for_nothing() -> None:
    assert filter_of("<category/><min_importance> </min_importance><since></since><about/>") == MemoryFilter()


def test_filters_without_their_element_are_read() -> None:
    (parsed,) = parse_queries(reply(query("<category>plan</category><about>Lotte</about>"))).queries
    assert parsed.filter == MemoryFilter(category=Category.PLAN, about="Lotte")


def test_importance_in_filters_is_read_and_clamped_like_a_memorys() -> None:
    parsed = parse_queries(
        reply(
            query(
                "<filters><min_importance>at least 4/10</min_importance><max_importance>99</max_importance></filters>"
            )
        )
    )
    assert parsed.queries[0].filter == MemoryFilter(min_importance=4, max_importance=10)
    assert parsed.notes == ("line 2: max_importance_clamped:99",)


def test_a_time_without_a_zone_is_read_as_utc_and_noted() -> None:
    parsed = parse_queries(reply(query("<filters><since>2026-03-01</since></filters>")))
    assert parsed.queries[0].filter.since == datetime(2026, 3, 1, tzinfo=UTC)
    assert parsed.notes == ("line 2: <since> has no time zone and is read as UTC",)


@pytest.mark.parametrize(
    ("filters", "problem"),
    [
        ("<since>yesterday</since>", "line 2: <since> says 'yesterday'; write a time such as 2026-03-01T09:30Z,"),
        ("<until>0001-01-01T00:00+20:00</until>", "line 2: <until> says '0001-01-01T00:00+20:00'; write a time"),
        ("<category>gossip</category>", "line 2: <category> says 'gossip'; it must be one of conversation,"),
        ("<min_importance>high</min_importance>", "line 2: <min_importance> says 'high'; it must be one of 1,"),
        (
            "<min_importance>8</min_importance><max_importance>2</max_importance>",
            "line 2: min_importance 8 is above max_importance 2.",
        ),
        ("<place>hill</place>", "line 2: there is no filter <place>. Filters: category, min_importance,"),
    ],
)
def test_a_filter_that_makes_no_sense_makes_its_query_invalid(filters: str, problem: str) -> None:
    assert problem_of(query(f"<filters>{filters}</filters>")).startswith(problem)
