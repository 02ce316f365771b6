"""Names of collections on a Weaviate server."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simuverse.memory.stores.weaviate_names import MAX_LENGTH, collection_name, owner_of
from tests.contracts.memory_store import ODD_OWNERS

ALLOWED = re.compile(r"[A-Z][_0-9A-Za-z]{0,254}")
OWNERS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60)
ALIKE = st.text(st.sampled_from("aAbBjJ_0 2-é"), min_size=1, max_size=6)


def test_a_plain_name_can_be_read() -> None:
    assert collection_name("Jade") == "Memories__Jade"
    assert collection_name("old tomas") == "Memories_old_020_tomas"


@given(OWNERS | ALIKE)
def test_a_name_is_allowed_and_tells_its_owner(owner: str) -> None:
    name = collection_name(owner)
    assert ALLOWED.fullmatch(name)
    assert owner_of(name) == (owner if not name.startswith("Memories___") else None)


@given(ALIKE, ALIKE)
def test_no_two_owners_share_a_name_even_if_case_is_ignored(one: str, other: str) -> None:
    same = collection_name(one).lower() == collection_name(other).lower()
    assert same == (one == other)


def test_odd_owners_have_names_of_their_own() -> None:
    names = {collection_name(owner).lower() for owner in ["Jade", *ODD_OWNERS]}
    assert len(names) == len(ODD_OWNERS) + 1


def test_a_name_too_long_for_the_server_is_a_hash_that_no_other_owner_gets() -> None:
    first, second = collection_name("橋" * 200), collection_name("橋" * 199 + "川")
    for name in (first, second):
        assert ALLOWED.fullmatch(name)
        assert len(name) <= MAX_LENGTH
        assert owner_of(name) is None
    assert first != second


@pytest.mark.parametrize("name", ["Memories", "Memories_", "Other_jade", "Memories_a b", "Memories__", "Memories__0g_"])
def test_names_of_others_have_no_owner(name: str) -> None:
    assert owner_of(name) is None


@given(OWNERS)
def test_stores_of_two_prefixes_never_meet(owner: str) -> None:
    assert owner_of(collection_name(owner, prefix="Test1")) is None
