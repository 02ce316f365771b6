"""Embedding models that an Ollama server runs.

Texts longer than the model's context are cut by the server.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

from simuverse.errors import BadVector, EmbedderUnavailable, MissingExtra, SettingsError
from simuverse.memory.embedders.remote import Faults, RemoteEmbedder, Server, kind_of, retry_after

if TYPE_CHECKING:
    import httpx

ADDRESS = "http://127.0.0.1:11434"


class OllamaEmbedder(RemoteEmbedder):
    """Opened with :meth:`open`."""

    @classmethod
    async def open(cls, model: str, *, host: str | None = None, key: str | None = None, timeout: float = 120.0) -> Self:
        """Asks the server once, to learn the vectors' length.

        Args:
            model: as ``ollama list`` shows it, ``nomic-embed-text``.
            host: address of the server; by default on this machine.
            key: secret, for a server behind a gate; a server of one's own needs none.
            timeout: seconds for one call; the first one loads the model.

        Raises:
            MissingExtra: the ``ollama`` package isn't installed.
            SettingsError: an address or a key that can't be used.
            EmbedderUnavailable, EmbedderRefused, BadVector: it gives no vectors.
        """
        server = Server(
            name=f"ollama:{model}",
            model=model,
            address=(host or ADDRESS).rstrip("/"),
            start="Start the server with `ollama serve`, or correct the address.",
            obtain=f"Get the model with `ollama pull {model}`; a server behind a gate needs a key.",
            key=(key or "").strip() or None,
            timeout=timeout,
        )
        return await cls.on(_Ollama(server))


class _Ollama:
    def __init__(self, server: Server) -> None:
        try:
            import ollama
        except ImportError as error:
            raise MissingExtra(f'{server.name} needs the ollama package: pip install "simu-verse[ollama]"') from error
        except ValueError:
            raise SettingsError(
                f"{server.name}: the ollama package can't be loaded with OLLAMA_HOST or OLLAMA_API_KEY as they are; "
                "correct or unset them"
            ) from None
        self.server = server
        self._client = ollama.AsyncClient(
            host=server.address,
            timeout=server.timeout,
            # Given none the library would look for one in the environment, and fail where no header can carry that.
            headers={"Authorization": f"Bearer {server.key or 'none'}"},
            event_hooks={"request": [self._without_missing_key], "response": [self._raise_for_status]},
        )

    async def ask(self, texts: list[str]) -> Sequence[Sequence[float]]:
        try:
            return (await self._client.embed(model=self.server.model, input=texts)).embeddings
        except tuple(fault_table()) as error:
            reason = str(error) or type(error).__name__
            raise self.server.error(kind_of(error, fault_table()), reason) from None

    async def aclose(self) -> None:
        await self._client.close()  # type: ignore[no-untyped-call]

    async def _without_missing_key(self, request: httpx.Request) -> None:
        if self.server.key is None:
            request.headers.pop("Authorization", None)

    async def _raise_for_status(self, response: httpx.Response) -> None:
        """Done here because the library's own error has lost the headers."""
        if response.is_error:
            await response.aread()
            wait = retry_after(response.headers)
            raise self.server.status_error(response.status_code, response.text, wait=wait)


def fault_table() -> Faults:
    """Every exception that the outside can cause below ``AsyncClient.embed``.

    The library builds its answer from whatever JSON it got: what isn't JSON, or of another shape, is a ValueError or
    TypeError there.
    """
    import httpx
    import ollama

    return {
        ollama.ResponseError: BadVector,
        ConnectionError: EmbedderUnavailable,
        httpx.TransportError: EmbedderUnavailable,
        httpx.TooManyRedirects: EmbedderUnavailable,
        httpx.DecodingError: BadVector,
        ValueError: BadVector,
        TypeError: BadVector,
    }
