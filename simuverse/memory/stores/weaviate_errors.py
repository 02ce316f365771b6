"""What the Weaviate client raises, in the terms of :mod:`simuverse.errors`: one table by the class's name.

Names, because the client is optional and loaded late. The same class may stand for many faults; then the status that
the server answered with, or the words it used, decide.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Generator, Mapping
from contextlib import contextmanager
from itertools import chain
from uuid import UUID

from simuverse.errors import StoreError, StoreMismatch, StoreRefused, StoreUnavailable
from simuverse.memory.stores.weaviate_address import Address

Fault = tuple[type[StoreError], str]


class CollectionGone(StoreRefused):
    """The server has no collection of that name."""


class AlreadyThere(StoreRefused):
    """The server has an object of that id."""


_NO_ANSWER = (
    StoreUnavailable,
    "nothing answers there; start the server (docker compose up), or correct the address",
)
_LATE = (StoreUnavailable, "it didn't answer in time; see whether it is overloaded, stopped or cut off")
_BROKEN = (StoreUnavailable, "it answers with a fault of its own; its log says which")
_NOT_WEAVIATE = (StoreUnavailable, "what answers there isn't Weaviate's interface; correct the address")
_REFUSED = (StoreRefused, "it refuses what was asked")
_FORBIDDEN = (
    StoreRefused,
    "the key lacks the right to this; give its user rights to read and write collections and data, by their names",
)
_TOO_OLD = (StoreMismatch, "the server is too old; upgrade it to Weaviate 1.30 or newer")
_OPEN_ID = (StoreRefused, "it wants a sign-in by OpenID, which isn't supported; turn API keys on in the server")

OUTSIDE: Mapping[str, Fault] = {
    "WeaviateConnectionError": _NO_ANSWER,
    "WeaviateStartUpError": _NO_ANSWER,
    "WeaviateGRPCUnavailableError": (
        StoreUnavailable,
        "its REST port answers and its gRPC port doesn't; open that port, or say where it is with ?grpc_port=",
    ),
    "WeaviateTimeoutError": _LATE,
    "WeaviateRetryError": _LATE,
    "WeaviateClosedClientError": (StoreUnavailable, "the connection is closed; open the store again"),
    "AuthenticationFailedError": _OPEN_ID,
    "MissingScopeError": _OPEN_ID,
    "InsufficientPermissionsError": _FORBIDDEN,
    "ResponseCannotBeDecodedError": _NOT_WEAVIATE,
    "EmptyResponseError": _NOT_WEAVIATE,
    "WeaviateUnsupportedFeatureError": _TOO_OLD,
    "UnexpectedStatusCodeError": _REFUSED,
    "WeaviateQueryError": _BROKEN,
    "WeaviateBatchError": _BROKEN,
    "WeaviateBatchSendError": _BROKEN,
    "WeaviateBatchStreamError": _BROKEN,
    "WeaviateBatchFailedToReestablishStreamError": _BROKEN,
    "WeaviateDeleteManyError": _BROKEN,
    "WeaviateInsertManyAllFailedError": _BROKEN,
    "WeaviateTenantGetError": _BROKEN,
    "HTTPError": _NO_ANSWER,
    "RpcError": _NO_ANSWER,
}
"""Faults of the outside, with what to do about each. The last two are of the libraries below the client."""

STATUS: Mapping[int, Fault] = {
    403: _FORBIDDEN,
    404: _NOT_WEAVIATE,
    408: _LATE,
    413: (StoreRefused, "it refuses a message of this size; raise GRPC_MAX_MESSAGE_SIZE, or write less at once"),
    429: (StoreUnavailable, "it is asked too much, or a limit of its own is reached; its log says which"),
    502: _NO_ANSWER,
    503: (StoreUnavailable, "it isn't ready yet; try again in some seconds"),
    504: _LATE,
}

WORDS: tuple[tuple[re.Pattern[str], Fault], ...] = (
    (
        re.compile(r"could not find class|not (?:present|found) in schema|class not found|tenant not found", re.I),
        (
            CollectionGone,
            "this collection is gone, erased or lost with the server's data; ask the store for it again, which makes "
            "an empty one. What waits in a run's folder goes out by `simuverse store deliver` when the run has ended",
        ),
    ),
    (
        re.compile(r"tenant not active", re.I),
        (
            StoreRefused,
            "someone set this tenant inactive; set it ACTIVE again, by the client's tenants.activate() or by PUT to "
            "/v1/schema/COLLECTION/tenants",
        ),
    ),
    (re.compile(r"id '\S+' already exists", re.I), (AlreadyThere, "This memory is there already")),
    (
        re.compile(r"read[- ]?only", re.I),
        (
            StoreRefused,
            "it takes no writes, mostly because its disk is nearly full; free some, and it goes on by itself; shards "
            "that someone set READONLY have to be set READY",
        ),
    ),
    (
        re.compile(r"not find enough weaviate nodes", re.I),
        (StoreRefused, "it has fewer nodes than replication= asks for; start more, or ask for fewer"),
    ),
    (re.compile(r"no space left", re.I), (StoreUnavailable, "its disk is full; free some space")),
    (
        re.compile(r"wrong size|vector lengths don't match|dimension", re.I),
        (StoreMismatch, "it holds vectors of another size; another embedder's, by all appearance"),
    ),
    (
        re.compile(r"certificate.?verify|certificate_verify", re.I),
        (
            StoreRefused,
            "its certificate isn't vouched for by anyone known, or is for another name; have it signed by a public "
            "authority, or add yours to certifi's bundle",
        ),
    ),
    (
        re.compile(r"wrong.version.number|record layer failure|ssl_error|tls_error|handshake", re.I),
        (StoreUnavailable, "it doesn't speak TLS there; write http:// in the address, or the port that does"),
    ),
    (re.compile(r"version \S+ is not supported", re.I), _TOO_OLD),
    (re.compile(r"forbidden|permission.?denied", re.I), _FORBIDDEN),
    (re.compile(r"deadline.?exceeded|timeout|timed out", re.I), _LATE),
    (re.compile(r"unavailable|connection refused|failed to connect", re.I), _NO_ANSWER),
)
"""What a message says goes before what a class of many faults says; the first that fits."""

OURS = frozenset(
    {
        "AdditionalPropertiesError",
        "BackupCanceledError",
        "BackupFailedError",
        "ExportCanceledError",
        "ExportFailedError",
        "InvalidDataModelError",
        "ObjectAlreadyExistsError",
        "SchemaValidationError",
        "WeaviateAddInvalidPropertyError",
        "WeaviateAgentsNotInstalledError",
        "WeaviateBaseError",
        "WeaviateBatchValidationError",
        "WeaviateEmbeddedInvalidVersionError",
        "WeaviateInsertInvalidPropertyError",
        "WeaviateInvalidInputError",
        "WeaviateProtobufIncompatibility",
    }
)
"""Raised by a wrong call of ours, by what isn't used here, or by a broken installation; they are raised as they are."""

