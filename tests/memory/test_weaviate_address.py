"""Addresses of Weaviate servers as a user types them."""

from __future__ import annotations

import pytest

from simuverse.errors import SettingsError
from simuverse.memory.stores.weaviate_address import Address


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
    found = Address.parse_all("http://localhost:8080, http://localhost:8081?grpc_port=50052")
    assert [one.grpc for one in found] == ["localhost:50051", "localhost:50052"]


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


def test_a_key_in_an_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(SettingsError, match="set WEAVIATE_API_KEY") as caught:
        Address.parse("http://user:sEcret-key@localhost:8080")
    assert "sEcret" not in str(caught.value)
