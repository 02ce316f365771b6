"""What is known of the ends of episodes."""

from __future__ import annotations

from dataclasses import replace

from simuverse.memory.records import Memory
from simuverse.memory.stores.weaviate_episodes import MOST, KnownEpisodes
from tests.contracts.memory_reference import memory


def told(number: int, *, episode: str = "a talk", position: int | None = None) -> Memory:
    place = number if position is None else position
    return replace(memory("The bell rang.", number), episode=episode, position=place)


def test_the_end_is_the_last_place_and_its_context() -> None:
    episodes = KnownEpisodes()
    memories = [told(number) for number in range(5)]
    episodes.put("a talk", memories, seen=7.0)
    end = episodes.end([told(5)])
    assert end is not None
    assert (end.position, end.seen) == (4, 7.0)
    assert list(end.memories.values()) == memories[2:]
    assert episodes.end([told(5, position=4), told(6, position=9)]) == end


def test_what_goes_elsewhere_or_into_several_episodes_has_no_known_end() -> None:
    episodes = KnownEpisodes()
    episodes.put("a talk", [told(3)], seen=0.0)
    assert episodes.end([told(2)]) is None
    assert episodes.end([told(4, episode="another")]) is None
    assert episodes.end([told(4), told(5, episode="another")]) is None
    episodes.drop(["a talk", "another"])
    assert episodes.end([told(4)]) is None


def test_what_is_in_no_episode_follows_on_nothing() -> None:
    episodes = KnownEpisodes()
    episodes.put("", [told(3, episode="")], seen=0.0)
    end = episodes.end([told(1, episode="")])
    assert end is not None
    assert end.memories == {}


def test_only_the_episodes_written_to_last_are_known() -> None:
    episodes = KnownEpisodes()
    for number in range(MOST + 1):
        episodes.put(f"talk {number}", [told(1, episode=f"talk {number}")], seen=0.0)
    assert episodes.end([told(2, episode="talk 0")]) is None
    assert episodes.end([told(2, episode="talk 1")]) is not None