_UNAUTHORIZED = re.compile(r"\b401\b|unauthenticated|unauthorized|anonymous access not enabled", re.I)
_WITHOUT_KEYS = re.compile(r"no authentication scheme", re.I)
_CAUSES = 5
_NO_DETAILS = "Details:"
"""What the client ends with where it has none."""

SECRET = 6
"""Characters. What is shorter could be a part of any word."""

_WORD = re.compile(rf"[^\s,;=]{{{SECRET},}}")

_SHOWN = 300
"""Characters of the client's own message that are quoted."""


@contextmanager
def outside_errors(address: Address, *, with_key: bool, secrets: Collection[str] = ()) -> Generator[None]:
    """Turns an error of the client, or of what it is built on, into ours if it is the outside's fault.

    Args:
        with_key: whether a key was sent.
        secrets: texts that are never quoted, whoever says them; of each, words of :data:`SECRET` characters or more.
    """
    import grpc  # type: ignore[import-untyped]
    import httpx
    from weaviate.exceptions import WeaviateBaseError

    try:
        yield
    except (WeaviateBaseError, httpx.HTTPError, grpc.RpcError) as error:
        known = fault(error, with_key=with_key)
        if known is None:
            raise
        kind, cure = known
        raise kind(f"{_server(address)}: {cure} ({_shown(str(error), secrets)}).") from error
    except TimeoutError as error:
        kind, cure = _LATE
        raise kind(f"{_server(address)}: {cure}.") from error


def fault(error: Exception, *, with_key: bool) -> Fault | None:
    """What it is and what to do; None for one of ours.

    Args:
        with_key: whether a key was sent.
    """
    name = next((one.__name__ for one in type(error).__mro__ if one.__name__ in OUTSIDE or one.__name__ in OURS), None)
    if name is None or name in OURS:
        return None
    text, code = _said(error), getattr(error, "status_code", None)
    # The same attribute holds gRPC's codes, which are small.
    status = code if isinstance(code, int) and code >= 100 else None
    if status == 401 or (status is None and _UNAUTHORIZED.search(text)):
        return StoreRefused, _unauthorized(text, with_key=with_key)
    if OUTSIDE[name] in (_BROKEN, _REFUSED, _NO_ANSWER):
        for pattern, known in WORDS:
            if pattern.search(text):
                return known
    if status is None:
        return OUTSIDE[name]
    return STATUS.get(status, _BROKEN if status >= 500 else OUTSIDE[name])


def _said(error: BaseException | None) -> str:
    """Its words and those of what caused it, as the client leaves some causes out of its own."""
    words: list[str] = []
    while error is not None and len(words) < _CAUSES:
        words.append(str(error))
        error = error.__cause__ or error.__context__
    return " ".join(words)


def batch_error(address: Address, failed: Mapping[UUID, str], *, written: int) -> StoreError:
    """Of a batch that was stored in part.

    Args:
        failed: id to the server's message.
        written: how many of it were stored.
    """
    text = next(iter(failed.values()))
    kind, cure = next((known for pattern, known in WORDS if pattern.search(text)), _BROKEN)
    named = ", ".join(str(one) for one in list(failed)[:5]) + (" and more" if len(failed) > 5 else "")
    return kind(
        f"{_server(address)}: {cure}. {len(failed)} of {len(failed) + written} memories weren't stored whole: {named} "
        f"({_shown(text)}). Adding the same ones again doubles none."
    )


def _unauthorized(text: str, *, with_key: bool) -> str:
    if with_key and _WITHOUT_KEYS.search(text):
        return (
            "a key was sent, but it takes no keys: unset WEAVIATE_API_KEY, or turn keys on in the server with "
            "AUTHENTICATION_APIKEY_ENABLED"
        )
    if with_key:
        return "it doesn't know the key: compare WEAVIATE_API_KEY with the server's AUTHENTICATION_APIKEY_ALLOWED_KEYS"
    return "it wants a key: set WEAVIATE_API_KEY"


def _server(address: Address) -> str:
    return f"Weaviate at {address.url}, gRPC at {address.grpc}"


def _shown(text: str, secrets: Collection[str] = ()) -> str:
    for word in chain.from_iterable(map(_WORD.findall, secrets)):
        text = text.replace(word, "***")
    line = " ".join(text.split()).rstrip(". ").removesuffix(_NO_DETAILS).rstrip(". ")
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}..."
