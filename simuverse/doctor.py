"""Examines what the settings ask for: what is used, whether it works, and what to do if not."""

from __future__ import annotations

import platform
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from importlib.util import find_spec

from simuverse import __version__, parts, wiring
from simuverse.agents.chat import ChatRequest, Purpose, conversation
from simuverse.config import Settings
from simuverse.errors import ModelReplyUnusable, SettingsError, SimuverseError
from simuverse.memory.embedding import Embedder

EXTRAS = {
    "weaviate": "weaviate",
    "anthropic": "anthropic",
    "openai": "openai",
    "ollama": "ollama",
    "local": "xllamacpp",
    "sentence-transformers": "sentence_transformers",
}
"""Optional parts by the name of their extra, with the module that shows they are installed."""

ADVICE = {
    "wordllama": "a sentence embedder finds more of what is asked in other words, at a hundredth of the speed: "
    "--embedder sentence-transformers:all-MiniLM-L6-v2",
    "hashing": "it knows no meaning and is for tests; the default, wordllama, needs nothing either",
}
"""What to know of an embedder, by its name: measured by ``benchmarks/embedders.py``."""

NAMED = 20
"""Owners that are named one by one at most."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One line of the report. ``cure``: the next thing to do, or that could be; empty where there is none."""

    part: str
    what: str
    ok: bool = True
    cure: str = ""
    exit_code: int = 0


async def examine(settings: Settings) -> list[Finding]:
    """Opens each part as a run would, and closes it again."""
    return [finding async for finding in _findings(settings)]


async def _findings(settings: Settings) -> AsyncIterator[Finding]:
    yield Finding(part="program", what=f"simuverse {__version__}, Python {platform.python_version()}")
    model = await _model("model", settings.model, settings)
    yield model
    second = wiring.subconscious_name(settings)
    if second in ("off", wiring.REFLEX):
        yield Finding(part="mind", what=f"{second}: {'no memory' if second == 'off' else 'rules, no model call'}")
    elif second == settings.model:
        yield replace(model, part="mind", what=f"{second}, the same as the model", cure="")
    else:
        yield await _model("mind", second, settings)
    async with AsyncExitStack() as stack:
        embedder: Embedder | None = None
        try:
            embedder = await parts.open_embedder(settings.embedder, settings)
            stack.push_async_callback(embedder.aclose)
            await embedder.embed(["one sentence"])
            advice = ADVICE.get(settings.embedder, "")
            yield Finding(part="embedder", what=parts.described(embedder), cure=advice)
        except SimuverseError as error:
            yield _bad("embedder", settings.embedder, error)
        if embedder is not None:
            async for finding in _store(settings, embedder):
                yield finding
    missing = [extra for extra, module in EXTRAS.items() if find_spec(module) is None]
    installed = [extra for extra in EXTRAS if extra not in missing]
    cure = "" if not missing else f'to add one: pip install "simu-verse[{missing[0]}]"'
    yield Finding(
        part="extras",
        what=f"installed: {', '.join(installed) or 'none'}; not installed: {', '.join(missing) or 'none'}",
        cure=cure,
    )


async def _model(part: str, name: str, settings: Settings) -> Finding:
    if name == "rehearsal":
        return Finding(part=part, what="rehearsal: fixed rules, not a language model")
    request = ChatRequest(
        messages=conversation("Answer with one word.", "Are you there?"),
        purpose=Purpose.TURN,
        temperature=0.0,
        max_tokens=16,
    )
    try:
        model = await parts.open_model(name, settings)
        try:
            completion = await model.complete(request)
            return Finding(part=part, what=f"{name} answers, as {completion.model}, in {completion.seconds:.1f} s")
        except ModelReplyUnusable as error:
            return Finding(part=part, what=f"{name} answers, though not in words: {error}")
        finally:
            await model.aclose()
    except SimuverseError as error:
        return _bad(part, name, error)


async def _store(settings: Settings, embedder: Embedder) -> AsyncIterator[Finding]:
    if settings.store is None:
        yield Finding(part="store", what="SQLite, a file in each run's folder")
        return
    try:
        path = None if parts.is_on_server(settings.store) else parts.store_path(settings.store)
        if path is not None and not path.exists():
            yield Finding(part="store", what=f"{settings.store}: not there yet, made when it is first used")
            return
        store = await parts.open_store(settings.store, embedder, settings)
        try:
            details = await parts.server_details(store)
            if details is not None:
                yield Finding(part="server", what=details)
            counts = {owner: await (await store.collection(owner)).count() for owner in await store.owners()}
            yield Finding(part="store", what=f"{store.description}; memories: {_counted(counts)}")
        finally:
            await store.aclose()
    except SimuverseError as error:
        named = parts.shown(settings.store) if isinstance(error, SettingsError) else settings.store
        yield _bad("store", named, error)


def _counted(counts: Mapping[str, int]) -> str:
    if len(counts) > NAMED:
        return f"{sum(counts.values())} of {len(counts)} owners"
    return ", ".join(f"{owner} {count}" for owner, count in counts.items()) or "none"


def _bad(part: str, name: str, error: SimuverseError) -> Finding:
    return Finding(part=part, what=name, ok=False, cure=str(error), exit_code=error.exit_code)
