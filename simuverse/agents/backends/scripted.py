"""A stand-in for a model that says what it is told to, for tests and examples."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from simuverse.agents.chat import ChatRequest, Completion
from simuverse.errors import ModelReplyUnusable

Reply = str | Completion | Exception
"""A text or a whole completion to give back, or an exception to raise."""


class Scripted:
    """Gives replies in order, or what a function makes of each request.

    Args:
        replies: used up one a call; or a function of the request.
        name: shown wherever a model's name is.

    Attributes:
        requests: every request so far, oldest first.
    """

    def __init__(self, replies: Iterable[Reply] | Callable[[ChatRequest], Reply], *, name: str = "scripted") -> None:
        self.name = name
        self.requests: list[ChatRequest] = []
        self._script = deque[Reply]() if callable(replies) else deque(replies)
        self._answer = replies if callable(replies) else self._next

    async def complete(self, request: ChatRequest) -> Completion:
        """The next reply.

        Raises:
            AssertionError: the script has run out.
            ModelReplyUnusable: the reply is blank, as with any model.
            Exception: whichever the script holds.
        """
        self.requests.append(request)
        reply = self._answer(request)
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, Completion):
            return reply
        if not reply.strip():
            raise ModelReplyUnusable(f"{self.name} gave no usable reply: empty text.")
        return Completion(text=reply, model=self.name)

    async def aclose(self) -> None:
        """Nothing is held open."""

    def assert_used_up(self) -> None:
        """Fails when replies are left over, so that a test can't pass because less was asked than it thinks."""
        assert not self._script, f"{self.name}: {len(self._script)} replies were never asked for"

    def _next(self, request: ChatRequest) -> Reply:
        call = f"call {len(self.requests)}, {request.purpose} of {request.agent or 'nobody'}"
        assert self._script, f"{self.name}: no reply left for {call}"
        return self._script.popleft()
