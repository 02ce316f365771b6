"""Addresses of Weaviate servers as a user types them."""

from __future__ import annotations

import pytest

from simuverse.errors import SettingsError
from simuverse.memory.stores.weaviate_address import Address, Layout, StoreAddress, parse_headers, parse_key


@pytest.mark.parametrize(
    ("typed", "url", "grpc"),
    [
        ("http://localhost:8080", "http://localhost:8080", "localhost:50051"),
        ("http://localhost", "http://localhost:8080", "localhost:50051"),
        ("http://localhost:9090?grpc_port=9091", "http://localhost:9090", "localhost:9091"),
        ("http://a.example?grpc_host=b.example", "http://a.example:8080", "b.example:50051"),
        ("https://a.example", "https://a.example:443", "a.example:50051"),
        ("https://a.example?grpc_host=grpc.a.example", "https://a.example:443", "grpc.a.example:443"),
        ("https://x1.c0.weaviate.cloud", "https://x1.c0.weaviate.cloud:443", "grpc-x1.c0.weaviate.cloud:443"),
        ("http://[::1]:8080/", "http://[::1]:8080", "[::1]:50051"),
    ],
)
def test_both_ports_are_found(typed: str, url: str, grpc: str) -> None:
    address = Address.parse(typed)
    assert (address.url, address.grpc) == (url, grpc)
    assert address.secure == url.startswith("https")


def test_each_of_several_addresses_has_its_own_options() -> None:
    found = StoreAddress.parse("http://localhost:8080, http://localhost:8081?grpc_port=50052").addresses
    assert [one.grpc for one in found] == ["localhost:50051", "localhost:50052"]


def test_how_memories_are_kept_is_said_once_for_all_addresses() -> None:
    found = StoreAddress.parse("http://a?layout=tenants,http://b?grpc_host=c.example&replication=3")
    assert (found.layout, found.replication) == (Layout.TENANTS, 3)
    assert [one.grpc for one in found.addresses] == ["a:50051", "c.example:50051"]
    again = StoreAddress.parse("http://a?layout=tenants,http://b?layout=tenants")
    assert (again.layout, again.replication) == (Layout.TENANTS, None)
    assert StoreAddress.parse("http://a").layout is None


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("http://a?layout=rooms", "layout is 'rooms'; it takes collections or tenants"),
        ("http://a?layout=", "it takes collections or tenants"),
        ("http://a?replication=0", "replication is '0'; it must be 1 to 99"),
        ("http://a?replication=three", "1 to 99"),
        ("http://a?layout=tenants,http://b?layout=collections", "layout is said twice and differently"),
        ("http://a?replicas=3", "unknown option replicas"),
        ("http://[a?layout=tenants", "can't be read"),
    ],
)
def test_what_can_t_be_meant_of_a_store_is_refused(typed: str, why: str) -> None:
    with pytest.raises(SettingsError, match=why):
        StoreAddress.parse(typed)


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("localhost:8080", "not the address"),
        ("ftp://localhost", "not the address"),
        ("http://", "not the address"),
        ("http://localhost/v1", "not the address"),
        ("http://localhost:port", "can't be read"),
        ("http://localhost?grpc_port=x", "1 to 65535"),
        ("http://localhost?grpc_port=0", "1 to 65535"),
        ("http://localhost?grcp_port=1", "unknown option grcp_port"),
        ("http://localhost:50051", "two: give the other"),
        ("", "not the address"),
    ],
)
def test_what_is_no_address_is_refused(typed: str, why: str) -> None:
    with pytest.raises(SettingsError, match=why):
        Address.parse(typed)


@pytest.mark.parametrize(
    "typed",
    [
        "http://user:sEcret-key@localhost:8080",
        "http://sEcret-key@localhost:8080",
        "http://user:sEcret/key@localhost:8080",
        "http://user:sEcret,key@localhost:8080",
        "http://sEcret-key%40localhost:8080",
        "sEcret-key@localhost:8080",
        "localhost:8080?grpc_host=sEcret-key@localhost",
        "http://localhost:8080?api_key=sEcret-key",
        "http://localhost:8080?api_key=sEcret,key",
        "http://localhost:8080?layout=tenants&api_key=sEcret-key,http://localhost:8081",
        "http://localhost:8080?sEcret-key",
        "localhost:8080?api_key=sEcret-key",
        "http://localhost:8080#sEcret-key",
        "http://localhost:sEcret-key",
        "http://localhost:50051?key=sEcret",
    ],
)
def test_a_key_in_an_address_is_refused_and_not_repeated(typed: str) -> None:
    for parse in (Address.parse, StoreAddress.parse):
        with pytest.raises(SettingsError, match=r"set (?:as )?WEAVIATE_API_KEY|Write it like") as caught:
            parse(typed)
        assert "sEcr" not in str(caught.value)
        assert "key@" not in str(caught.value)


def test_a_key_is_taken_without_the_blanks_around_it() -> None:
    assert parse_key(" sEcret key\n") == "sEcret key"
    assert parse_key(None) is parse_key(" \n") is None


@pytest.mark.parametrize("key", ["sEcret-a\nsEcret-b", "sEcret\tb", "sEcret-schlüssel", "sEcret\0", "sEcret\udcff"])
def test_a_key_that_can_t_be_sent_is_refused_and_not_repeated(key: str) -> None:
    with pytest.raises(SettingsError, match="WEAVIATE_API_KEY holds a line break, an accented letter") as caught:
        parse_key(key)
    assert "sEcr" not in str(caught.value)


def test_headers_are_read_as_they_are_written() -> None:
    assert parse_headers("X-Proxy: village; Cookie: a=b, c:d ;") == {"X-Proxy": "village", "Cookie": "a=b, c:d"}
    assert parse_headers("") == {}


@pytest.mark.parametrize("text", ["sEcret", ": sEcret", "Two words: sEcret", "X-Ok: 1; X-Bad: a\nsEcret", "X: sEcrét"])
def test_headers_that_can_t_be_read_are_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(SettingsError, match=r"header [12] of weaviate_headers can't be read") as caught:
        parse_headers(text)
    assert "sEcr" not in str(caught.value)
