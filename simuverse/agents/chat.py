"""The seam to language models: one method that turns a request into a completion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol

from simuverse.agents.turn import Tool


class Purpose(StrEnum):
    """What a call is for. The reply of each is validated against the schema of the same name in ``prompts/``."""

    QUERIES = "memory_queries"
    JUDGEMENT = "judgement"
    TURN = "turn"
    MEMORY = "memory"


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    role: Literal["system", "user", "assistant"]
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ChatRequest:
    """One call.

    Args:
        messages: a system message first, then user and assistant in turn.
        purpose: names the schema that a backend with grammars holds the reply to.
        temperature: 0 to 1.
        max_tokens: of the reply.
        seed: for backends that can repeat themselves.
        agent: who it is for, in logs and traces.
        tools: of a turn: those on offer, of which a backend with grammars has it take one; none leaves it open.
    """

    messages: tuple[Message, ...]
    purpose: Purpose
    temperature: float
    max_tokens: int = 1024
    seed: int = 0
    agent: str = ""
    tools: tuple[Tool, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Completion:
    """What came back.

    Args:
        text: never blank.
        model: the name the provider says it used.
        input_tokens, output_tokens: as the provider counts them; None where it doesn't say.
        seconds: wall time, waiting for retries included.
        attempts: calls made, 1 or more.
        finish: ``length`` where the reply was cut at ``max_tokens``.
    """

    text: str
    model: str
    input_tokens: int | None = None
    output_tokens: int | None = None
    seconds: float = 0.0
    attempts: int = 1
    finish: Literal["stop", "length"] = "stop"


class ChatModel(Protocol):
    """A language model, or something that stands in for one and says so in its name."""

    @property
    def name(self) -> str:
        """As a user types it: ``ollama:qwen2.5:14b``, ``rehearsal``."""
        ...

    async def complete(self, request: ChatRequest) -> Completion:
        """The model's reply.

        Raises:
            ModelError: one of its subclasses, whatever the vendor's library raised.
        """
        ...

    async def aclose(self) -> None: ...


def conversation(system: str, *turns: str) -> tuple[Message, ...]:
    """A system message, then user and assistant messages in turn, a user's first."""
    roles: Sequence[Literal["user", "assistant"]] = ("user", "assistant")
    return (
        Message(role="system", text=system),
        *(Message(role=roles[i % 2], text=text) for i, text in enumerate(turns)),
    )
