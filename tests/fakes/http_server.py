"""A web server on loopback that behaves as scripted, well or badly, and keeps what it was sent.

It closes every connection after one answer, and all of them at the end, so that nothing outlives a test.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True, slots=True)
class Received:
    """A request; header names in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, object]:
        value: dict[str, object] = json.loads(self.body)
        return value


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What to answer.

    Args:
        cut: closes the connection in the middle of the body.
        silent: never answers; the connection stays open until the server closes.
    """

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    cut: bool = False
    silent: bool = False


def json_answer(value: object, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    return Answer(
        status=status,
        body=json.dumps(value).encode(),
        headers={"Content-Type": "application/json", **(headers or {})},
    )


class FakeServer:
    """Gives its ``answers`` in order; the last one again and again."""

    def __init__(self) -> None:
        self.address = ""
        self.answers = deque[Answer]()
        self.received: list[Received] = []
        self._writers = set[asyncio.StreamWriter]()
        self._closing = asyncio.Event()

    def script(self, *answers: Answer) -> None:
        self.answers = deque(answers)

    def answer_to(self, received: Received) -> Answer:
        """To override where the answer depends on what was asked."""
        return self.answers.popleft() if len(self.answers) > 1 else self.answers[0]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            self.received.append(await _read(reader))
            answer = self.answer_to(self.received[-1])
            if answer.silent:
                await self._closing.wait()
                return
            headers = {"Content-Length": str(len(answer.body)), "Connection": "close", **answer.headers}
            head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
            body = answer.body[: len(answer.body) // 2] if answer.cut else answer.body
            writer.write(f"HTTP/1.1 {answer.status} Scripted\r\n{head}\r\n".encode() + body)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client hung up, as a test of cancellation wants it to
        finally:
            self._writers.discard(writer)
            writer.close()

    def close(self) -> None:
        self._closing.set()
        for writer in self._writers:
            writer.close()


async def _read(reader: asyncio.StreamReader) -> Received:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.strip().split("\r\n")
    method, path, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Received(method=method, path=path, headers=headers, body=body)


@asynccontextmanager
async def fake_server() -> AsyncGenerator[FakeServer, None]:
    """A running one, on a free port of 127.0.0.1."""
    fake = FakeServer()
    async with running(fake):
        yield fake


@asynccontextmanager
async def running(fake: FakeServer) -> AsyncGenerator[None, None]:
    """``fake`` serves on a free port of 127.0.0.1."""
    server = await asyncio.start_server(fake.serve, "127.0.0.1", 0)
    fake.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield
    finally:
        fake.close()
        server.close()
        await server.wait_closed()
