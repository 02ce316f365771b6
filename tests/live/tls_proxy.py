"""TLS before a server that speaks none, as in production: a listener that decrypts and passes the bytes on."""

from __future__ import annotations

import asyncio
import ipaddress
import ssl
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from simuverse.memory.stores.weaviate_address import Address

_HOST = "127.0.0.1"
_CHUNK = 65_536


@dataclass(frozen=True)
class Certificate:
    """PEM files: ``chain`` is its own authority."""

    chain: Path
    key: Path


def certificate(folder: Path) -> Certificate:
    """For this machine, vouched for by nobody but itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    start = datetime(2026, 1, 1, tzinfo=UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + timedelta(days=36_500))
        .add_extension(
            x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address(_HOST))]),
            critical=False,
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    found = Certificate(chain=folder / "chain.pem", key=folder / "key.pem")
    found.chain.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    found.key.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return found


@asynccontextmanager
async def tls_before(address: Address, certificate: Certificate) -> AsyncGenerator[Address]:
    """The same server at an address with TLS on both of its ports."""
    async with AsyncExitStack() as stack:
        port = await stack.enter_async_context(_listening(address.port, certificate, ["http/1.1"]))
        grpc_port = await stack.enter_async_context(_listening(address.grpc_port, certificate, ["h2"]))
        yield Address(host=_HOST, port=port, grpc_host=_HOST, grpc_port=grpc_port, secure=True)


@asynccontextmanager
async def _listening(behind: int, certificate: Certificate, protocols: Sequence[str]) -> AsyncGenerator[int]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate.chain, certificate.key)
    context.set_alpn_protocols(protocols)
    passing = set[asyncio.Task[None]]()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        passing.add(task)
        inner_reader, inner_writer = await asyncio.open_connection(_HOST, behind)
        try:
            await asyncio.gather(_pass_on(reader, inner_writer), _pass_on(inner_reader, writer))
        except (OSError, asyncio.CancelledError):
            # Either side has gone, or the test is over.
            return
        finally:
            passing.discard(task)
            for one in (inner_writer, writer):
                one.transport.abort()

    server = await asyncio.start_server(serve, _HOST, 0, ssl=context)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in list(passing):
            task.cancel()
        await asyncio.gather(*passing, return_exceptions=True)


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(_CHUNK):
        writer.write(data)
        await writer.drain()
    writer.close()
