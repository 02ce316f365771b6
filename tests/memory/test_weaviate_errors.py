"""What the Weaviate client raises, and what is made of it. No server is needed."""

from __future__ import annotations

import re
from uuid import UUID

import grpc  # type: ignore[import-untyped]
import httpx
import pytest
from grpc.aio import AioRpcError, Metadata  # type: ignore[import-untyped]
from weaviate import exceptions

from simuverse.errors import StoreError, StoreMismatch, StoreRefused, StoreUnavailable
from simuverse.memory.stores.weaviate_address import Address
from simuverse.memory.stores.weaviate_errors import (
    OURS,
    OUTSIDE,
    CollectionGone,
    batch_error,
    fault,
    outside_errors,
)

ADDRESS = Address(host="weaviate.example", port=8080, grpc_host="weaviate.example", grpc_port=50051)


def status(code: int, message: str = "") -> exceptions.UnexpectedStatusCodeError:
    answer = httpx.Response(code, json={"code": code, "message": message})
    return exceptions.UnexpectedStatusCodeError("Asked for something", answer)


def query(message: str) -> exceptions.WeaviateQueryError:
    return exceptions.WeaviateQueryError(message, "GRPC search")


def test_no_exception_of_the_client_is_forgotten() -> None:
    names = {
        one.__name__
        for one in vars(exceptions).values()
        if isinstance(one, type)
        and issubclass(one, Exception)
        and one.__module__ == exceptions.__name__
        and not one.__name__.startswith("_")
    }
    assert len(names) > 30
    assert names == (OUTSIDE.keys() | OURS) - {"HTTPError", "RpcError"}
    assert not OUTSIDE.keys() & OURS


@pytest.mark.parametrize(
    ("error", "kind", "cure"),
    [
        (exceptions.WeaviateConnectionError("refused"), StoreUnavailable, "start the server"),
        (exceptions.WeaviateStartUpError("no answer"), StoreUnavailable, "start the server"),
        (exceptions.WeaviateStartUpError("Weaviate version 1.20.1 is not supported"), StoreMismatch, "upgrade it"),
        (exceptions.WeaviateGRPCUnavailableError("v1.39.0"), StoreUnavailable, "grpc_port="),
        (exceptions.WeaviateTimeoutError("late"), StoreUnavailable, "in time"),
        (exceptions.WeaviateUnsupportedFeatureError("this", "1.20", "1.30"), StoreMismatch, "upgrade it"),
        (exceptions.AuthenticationFailedError("OpenID"), StoreRefused, "API keys on"),
        (status(403), StoreRefused, "rights"),
        (status(404), StoreUnavailable, "isn't Weaviate"),
        (status(422, "bad"), StoreRefused, "refuses what was asked"),
        (status(422, "shard is read-only"), StoreRefused, "disk is nearly full"),
        (status(429), StoreUnavailable, "too much"),
        (status(500, "no space left on device"), StoreUnavailable, "disk is full"),
        (status(500), StoreUnavailable, "fault of its own"),
        (status(503), StoreUnavailable, "isn't ready"),
        (query("could not find class Memories__Jade in schema"), CollectionGone, "ask the store for it again"),
        (status(422, 'invalid object: class "Memories__Jade" not found in schema'), CollectionGone, "ask the store"),
        (query("object search at index memories: tenant not active: '_Jade'"), StoreRefused, "set it ACTIVE again"),
        (status(422, "tenant not active: '_Jade'"), StoreRefused, "set it ACTIVE again"),
        (query("vector lengths don't match: 3 vs 16"), StoreMismatch, "another size"),
        (query("context deadline exceeded"), StoreUnavailable, "in time"),
        (query("something odd"), StoreUnavailable, "fault of its own"),
        (httpx.ConnectTimeout("slow"), StoreUnavailable, "start the server"),
        (httpx.ReadError("cut"), StoreUnavailable, "start the server"),
        (AioRpcError(grpc.StatusCode.UNAVAILABLE, Metadata(), Metadata()), StoreUnavailable, "start the server"),
        (AioRpcError(grpc.StatusCode.DEADLINE_EXCEEDED, Metadata(), Metadata()), StoreUnavailable, "in time"),
    ],
)
def test_each_fault_has_its_kind_and_its_cure(error: Exception, kind: type[StoreError], cure: str) -> None:
    with pytest.raises(StoreError, match=cure) as caught, outside_errors(ADDRESS, with_key=False):
        raise error
    assert type(caught.value) is kind
    assert "http://weaviate.example:8080" in str(caught.value)


@pytest.mark.parametrize(
    ("message", "with_key", "cure"),
    [
        ("anonymous access not enabled. Please authenticate", False, "set WEAVIATE_API_KEY"),
        ("unauthorized: invalid api key", True, "doesn't know the key: compare WEAVIATE_API_KEY"),
        ("no authentication scheme is configured (API Key or OIDC)", True, "takes no keys: unset WEAVIATE_API_KEY"),
    ],
    ids=["no key", "wrong key", "key to a server without keys"],
)
def test_each_form_of_401_has_a_cure_of_its_own(message: str, with_key: bool, cure: str) -> None:
    for error in (status(401, message), query(f"UNAUTHENTICATED {message}")):
        with pytest.raises(StoreRefused, match=cure), outside_errors(ADDRESS, with_key=with_key):
            raise error


def test_a_wrong_call_of_ours_is_raised_as_it_is() -> None:
    wrong = exceptions.WeaviateInvalidInputError("limit")
    assert fault(wrong, with_key=False) is None
    with pytest.raises(exceptions.WeaviateInvalidInputError), outside_errors(ADDRESS, with_key=False):
        raise wrong


def test_a_deadline_of_ours_is_no_answer() -> None:
    with pytest.raises(StoreUnavailable, match="in time"), outside_errors(ADDRESS, with_key=False):
        raise TimeoutError


def test_a_partly_failed_batch_names_what_failed() -> None:
    failed = {UUID(int=number): "store is read-only due to disk usage" for number in range(7)}
    error = batch_error(ADDRESS, failed, written=13)
    assert isinstance(error, StoreRefused)
    assert "7 of 20 memories weren't stored whole" in str(error)
    assert str(UUID(int=4)) in str(error)
    assert str(UUID(int=5)) not in str(error)


def test_a_long_message_of_the_client_is_cut() -> None:
    with pytest.raises(StoreUnavailable) as caught, outside_errors(ADDRESS, with_key=False):
        raise query("x" * 5000)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize(("said", "shown"), [("", "failed"), (".", "failed"), ("refused", "failed. Details: refused")])
def test_details_that_the_client_has_none_of_are_not_announced(said: str, shown: str) -> None:
    end = re.escape(f"(Connection to Weaviate {shown}).")
    with pytest.raises(StoreUnavailable, match=f"correct the address {end}$"), outside_errors(ADDRESS, with_key=False):
        raise exceptions.WeaviateConnectionError(said)
