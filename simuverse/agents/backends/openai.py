"""OpenAI and every server that speaks its chat completions: vLLM, llama.cpp, LM Studio, OpenRouter and the like.

Models differ in what they take. OpenAI's own address is given ``max_completion_tokens``, others ``max_tokens``, which
they all know. A server that refuses ``temperature``, ``seed`` or the token limit by name is asked again at once without
it (or with the limit's other name), and that is remembered for the client's life and logged: OpenAI's reasoning models
choose their own temperature. Their hidden reasoning counts towards the limit: if it eats the whole, the error says so.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import Any, Literal

import msgspec

from simuverse.agents.backends.provider import SEEDS, Answer, Faults, Provider, kind_of, kind_of_status, retry_after
from simuverse.agents.chat import ChatRequest, Completion
from simuverse.errors import (
    MissingExtra,
    MissingKey,
    ModelError,
    ModelNotFound,
    ModelRefused,
    ModelReplyUnusable,
    ModelUnavailable,
)

ADDRESS = "https://api.openai.com/v1"

_log = logging.getLogger(__name__)


class _Message(msgspec.Struct):
    content: str | None = None
    refusal: str | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Reply(msgspec.Struct):
    choices: list[_Choice]
    model: str | None = None
    usage: _Usage | None = None


class OpenAIModel:
    """A model of OpenAI or of any server with its interface.

    Args:
        model: as the server names it.
        key: secret; needed for OpenAI's own address alone. Without one no ``Authorization`` is sent.
        base_url: up to and without ``/chat/completions``.
        timeout: seconds for a whole call.

    Raises:
        MissingExtra: the ``openai`` package isn't installed.
        MissingKey: OpenAI's own address without a key.
        SettingsError: an address or a key that can't be used.
    """

    def __init__(self, model: str, *, key: str | None = None, base_url: str = ADDRESS, timeout: float = 120.0) -> None:
        try:
            import openai
        except ImportError as error:
            raise MissingExtra(f'openai:{model} needs the openai package: pip install "simu-verse[openai]"') from error
        self.name = f"openai:{model}"
        self._model = model
        key = (key or "").strip()
        own = base_url.rstrip("/") == ADDRESS
        if own and not key:
            raise MissingKey(f"{self.name} needs a key: set OPENAI_API_KEY, or give the address of another server.")
        self._provider = Provider(
            name=self.name,
            address=base_url.rstrip("/"),
            start="Check the connection." if own else "Start the server, or correct the address.",
            obtain=f"{base_url.rstrip('/')}/models lists what there is; if not even that, the address may lack a /v1.",
            key=key or None,
        )
        self._timeout = timeout
        self._limit = "max_completion_tokens" if own else "max_tokens"
        self._refused: set[str] = set()
        # The library would fill what is missing here from the environment, and send one server the key of another.
        self._headers: dict[str, str | openai.Omit] = {} if key else {"Authorization": openai.omit}
        if not own:
            self._headers |= {"OpenAI-Organization": openai.omit, "OpenAI-Project": openai.omit}
        self._client = openai.AsyncOpenAI(
            api_key=key or "none", base_url=self._provider.address, timeout=timeout, max_retries=0
        )

    async def complete(self, request: ChatRequest) -> Completion:
        """The model's reply; see :meth:`ChatModel.complete`."""
        return self._completion(
            await self._provider.answer(
                partial(self._post, request),
                timeout=self._timeout,
                faults=fault_table(),
                adapts_to=self._adapts_to,
                mapped=self._mapped,
            )
        )

    async def aclose(self) -> None:
        await self._client.close()

    async def _post(self, request: ChatRequest) -> bytes:
        import httpx2

        response = await self._client.post(
            "/chat/completions", body=self._body(request), options={"headers": self._headers}, cast_to=httpx2.Response
        )
        return response.content

    def _body(self, request: ChatRequest) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": m.role, "content": m.text} for m in request.messages],
            "temperature": request.temperature,
            "seed": request.seed % SEEDS,
            self._limit: request.max_tokens,
        }
        return {name: value for name, value in body.items() if name not in self._refused}

    def _adapts_to(self, error: Exception) -> bool:
        """Whether the request should be made again, changed by what the server says it doesn't take."""
        import openai

        name = error.param if isinstance(error, openai.BadRequestError) else None
        if name == "max_tokens" and self._limit == "max_tokens":
            self._limit = "max_completion_tokens"
        elif name in ("temperature", "seed") and name not in self._refused:
            self._refused.add(name)
            _log.warning("%s takes no %s; it is left out from now on", self.name, name)
        else:
            return False
        return True

    def _mapped(self, error: Exception, attempts: int) -> ModelError:
        import openai

        if isinstance(error, openai.APIStatusError):
            kind = kind_of_status(error.status_code)
            if error.code == "insufficient_quota":  # comes as 429, but no waiting helps against an empty account
                kind = ModelRefused
            elif error.code == "model_not_found":
                kind = ModelNotFound
            after = retry_after(error.response.headers)
            return self._provider.error(
                kind, f"{error.status_code}: {error.message}", retry_after=after, attempts=attempts
            )
        cause = f": {error.__cause__}" if error.__cause__ else ""
        reason = f"{error}".rstrip(".") + cause
        return self._provider.error(kind_of(error, fault_table()), reason, attempts=attempts)

    def _completion(self, answer: Answer) -> Completion:
        attempts = answer.attempts
        try:
            reply = msgspec.json.decode(answer.content, type=_Reply)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise self._unusable(f"not a chat completion, {error}: {_start_of(answer.content)}", attempts) from None
        if not reply.choices:
            raise self._unusable("no choices in it", attempts)
        choice = reply.choices[0]
        finish: Literal["stop", "length"] = "length" if choice.finish_reason == "length" else "stop"
        if choice.message.refusal:
            raise self._unusable(f"the model refused, saying: {choice.message.refusal}", attempts)
        if choice.finish_reason == "content_filter":
            raise self._unusable("stopped by the provider's content filter", attempts)
        text = choice.message.content or ""
        if not text.strip():
            spent = ", all tokens went into hidden reasoning; allow more" if finish == "length" else ""
            raise self._unusable(f"empty text{spent}", attempts)
        usage = reply.usage or _Usage()
        return Completion(
            text=text,
            model=reply.model or self._model,
            input_tokens=usage.prompt_tokens,
            output_tokens=usage.completion_tokens,
            seconds=answer.seconds,
            attempts=attempts,
            finish=finish,
        )

    def _unusable(self, reason: str, attempts: int) -> ModelError:
        return self._provider.error(ModelReplyUnusable, reason, attempts=attempts)


def fault_table() -> Faults:
    """Every exception of the library that the outside can cause, but for HTTP statuses: their number decides."""
    import openai

    return {
        openai.APITimeoutError: ModelUnavailable,
        openai.APIConnectionError: ModelUnavailable,
        openai.APIResponseValidationError: ModelReplyUnusable,
        openai.LengthFinishReasonError: ModelReplyUnusable,
        openai.ContentFilterFinishReasonError: ModelReplyUnusable,
        openai.APIError: ModelReplyUnusable,
    }


def _start_of(content: bytes) -> str:
    return content[:200].decode("utf-8", errors="replace")
