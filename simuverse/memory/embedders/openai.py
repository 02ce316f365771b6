"""Embeddings of OpenAI and of every server with its interface: vLLM, llama.cpp, LM Studio and the like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import msgspec

from simuverse.errors import BadVector, EmbedderError, EmbedderUnavailable, MissingExtra, MissingKey
from simuverse.memory.embedders.remote import Faults, RemoteEmbedder, Server, kind_of, retry_after

ADDRESS = "https://api.openai.com/v1"


class _Row(msgspec.Struct):
    embedding: list[float]
    index: int


class _Reply(msgspec.Struct):
    data: list[_Row]


class OpenAIEmbedder(RemoteEmbedder):
    """Opened with :meth:`open`."""

    @classmethod
    async def open(
        cls, model: str, *, key: str | None = None, base_url: str | None = None, timeout: float = 60.0
    ) -> Self:
        """Asks the server once, to learn the vectors' length.

        Args:
            model: as the server names it, ``text-embedding-3-small``.
            key: secret; needed for OpenAI's own address alone. Without one no ``Authorization`` is sent.
            base_url: up to and without ``/embeddings``; by default OpenAI's own.
            timeout: seconds for one call.

        Raises:
            MissingExtra: the ``openai`` package isn't installed.
            MissingKey: OpenAI's own address without a key.
            SettingsError: an address or a key that can't be used.
            EmbedderUnavailable, EmbedderRefused, BadVector: it gives no vectors.
        """
        address = (base_url or ADDRESS).rstrip("/")
        own = address == ADDRESS
        server = Server(
            name=f"openai:{model}",
            model=model,
            address=address,
            start="Check the connection." if own else "Start the server, or correct the address.",
            obtain=f"Check the key and its rights, and the model: {address}/models lists what there is.",
            key=(key or "").strip() or None,
            timeout=timeout,
        )
        if own and server.key is None:
            raise MissingKey(f"{server.name} needs a key: set OPENAI_API_KEY, or give the address of another server.")
        return await cls.on(_OpenAI(server, own=own))


class _OpenAI:
    """``own``: whether it is OpenAI itself that is spoken to."""

    def __init__(self, server: Server, *, own: bool) -> None:
        try:
            import openai
        except ImportError as error:
            raise MissingExtra(f'{server.name} needs the openai package: pip install "simu-verse[openai]"') from error
        self.server = server
        # The library would fill what is missing here from the environment, and send one server the key of another.
        self._headers: dict[str, str | openai.Omit] = {} if server.key else {"Authorization": openai.omit}
        if not own:
            self._headers |= {"OpenAI-Organization": openai.omit, "OpenAI-Project": openai.omit}
        self._client = openai.AsyncOpenAI(
            api_key=server.key or "none", base_url=server.address, timeout=server.timeout, max_retries=0
        )

    async def ask(self, texts: list[str]) -> Sequence[Sequence[float]]:
        import httpx2

        try:
            response = await self._client.post(
                "/embeddings",
                body={"model": self.server.model, "input": texts, "encoding_format": "float"},
                options={"headers": self._headers},
                cast_to=httpx2.Response,
            )
        except tuple(fault_table()) as error:
            raise self._mapped(error) from None
        try:
            rows = msgspec.json.decode(response.content, type=_Reply).data
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            start = response.content[:200].decode("utf-8", errors="replace")
            raise self.server.error(BadVector, f"{start} ({error})") from None
        return [row.embedding for row in sorted(rows, key=lambda row: row.index)]

    async def aclose(self) -> None:
        await self._client.close()

    def _mapped(self, error: Exception) -> EmbedderError:
        import openai

        if isinstance(error, openai.APIStatusError):
            if error.code == "insufficient_quota":  # comes as 429, but no waiting helps against an empty account
                return self.server.status_error(402, error.message)
            return self.server.status_error(error.status_code, error.message, wait=retry_after(error.response.headers))
        cause = f": {error.__cause__}" if error.__cause__ else ""
        return self.server.error(kind_of(error, fault_table()), str(error).rstrip(".") + cause)


def fault_table() -> Faults:
    """Every exception of the library that the outside can cause, but for HTTP statuses: their number decides."""
    import openai

    return {
        openai.APITimeoutError: EmbedderUnavailable,
        openai.APIConnectionError: EmbedderUnavailable,
        openai.APIResponseValidationError: BadVector,
        openai.APIError: BadVector,
    }
