"""Scores against numbers worked out by hand, to four decimals, and what must hold for any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simuverse.errors import SettingsError, UsageError
from simuverse.memory.records import Category, Memory, Provenance, Score, Source
from simuverse.memory.scoring import (
    DEFAULT_PRESET,
    PRESETS,
    Preset,
    Recency,
    Since,
    Weighed,
    Weights,
    explain,
    importance_from,
    importance_to,
    preset,
    reweighted,
    score_all,
    score_columns,
)

NOW = datetime(2026, 3, 18, 12, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def memory(
    *, importance: int = 5, created: timedelta = timedelta(), accessed: timedelta | None = None, anchored: bool = False
) -> Memory:
    """``created`` and ``accessed`` are how long ago."""
    return Memory(
        id=UUID(int=1),
        owner="Jade",
        summary="Jamal hid the kite behind the bench.",
        category=Category.OBSERVATION,
        importance=importance,
        created_at=NOW - created,
        last_accessed_at=NOW - (created if accessed is None else accessed),
        provenance=Provenance(source=Source.OBSERVED),
        anchored=anchored,
    )


def weighed(kept: Memory, relevance: float = 0.5, cosine: float = 0.5) -> Weighed:
    return Weighed(memory=kept, relevance=relevance, cosine=cosine)


def totals(candidates: Sequence[Weighed], name: str, *, step: timedelta = timedelta(minutes=1)) -> list[float]:
    return [score.total for score in score_all(candidates, preset(name), now=NOW, step=step)]


THREE = [
    weighed(memory(importance=8, created=10 * DAY, accessed=HOUR), relevance=1.0, cosine=0.8),
    weighed(memory(importance=2, created=20 * DAY, accessed=10 * HOUR), relevance=0.6, cosine=0.5),
    weighed(memory(importance=5, created=5 * DAY, accessed=100 * HOUR), relevance=0.2, cosine=-0.1),
]


def test_park() -> None:
    # relevance 1 .5 0; importance 1 0 .5; recency .995^(1 10 100) = .995 .951110 .605770, stretched 1 .887239 0
    assert totals(THREE, "park") == pytest.approx([3.0, 1.387239, 0.5], abs=1e-4)


def test_generative_agents() -> None:
    # recency .99^(1 2 3) = .99 .9801 .970299, stretched 1 .497487 0; 3 + 2 + .5; 1.5 + 0 + .248744; 0 + 1 + 0
    assert totals(THREE, "generative_agents") == pytest.approx([5.5, 1.748744, 1.0], abs=1e-4)


def test_interview() -> None:
    # steps of an hour: .99^(1 10 100) = .99 .904382 .366032, stretched 1 .862782 0; 3 + .5 + .5; 1.5 + 0 + .431391; .25
    assert totals(THREE, "interview", step=HOUR) == pytest.approx([4.0, 1.931391, 0.25], abs=1e-4)


def test_interview_on_the_figures_it_was_published_with() -> None:
    # the pool holds others too: one with the lowest relevance and importance
    scores = score_columns(
        preset("interview"),
        relevance=[1.00, 0.85, 0.89, 0.86, 0.75, 0.0],
        importance=[30, 85, 65, 45, 75, 10],
        age=[7.0] * 6,
    )
    assert [score.total for score in scores[:5]] == pytest.approx([3.38, 3.31, 3.27, 3.07, 2.94], abs=0.02)
    assert {score.recency.scaled for score in scores} == {0.5}


def test_companion() -> None:
    # half-life a week since last access: .5^(1/168) = .995883, .5^(10/168) = .959582, .5^(100/168) = .661929
    # .65*.8 + .1*.8 + .25*.995883; .65*.5 + .1*.2 + .25*.959582; -.065 + .05 + .25*.661929
    assert totals(THREE, "companion") == pytest.approx([0.848971, 0.584896, 0.150482], abs=1e-4)


def test_episodic() -> None:
    # steps of a day since creation: .995^(10 20 5) = .951110 .904610 .975249, stretched .658272 0 1; importance 1 0 .5
    assert totals(THREE, "episodic", step=DAY) == pytest.approx([1.658272, 0.0, 1.5], abs=1e-4)


def test_balanced() -> None:
    # .5^(10/7) = .371499, .5^(20/7) = .138011, .5^(5/7) = .609507; importance 7/9 1/9 4/9
    # 1 + .155556 + .018575; .6 + .022222 + .006901; .2 + .088889 + .030475
    assert totals(THREE, "balanced") == pytest.approx([1.174130, 0.629123, 0.319364], abs=1e-4)


def test_the_presets_and_their_weights() -> None:
    weights = {name: (p.weights.relevance, p.weights.importance, p.weights.recency) for name, p in PRESETS.items()}
    assert weights == {
        "park": (1, 1, 1),
        "generative_agents": (3, 2, 0.5),
        "interview": (3, 0.5, 0.5),
        "companion": (0.65, 0.10, 0.25),
        "episodic": (0, 1, 1),
        "balanced": (1, 0.2, 0.05),
    }
    assert DEFAULT_PRESET == "balanced"


def test_an_unknown_preset_is_refused_with_those_there_are() -> None:
    with pytest.raises(
        SettingsError, match="park, generative_agents, interview, companion, episodic, balanced"
    ) as info:
        preset("parc")
    assert isinstance(info.value, UsageError)


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("ago", [timedelta(minutes=1), HOUR, DAY, 30 * DAY])
def test_of_memories_alike_the_newest_scores_highest_and_the_oldest_lowest(name: str, ago: timedelta) -> None:
    new, old, older = score_all([weighed(memory(created=ago * n)) for n in (0, 1, 2)], preset(name), now=NOW)
    assert new.recency.scaled > old.recency.scaled > older.recency.scaled
    assert new.total > old.total >= older.total


@pytest.mark.parametrize("name", ["park", "generative_agents", "interview", "companion"])
def test_what_was_recalled_lately_is_fresh_again_where_access_counts(name: str) -> None:
    recalled, left_alone = totals([weighed(memory(created=9 * DAY, accessed=HOUR)), weighed(memory(created=DAY))], name)
    assert recalled > left_alone


@pytest.mark.parametrize("name", ["episodic", "balanced"])
def test_recall_does_not_make_a_memory_younger_where_creation_counts(name: str) -> None:
    recalled, left_alone = totals([weighed(memory(created=9 * DAY, accessed=HOUR)), weighed(memory(created=DAY))], name)
    assert recalled < left_alone


def test_memories_of_one_moment_share_a_rank_whatever_their_order() -> None:
    same = [weighed(memory(created=HOUR)), weighed(memory(created=2 * HOUR)), weighed(memory(created=HOUR))]
    first, _, third = score_all(same, preset("generative_agents"), now=NOW)
    assert first == third
    assert first.recency.raw == pytest.approx(0.99)


@pytest.mark.parametrize("name", PRESETS)
def test_an_anchored_memory_scores_after_a_year_as_on_its_first_day(name: str) -> None:
    others = [weighed(memory(created=HOUR)), weighed(memory(created=DAY))]
    young = totals([weighed(memory(anchored=True)), *others], name)[0]
    assert totals([weighed(memory(created=365 * DAY, anchored=True)), *others], name)[0] == young
    assert totals([weighed(memory(created=365 * DAY)), *others], name)[0] < young


def test_times_in_the_future_count_as_now() -> None:
    ahead, now = score_all([weighed(memory(created=-DAY)), weighed(memory())], preset("balanced"), now=NOW)
    assert ahead == now


def test_absolute_scores_stay_when_an_unrelated_memory_joins_and_relative_ones_move() -> None:
    pair = THREE[:2]
    unrelated = weighed(memory(importance=1, created=300 * DAY), relevance=0.0, cosine=-0.5)
    for name in ("companion", "balanced"):
        assert totals([*pair, unrelated], name)[:2] == totals(pair, name)
    for name in ("park", "generative_agents", "interview", "episodic"):
        assert totals([*pair, unrelated], name)[:2] != pytest.approx(totals(pair, name))


@pytest.mark.parametrize("name", [n for n, p in PRESETS.items() if p.scaling == "min_max"])
def test_equal_values_give_the_midpoint(name: str) -> None:
    for score in score_all([weighed(memory(created=HOUR)) for _ in range(3)], preset(name), now=NOW):
        assert (score.relevance.scaled, score.importance.scaled, score.recency.scaled) == (0.5, 0.5, 0.5)


def test_old_memories_are_told_apart_however_long_ago_it_all_was() -> None:
    long_ago = 3650 * DAY
    newer, older = totals([weighed(memory(created=long_ago)), weighed(memory(created=long_ago + HOUR))], "interview")
    assert newer > older


def test_balanced_lets_importance_and_recency_decide_among_the_equally_relevant_only() -> None:
    dull, vivid = memory(importance=1, created=999 * DAY), memory(importance=10)
    near = totals([weighed(dull, relevance=0.55), weighed(vivid, relevance=0.5)], "balanced")
    far = totals([weighed(dull, relevance=0.76), weighed(vivid, relevance=0.5)], "balanced")
    assert near[0] < near[1]
    assert far[0] > far[1]


def test_a_half_life_can_be_chosen() -> None:
    day = replace(preset("companion"), recency=Recency(decay=0.5, per=DAY, since=Since.LAST_ACCESS))
    assert [s.recency.raw for s in score_all([weighed(memory(created=2 * DAY))], day, now=NOW)] == [0.25]


def test_no_candidates_give_no_scores() -> None:
    for name in PRESETS:
        assert list(score_all([], preset(name), now=NOW)) == []


def test_a_score_explains_itself_in_one_line() -> None:
    line = explain(score_all(THREE, preset("interview"), now=NOW, step=HOUR)[1])
    assert line == "interview 1.93 = relevance 3 x 0.50 + importance 0.5 x 0.00 + recency 0.5 x 0.86"


def test_moving_the_weights_reorders_without_scoring_again() -> None:
    scores = score_all(THREE, preset("park"), now=NOW)
    weights = Weights(relevance=3, importance=0.5, recency=0.5)
    moved: list[Score] = [reweighted(score, weights) for score in scores]
    again = score_all(THREE, replace(preset("park"), weights=weights), now=NOW)
    assert moved == list(again)


@pytest.mark.parametrize("bad", [(-1, 1, 1), (float("nan"), 1, 1), (1, float("inf"), 1), (0, 0, 0)])
def test_weights_that_make_no_sense_are_refused(bad: tuple[float, float, float]) -> None:
    with pytest.raises(ValueError, match="weight"):
        Weights(relevance=bad[0], importance=bad[1], recency=bad[2])


@pytest.mark.parametrize("decay", [0.0, 1.0, 1.01, -0.5, float("nan")])
def test_a_decay_that_does_not_decay_is_refused(decay: float) -> None:
    with pytest.raises(ValueError, match="decay"):
        Recency(decay=decay, per=HOUR, since=Since.CREATION)


def test_durations_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match="decay per"):
        Recency(decay=0.5, per=timedelta(), since=Since.CREATION)
    with pytest.raises(ValueError, match="step"):
        score_all([], preset("interview"), now=NOW, step=timedelta())


def test_a_naive_now_is_refused() -> None:
    with pytest.raises(ValueError, match="time zone"):
        score_all([], preset("park"), now=NOW.replace(tzinfo=None))


@pytest.mark.parametrize(
    ("value", "low", "high", "importance"),
    [
        (1, 1, 5, 1), (2, 1, 5, 3), (3, 1, 5, 6), (4, 1, 5, 8), (5, 1, 5, 10),
        (0.0, 0, 1, 1), (0.5, 0, 1, 6), (1.0, 0, 1, 10),
        (0, 0, 100, 1), (30, 0, 100, 4), (85, 0, 100, 9), (100, 0, 100, 10),
        (7, 1, 10, 7),
    ],
)  # fmt: skip
def test_importance_of_other_scales(value: float, low: float, high: float, importance: int) -> None:
    assert importance_from(value, low=low, high=high) == importance


def test_importance_on_other_scales() -> None:
    assert importance_to(10, low=1, high=5) == 5
    assert importance_to(1, low=0, high=100) == 0
    assert importance_to(4, low=0, high=1) == pytest.approx(1 / 3)


@pytest.mark.parametrize(("low", "high"), [(1, 5), (0, 1), (0, 100), (1, 10)])
def test_importance_survives_the_way_there_and_back(low: float, high: float) -> None:
    for importance in range(1, 11):
        assert importance_from(importance_to(importance, low=low, high=high), low=low, high=high) == importance
    if (low, high) == (1, 5):
        assert [round(importance_to(importance_from(v, low=1, high=5), low=1, high=5)) for v in range(1, 6)] == [
            1, 2, 3, 4, 5,
        ]  # fmt: skip


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan")])
def test_importance_outside_its_scale_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="outside"):
        importance_from(value, low=0, high=1)


MEMORIES = st.builds(
    memory,
    importance=st.integers(1, 10),
    created=st.timedeltas(timedelta(), 40_000 * DAY),
    anchored=st.booleans(),
)
CANDIDATES = st.lists(st.builds(weighed, MEMORIES, st.floats(0, 1), st.floats(-1, 1)), max_size=6)


@given(CANDIDATES, st.sampled_from(sorted(PRESETS)))
def test_scores_are_bounded_and_their_parts_add_up(candidates: list[Weighed], name: str) -> None:
    chosen: Preset = preset(name)
    most = chosen.weights.relevance + chosen.weights.importance + chosen.weights.recency
    for score in score_all(candidates, chosen, now=NOW):
        assert -chosen.weights.relevance - 1e-9 <= score.total <= most + 1e-9
        assert sum(score.parts.values()) == pytest.approx(score.total)


@given(CANDIDATES, st.sampled_from(sorted(PRESETS)))
def test_the_order_of_the_candidates_changes_no_score(candidates: list[Weighed], name: str) -> None:
    forwards = score_all(candidates, preset(name), now=NOW)
    backwards = score_all(candidates[::-1], preset(name), now=NOW)
    assert backwards[::-1] == list(forwards)
