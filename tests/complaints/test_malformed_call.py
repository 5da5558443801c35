"""Users report: a tool call that makes no sense, late in a long session, costs a full prefill."""

import asyncio

import pytest

from ds4.core.step import Trim
from ds4.testing.inside import Setting, inside, text_of

TOOLS = [{"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}]
SLACK = 48
CALL = '<tool_call>\n{"name": "read", "arguments": {"path": \n</tool_call>'


@pytest.mark.parametrize("trim", list(Trim))
def test_the_error_that_comes_back_costs_its_own_length(trim: Trim) -> None:
    async def body() -> None:
        desk = inside(lambda prompt: "I read it. " + CALL, Setting(n_slots=1, trim=trim))  # noqa: ARG005
        talk = [("system", "You are a careful agent. " * 80), ("user", "read this " * 300)]
        answer = await desk.chat(*talk, tools=TOOLS)
        talk += [("assistant", text_of(answer)), ("user", "Error: that call could not be read.")]
        await desk.chat(*talk, tools=TOOLS)
        cost = desk.last_cost()
        assert cost.reused > 600
        assert cost.computed <= SLACK

    asyncio.run(body())
