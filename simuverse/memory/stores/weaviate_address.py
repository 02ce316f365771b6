"""Where a Weaviate server is: two ports, as queries and batches go over gRPC and the rest over REST."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self
from urllib.parse import parse_qsl, urlsplit

from simuverse.errors import SettingsError

HTTP_PORT, HTTPS_PORT = 8080, 443
GRPC_PORT = 50051

_CLOUD = (".weaviate.cloud", ".weaviate.network")
_EXAMPLE = "http://localhost:8080?grpc_port=50051"


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

    @property
    def store(self) -> str:
        """As a user types it, in quotes as a shell wants it."""
        return f"'weaviate:{self.url}?grpc_host={self.grpc_host}&grpc_port={self.grpc_port}'"

    @classmethod
    def parse(cls, url: str) -> Self:
        """``http://host:8080``, ``https://host``, each with ``?grpc_port=`` and ``?grpc_host=`` where these differ.

        Without them gRPC is at the same host, port 50051; at Weaviate Cloud, at the host of that name with ``grpc-``
        before it, port 443.

        Raises:
            SettingsError: it isn't such an address.
        """
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port
        except ValueError as error:
            raise SettingsError(f"a Weaviate address can't be read: {error}. Write it like {_EXAMPLE}") from error
        if parts.username is not None or parts.password is not None:
            raise SettingsError(
                "a Weaviate address must not hold a name or key, as addresses are shown and recorded: "
                "set WEAVIATE_API_KEY instead"
            )
        if parts.scheme not in ("http", "https") or not host or parts.path.strip("/") or parts.fragment:
            raise SettingsError(f"{url!r} is not the address of a Weaviate server. Write it like {_EXAMPLE}")
        secure = parts.scheme == "https"
        options = dict(parse_qsl(parts.query, keep_blank_values=True))
        grpc_host = options.pop("grpc_host", "") or (f"grpc-{host}" if host.endswith(_CLOUD) else host)
        apart = secure and grpc_host != host
        grpc_port = _port(options.pop("grpc_port", ""), default=HTTPS_PORT if apart else GRPC_PORT)
        if options:
            raise SettingsError(f"unknown option {', '.join(options)} in {url!r}. Options: grpc_host, grpc_port")
        port = port or (HTTPS_PORT if secure else HTTP_PORT)
        if (host, port) == (grpc_host, grpc_port):
            raise SettingsError(
                f"{url!r} has one port for both; REST and gRPC are two: give the other with ?grpc_port="
            )
        return cls(host=host, port=port, grpc_host=grpc_host, grpc_port=grpc_port, secure=secure)

    @classmethod
    def parse_all(cls, urls: str) -> tuple[Self, ...]:
        """Several addresses of one cluster, separated by commas, each with its own options.

        Raises:
            SettingsError: one of them isn't an address.
        """
        return tuple(cls.parse(url.strip()) for url in urls.split(","))


def _port(text: str, *, default: int) -> int:
    if not text:
        return default
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 65535:
        raise SettingsError(f"grpc_port is {text!r}; it must be 1 to 65535")
    return int(text)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
