"""Anthropic's Messages API.

Its ways: the system message stands apart from the conversation, ``max_tokens`` is required, there is no seed. Newer
models refuse ``temperature``: then the call is made again at once without it, and that is remembered for the client's
life and logged. The library has dropped that parameter from its signatures, so the request's body is written here.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import Any, Literal

import msgspec

from simuverse.agents.backends.provider import Answer, Faults, Provider, kind_of, kind_of_status, retry_after
from simuverse.agents.chat import ChatRequest, Completion
from simuverse.errors import (
    MissingExtra,
    MissingKey,
    ModelError,
    ModelRefused,
    ModelReplyUnusable,
    ModelUnavailable,
)

ADDRESS = "https://api.anthropic.com"

_log = logging.getLogger(__name__)


class _Block(msgspec.Struct):
    type: str
    text: str = ""


class _Usage(msgspec.Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None


class _Reply(msgspec.Struct):
    content: list[_Block]
    model: str
    stop_reason: str | None = None
    usage: _Usage | None = None


class AnthropicModel:
    """A model of Anthropic.

    Args:
        model: as Anthropic names it.
        key: secret; needed for Anthropic's own address alone. Without one no key header is sent.
        base_url: up to and without ``/v1/messages``.
        timeout: seconds for a whole call.

    Raises:
        MissingExtra: the ``anthropic`` package isn't installed.
        MissingKey: Anthropic's own address without a key.
        SettingsError: an address or a key that can't be used.
    """

    def __init__(self, model: str, *, key: str | None = None, base_url: str = ADDRESS, timeout: float = 120.0) -> None:
        try:
            import anthropic
        except ImportError as error:
            raise MissingExtra(
                f'anthropic:{model} needs the anthropic package: pip install "simu-verse[anthropic]"'
            ) from error
        self.name = f"anthropic:{model}"
        self._model = model
        key = (key or "").strip()
        own = base_url.rstrip("/") == ADDRESS
        if own and not key:
            raise MissingKey(f"{self.name} needs a key: set ANTHROPIC_API_KEY.")
        self._provider = Provider(
            name=self.name,
            address=base_url.rstrip("/"),
            start="Check the connection." if own else "Start the server, or correct the address.",
            obtain=f"{base_url.rstrip('/')}/v1/models lists what there is.",
            key=key or None,
        )
        self._timeout = timeout
        self._takes_temperature = True
        # Given no key the library would look for one in the environment and in files, and send it to any address.
        self._headers: dict[str, str | anthropic.Omit] = (
            {} if key else {"Authorization": anthropic.omit, "X-Api-Key": anthropic.omit}
        )
        self._client = anthropic.AsyncAnthropic(
            api_key=key or "none", base_url=self._provider.address, timeout=timeout, max_retries=0, open_telemetry=False
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
            "/v1/messages", body=self._body(request), options={"headers": self._headers}, cast_to=httpx2.Response
        )
        return response.content

    def _body(self, request: ChatRequest) -> dict[str, Any]:
        system = "\n\n".join(m.text for m in request.messages if m.role == "system")
        body: dict[str, Any] = {
            "model": self._model,
            "max_tokens": request.max_tokens,
            "messages": [{"role": m.role, "content": m.text} for m in request.messages if m.role != "system"],
        }
        if system:
            body["system"] = system
        if self._takes_temperature:
            body["temperature"] = request.temperature
        return body

    def _adapts_to(self, error: Exception) -> bool:
        """Whether the request should be made again, without a temperature."""
        import anthropic

        if not isinstance(error, anthropic.BadRequestError) or not self._takes_temperature:
            return False
        if "temperature" not in (error.api_message or ""):
            return False
        self._takes_temperature = False
        _log.warning("%s takes no temperature; it is left out from now on", self.name)
        return True

    def _mapped(self, error: Exception, attempts: int) -> ModelError:
        import anthropic

        if isinstance(error, anthropic.APIStatusError):
            return self._provider.error(
                kind_of_status(error.status_code),
                f"{error.status_code}: {error.api_message or error.message}",
                retry_after=retry_after(error.response.headers),
                attempts=attempts,
            )
        cause = f": {error.__cause__}" if error.__cause__ else ""
        reason = f"{error}".rstrip(".") + cause
        return self._provider.error(kind_of(error, fault_table()), reason, attempts=attempts)

    def _completion(self, answer: Answer) -> Completion:
        attempts = answer.attempts
        try:
            reply = msgspec.json.decode(answer.content, type=_Reply)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            start = answer.content[:200].decode("utf-8", errors="replace")
            raise self._unusable(f"not a message, {error}: {start}", attempts) from None
        if reply.stop_reason == "refusal":
            raise self._unusable("the model refused", attempts)
        finish: Literal["stop", "length"] = (
            "length" if reply.stop_reason in ("max_tokens", "model_context_window_exceeded") else "stop"
        )
        text = "".join(block.text for block in reply.content if block.type == "text")
        if not text.strip():
            spent = ", all tokens went into hidden thinking; allow more" if finish == "length" else ""
            raise self._unusable(f"empty text{spent}", attempts)
        usage = reply.usage or _Usage()
        read = (usage.input_tokens, usage.cache_creation_input_tokens, usage.cache_read_input_tokens)
        return Completion(
            text=text,
            model=reply.model,
            input_tokens=None if usage.input_tokens is None else sum(tokens or 0 for tokens in read),
            output_tokens=usage.output_tokens,
            seconds=answer.seconds,
            attempts=attempts,
            finish=finish,
        )

    def _unusable(self, reason: str, attempts: int) -> ModelError:
        return self._provider.error(ModelReplyUnusable, reason, attempts=attempts)


def fault_table() -> Faults:
    """Every exception of the library that the outside can cause, but for HTTP statuses: their number decides."""
    import anthropic

    return {
        anthropic.APITimeoutError: ModelUnavailable,
        anthropic.APIConnectionError: ModelUnavailable,
        anthropic.APIResponseValidationError: ModelReplyUnusable,
        anthropic.CredentialsError: ModelRefused,
        anthropic.APIError: ModelReplyUnusable,
    }
