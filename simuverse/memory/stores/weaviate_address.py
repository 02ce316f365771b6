"""Where a Weaviate server is: two ports, as queries and batches go over gRPC and the rest over REST.

Beside that, what a user says in a store's name about how memories are kept there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Self
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from simuverse.errors import SettingsError

HTTP_PORT, HTTPS_PORT = 8080, 443
GRPC_PORT = 50051

MOST_REPLICAS = 99
"""Far more than anyone has nodes; what is above is a slip."""

_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_OPTION_NAME = re.compile(r"[a-z_]+")
_CLOUD = (".weaviate.cloud", ".weaviate.network")
_EXAMPLE = "http://localhost:8080?grpc_port=50051"


class Layout(StrEnum):
    """How owners are kept apart on a server."""

    COLLECTIONS = "collections"
    """A collection each."""

    TENANTS = "tenants"
    """One collection, a tenant each: for crowds."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Address:
    """``secure``: TLS, on both ports."""

    host: str
    port: int
    grpc_host: str
    grpc_port: int
    secure: bool = False

    @property
    def url(self) -> str:
        """The REST side: what people know the server by."""
        return f"{'https' if self.secure else 'http'}://{_bracketed(self.host)}:{self.port}"

    @property
    def grpc(self) -> str:
        return f"{_bracketed(self.grpc_host)}:{self.grpc_port}"

    @classmethod
    def parse(cls, url: str) -> Self:
        """``http://host:8080``, ``https://host``, each with ``?grpc_port=`` and ``?grpc_host=`` where these differ.

        Without them gRPC is at the same host, port 50051; at Weaviate Cloud, at the host of that name with ``grpc-``
        before it, port 443.

        Raises:
            SettingsError: it isn't such an address. No part of it that could be a key is quoted.
        """
        _refuse_user_info(url)
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port
        except ValueError:
            raise SettingsError(f"a Weaviate address can't be read. Write it like {_EXAMPLE}") from None
        if parts.scheme not in ("http", "https") or not host or parts.path.strip("/") or parts.fragment:
            bare = re.split("[?#]", url)[0]
            raise SettingsError(f"{bare!r} is not the address of a Weaviate server. Write it like {_EXAMPLE}")
        secure = parts.scheme == "https"
        options = dict(parse_qsl(parts.query, keep_blank_values=True))
        grpc_host = options.pop("grpc_host", "") or (f"grpc-{host}" if host.endswith(_CLOUD) else host)
        apart = secure and grpc_host != host
        grpc_port = _whole(options.pop("grpc_port", ""), "grpc_port", most=65535) or (
            HTTPS_PORT if apart else GRPC_PORT
        )
        if options:
            named = [name for name, value in options.items() if value and _OPTION_NAME.fullmatch(name)]
            raise SettingsError(
                f"unknown option{' ' if named else ''}{', '.join(named)} in a Weaviate address. Options: grpc_host, "
                "grpc_port, layout, replication; a key is set as WEAVIATE_API_KEY"
            )
        port = port or (HTTPS_PORT if secure else HTTP_PORT)
        if (host, port) == (grpc_host, grpc_port):
            raise SettingsError(
                f"{_bracketed(host)}:{port} is one port for both; REST and gRPC are two: give the other with "
                "?grpc_port="
            )
        return cls(host=host, port=port, grpc_host=grpc_host, grpc_port=grpc_port, secure=secure)


@dataclass(frozen=True, kw_only=True, slots=True)
class StoreAddress:
    """What stands after ``weaviate:`` in a store's name.

    Args:
        addresses: of one server, or of several nodes of one cluster.
        layout: None: as it is there, and a collection an owner where nothing is there yet.
        replication: on how many nodes each memory is to be; None leaves it to the server. It can't be changed later.
    """

    addresses: tuple[Address, ...]
    layout: Layout | None = None
    replication: int | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Addresses by commas, each with its own ``grpc_port=`` and ``grpc_host=``.

        ``layout=`` and ``replication=`` hold for all; any of the addresses may bear them.

        Raises:
            SettingsError: it can't be read so, or two addresses disagree.
        """
        _refuse_user_info(text)
        common: dict[str, str] = {}
        urls: list[str] = []
        for url in text.split(","):
            bare, options = _parted(url.strip())
            for name in ("layout", "replication"):
                if name in options and common.setdefault(name, options[name]) != options.pop(name):
                    raise SettingsError(f"{name} is said twice and differently; say it once")
            urls.append(f"{bare}?{urlencode(options, safe='[]:')}" if options else bare)
        return cls(
            addresses=tuple(map(Address.parse, urls)),
            layout=_layout(common.get("layout")),
            replication=_whole(common.get("replication"), "replication", most=MOST_REPLICAS),
        )


def parse_key(text: str | None) -> str | None:
    """An API key without blanks around it; None for blank text.

    Raises:
        SettingsError: no header can carry it. Nothing of it is quoted.
    """
    key = (text or "").strip()
    if not _can_be_sent(key):
        raise SettingsError(
            "WEAVIATE_API_KEY holds a line break, an accented letter or the like, which no key has; set it to the key "
            "alone"
        )
    return key or None


def parse_headers(text: str) -> dict[str, str]:
    """``Name: value; Name: value``, as a user writes them; empty text is none.

    Raises:
        SettingsError: it can't be read so. Nothing of it is quoted, as values may be keys.
    """
    headers: dict[str, str] = {}
    for number, part in enumerate(filter(str.strip, text.split(";")), start=1):
        name, colon, value = (one.strip() for one in part.partition(":"))
        if not colon or not _HEADER_NAME.fullmatch(name) or not _can_be_sent(value):
            raise SettingsError(
                f"header {number} of weaviate_headers can't be read; write them as Name: value; Name: value"
            )
        headers[name] = value
    return headers


def _can_be_sent(value: str) -> bool:
    """In a header."""
    return value.isascii() and value.isprintable()


def _refuse_user_info(text: str) -> None:
    """Of any form, an encoded one included."""
    if "@" in text or "%40" in text:
        raise SettingsError(
            "a Weaviate address must not hold a name or key, as addresses are shown and recorded: "
            "set WEAVIATE_API_KEY instead"
        )


def _parted(url: str) -> tuple[str, dict[str, str]]:
    """An address without its options, and them. What can't be read is left whole, and refused where it is read."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url, {}
    return urlunsplit(parts._replace(query="")), dict(parse_qsl(parts.query, keep_blank_values=True))


def _layout(text: str | None) -> Layout | None:
    if text is None:
        return None
    try:
        return Layout(text)
    except ValueError:
        raise SettingsError(f"layout is {text!r}; it takes {' or '.join(Layout)}") from None


def _whole(text: str | None, name: str, *, most: int) -> int | None:
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= most:
        raise SettingsError(f"{name} is {text!r}; it must be 1 to {most}")
    return int(text)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
