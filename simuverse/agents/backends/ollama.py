"""Ollama, on this machine or another.

Ollama cuts a prompt that is longer than its context without a word, so the context is asked for by name.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Literal

from simuverse.agents.backends.provider import SEEDS, Faults, Provider, kind_of, kind_of_status, retry_after
from simuverse.agents.chat import ChatRequest, Completion
from simuverse.errors import MissingExtra, ModelError, ModelReplyUnusable, ModelUnavailable, SettingsError

if TYPE_CHECKING:
    import httpx
    from ollama import ChatResponse

ADDRESS = "http://127.0.0.1:11434"


class OllamaModel:
    """A model that an Ollama server runs.

    Args:
        model: with its tag, ``qwen2.5:14b``.
        base_url: of the server.
        key: secret, for a server behind a gate; a server of one's own needs none.
        timeout: seconds for a whole call; the first call to a model loads it, which can take a minute.
        context: tokens of prompt and reply together that the server makes room for.

    Raises:
        MissingExtra: the ``ollama`` package isn't installed.
        SettingsError: an address or a key that can't be used.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str = ADDRESS,
        key: str | None = None,
        timeout: float = 300.0,
        context: int = 8192,
    ) -> None:
        try:
            import ollama
        except ImportError as error:
            raise MissingExtra(f'ollama:{model} needs the ollama package: pip install "simu-verse[ollama]"') from error
        except ValueError:
            raise SettingsError(
                f"ollama:{model}: the ollama package can't be loaded with OLLAMA_HOST or OLLAMA_API_KEY as they are; "
                "correct or unset them"
            ) from None
        self.name = f"ollama:{model}"
        self._model = model
        key = (key or "").strip()
        self._provider = Provider(
            name=self.name,
            address=base_url.rstrip("/"),
            start="Start the server with `ollama serve`, or correct the address.",
            obtain=f"Get it with `ollama pull {model}`.",
            key=key or None,
        )
        self._timeout = timeout
        self._context = context
        self._client = ollama.AsyncClient(
            host=self._provider.address,
            timeout=timeout,
            # Given none the library would look for one in the environment, and fail where no header can carry that.
            headers={"Authorization": f"Bearer {key or 'none'}"},
            event_hooks={"request": [self._without_missing_key], "response": [self._raise_for_status]},
        )

    async def complete(self, request: ChatRequest) -> Completion:
        """The model's reply; see :meth:`ChatModel.complete`."""
        loop = asyncio.get_running_loop()
        started = loop.time()
        try:
            async with asyncio.timeout(self._timeout):
                reply = await self._client.chat(  # pyright: ignore[reportUnknownMemberType]
                    model=self._model,
                    messages=[{"role": m.role, "content": m.text} for m in request.messages],
                    options={
                        "temperature": request.temperature,
                        "seed": request.seed % SEEDS,
                        "num_predict": request.max_tokens,
                        "num_ctx": self._context,
                    },
                )
        except TimeoutError:
            raise self._provider.late(self._timeout) from None
        except tuple(fault_table()) as error:
            raise self._mapped(error) from None
        return self._completion(reply, seconds=loop.time() - started)

    async def aclose(self) -> None:
        await self._client.close()  # type: ignore[no-untyped-call]

    async def _without_missing_key(self, request: httpx.Request) -> None:
        if self._provider.key is None:
            request.headers.pop("Authorization", None)

    async def _raise_for_status(self, response: httpx.Response) -> None:
        """Done here because the library's own error has lost the headers."""
        if not response.is_error:
            return
        await response.aread()
        raise self._provider.error(
            kind_of_status(response.status_code),
            f"{response.status_code}: {response.text}",
            retry_after=retry_after(response.headers),
        )

    def _mapped(self, error: Exception) -> ModelError:
        return self._provider.error(kind_of(error, fault_table()), str(error) or type(error).__name__)

    def _completion(self, reply: ChatResponse, *, seconds: float) -> Completion:
        text = reply.message.content or ""
        finish: Literal["stop", "length"] = "length" if reply.done_reason == "length" else "stop"
        if not text.strip():
            spent = ", all tokens went into hidden thinking; allow more" if finish == "length" else ""
            raise self._provider.error(ModelReplyUnusable, f"empty text{spent}")
        return Completion(
            text=text,
            model=reply.model or self._model,
            input_tokens=reply.prompt_eval_count,
            output_tokens=reply.eval_count,
            seconds=seconds,
            finish=finish,
        )


def fault_table() -> Faults:
    """Every exception that the outside can cause below ``AsyncClient.chat``.

    The library builds its answer from whatever JSON it got: what isn't JSON, or of another shape, is a ValueError or
    TypeError there.
    """
    import httpx
    import ollama

    return {
        ollama.ResponseError: ModelReplyUnusable,
        ConnectionError: ModelUnavailable,
        httpx.TransportError: ModelUnavailable,
        httpx.TooManyRedirects: ModelUnavailable,
        httpx.DecodingError: ModelReplyUnusable,
        ValueError: ModelReplyUnusable,
        TypeError: ModelReplyUnusable,
    }
