"""What is read, and what a memory's context becomes, when memories of an episode change."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from simuverse.memory.analysis import search_text
from simuverse.memory.records import Memory
from simuverse.memory.store import CONTEXT
from simuverse.memory.stores.weaviate_contexts import LONGEST, MOST, areas, context_texts, places_after
from tests.contracts.memory_reference import START, memory

PLACES = st.sets(st.tuples(st.sampled_from(["walk", "talk"]), st.integers(0, 500)), max_size=30)


def at(number: int, position: int, *, episode: str = "walk", forgotten: bool = False) -> Memory:
    return memory(
        f"Bell {number} rang.", number, episode=episode, position=position, forgotten_at=START if forgotten else None
    )


def contexts(*memories: Memory) -> list[str]:
    return list(context_texts({one.id: one for one in memories}, [one.id for one in memories]).values())


def test_a_context_is_what_lies_closely_before_in_the_same_episode() -> None:
    far, near, hidden, other, last = (
        at(1, 0),
        at(2, 1),
        at(3, 2, forgotten=True),
        at(4, 2, episode="talk"),
        at(5, 3),
    )
    assert contexts(far, near, hidden, other, last)[-1] == f"{search_text(last)} {search_text(near)}"


def test_without_an_episode_a_memory_stands_alone() -> None:
    one, other = at(1, 0, episode=""), at(2, 1, episode="")
    assert contexts(one, other) == [search_text(one), search_text(other)]


def test_a_change_reaches_as_far_as_a_context() -> None:
    assert places_after([at(1, 5)]) == {("walk", 5 + ahead) for ahead in range(CONTEXT + 1)}
    assert places_after([at(1, 5, episode="")]) == set()


@given(PLACES)
def test_all_that_tells_a_context_is_read_in_areas_that_are_small(places: set[tuple[str, int]]) -> None:
    read = {
        (episode, position)
        for area in areas(places)
        for episode in area.episodes
        for position in range(area.first, area.last + 1)
    }
    assert read >= {(episode, at - back) for episode, at in places for back in range(CONTEXT + 1)}
    assert all(area.last - area.first < LONGEST for area in areas(places))
    assert all(len(area.episodes) * (area.last - area.first + 1) <= MOST for area in areas(places))
    assert all(len(set(area.episodes)) == len(area.episodes) for area in areas(places))


def test_a_long_stretch_is_cut() -> None:
    lengths = [area.last - area.first + 1 for area in areas({("walk", at) for at in range(2, 250)})]
    assert lengths == [100, 100, 50]


def test_many_episodes_at_the_same_positions_are_read_at_once_and_what_lies_far_apart_is_not() -> None:
    [area] = areas({(f"talk {number}", at) for number in range(25) for at in range(20)})
    assert (sorted(area.episodes), area.last) == (sorted(f"talk {number}" for number in range(25)), 19)
    assert len(areas({("walk", 0), ("talk", 500)})) == 2
    assert len(areas({(f"talk {number}", at) for number in range(1_000) for at in range(20)})) > 1
