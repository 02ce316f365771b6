"""Names of collections on a Weaviate server."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simuverse.memory.stores.weaviate_names import (
    LONG_NAMES,
    MAX_LENGTH,
    collection_name,
    is_hashed,
    owner_of,
    owner_of_tenant,
    tenant_name,
)
from tests.contracts.memory_store import ODD_OWNERS

ALLOWED = re.compile(r"[A-Z][_0-9A-Za-z]{0,254}")
ALLOWED_TENANT = re.compile(r"[A-Za-z0-9_-]{1,64}")
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


@given(OWNERS | ALIKE)
def test_a_tenant_s_name_is_allowed_and_tells_its_owner_unless_it_is_a_hash(owner: str) -> None:
    name = tenant_name(owner)
    assert ALLOWED_TENANT.fullmatch(name)
    assert owner_of_tenant(name) == (None if is_hashed(name) else owner)
    assert name != LONG_NAMES


def test_long_owners_have_tenants_of_their_own() -> None:
    assert tenant_name("Jade") == "_Jade"
    assert not is_hashed(tenant_name("x" * 64))
    names = [tenant_name(owner) for owner in ("x" * 65, "x" * 66, "橋" * 10, "橋" * 9 + "川")]
    assert all(map(is_hashed, names))
    assert all(map(ALLOWED_TENANT.fullmatch, names))
    assert len(set(names)) == 4
    assert owner_of_tenant(LONG_NAMES) is None


@given(ALIKE, ALIKE)
def test_no_two_owners_share_a_name_even_if_case_is_ignored(one: str, other: str) -> None:
    for named in (collection_name, tenant_name):
        same = named(one).lower() == named(other).lower()
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
