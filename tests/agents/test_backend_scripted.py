from __future__ import annotations

from dataclasses import replace

import pytest

from simuverse.agents.backends.scripted import Scripted
from simuverse.agents.chat import ChatModel, Completion
from simuverse.errors import ModelReplyUnusable, ModelUnavailable
from tests.contracts.chat_model import REQUEST, ChatModelContract


class TestScripted(ChatModelContract):
    @pytest.fixture
    def model(self) -> ChatModel:
        return Scripted(lambda request: f"<ok to='{request.agent}'/>")


async def test_replies_come_in_order_and_requests_are_kept() -> None:
    whole = Completion(text="<b/>", model="m", output_tokens=4)
    script = Scripted(["<a/>", whole])
    other = replace(REQUEST, agent="Bo")
    assert (await script.complete(REQUEST)).text == "<a/>"
    assert await script.complete(other) is whole
    assert script.requests == [REQUEST, other]
    script.assert_used_up()


async def test_an_exception_in_the_script_is_raised() -> None:
    with pytest.raises(ModelUnavailable, match="closed"):
        await Scripted([ModelUnavailable("closed")]).complete(REQUEST)


async def test_running_out_fails_and_says_for_which_call() -> None:
    with pytest.raises(AssertionError, match="call 1, memory of Ada"):
        await Scripted([]).complete(REQUEST)


def test_leftovers_fail() -> None:
    with pytest.raises(AssertionError, match="2 replies"):
        Scripted(["<a/>", "<b/>"]).assert_used_up()


async def test_a_blank_text_is_unusable_as_with_any_model() -> None:
    with pytest.raises(ModelReplyUnusable):
        await Scripted([" "]).complete(REQUEST)
