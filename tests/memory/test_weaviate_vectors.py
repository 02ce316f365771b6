"""Vectors that are kept so that a server needn't be asked again."""

from __future__ import annotations

from dataclasses import replace
from uuid import uuid4

import numpy as np

from simuverse.memory.store import Entry
from simuverse.memory.stores.weaviate_partition import Partition
from simuverse.memory.stores.weaviate_vectors import KnownVectors
from tests.contracts.memory_reference import entry, vector

JADE, MIRA = Partition("Memories", "_Jade"), Partition("Memories", "_Mira")


def test_a_vector_is_known_by_place_id_and_summary() -> None:
    known, one = KnownVectors(), entry("The bell rang.")
    known.put(JADE, one)
    found = known.get(JADE, replace(one.memory, importance=9))
    assert found is not None
    assert np.array_equal(found, one.vector)
    assert known.get(MIRA, one.memory) is None
    assert known.get(JADE, replace(one.memory, id=uuid4())) is None
    assert known.get(JADE, replace(one.memory, summary="The bell fell.")) is None


def test_a_later_vector_takes_the_place_of_an_earlier_one_until_it_is_dropped() -> None:
    known, one = KnownVectors(), entry("The bell rang.")
    known.put(JADE, one)
    known.put(JADE, Entry(memory=one.memory, vector=vector(9)))
    found = known.get(JADE, one.memory)
    assert found is not None
    assert np.array_equal(found, vector(9))
    known.drop(JADE, one.memory.id)
    known.drop(JADE, one.memory.id)
    assert known.get(JADE, one.memory) is None


def test_the_one_not_used_for_longest_makes_room() -> None:
    known, entries = KnownVectors(most=2), [entry("The bell rang.", number) for number in range(3)]
    known.put(JADE, entries[0])
    known.put(JADE, entries[1])
    known.get(JADE, entries[0].memory)
    known.put(JADE, entries[2])
    assert [known.get(JADE, one.memory) is not None for one in entries] == [True, False, True]
