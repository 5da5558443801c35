"""Users report: the model calls before it closes its reasoning, and the agent stops without a word."""

import asyncio

import pytest

from ds4.formats.registry import family_named
from ds4.testing.inside import Setting, chat_body, inside, streamed_text

FAMILIES = ("chatml", "qwen3.8", "glm-5.2", "deepseek-v4", "deepseek-v4.1")
FUNCTION = {"name": "run", "parameters": {"type": "object", "properties": {"depth": {"type": "integer"}}}}
TOOLS = [{"type": "function", "function": FUNCTION}]


def call(family: str, name: str = "run") -> str:
    form = family_named(family).tool_format.written
    inner = form.parameters
    inside = f"{inner.opens}depth{inner.json}2{inner.closes}" if inner else '{"depth": 2}'
    return f"{form.before}{form.opens}{name}{form.named}{inside}{form.closes}{form.after}"


def ask(family: str, said: str, **fields: object) -> bytes:
    async def body() -> bytes:
        server = inside(lambda _: said, Setting(family=family))
        asked = chat_body(("user", "Go."), tools=TOOLS, thinking={"type": "enabled"}, **fields)
        reply = await server.client.post("/v1/chat/completions", asked)
        assert reply.status == 200, reply.body
        return reply.body

    return asyncio.run(body())


def opened(family: str) -> str:
    """What leaves the answer inside reasoning, where the prompt does not."""
    return "<think>" if family in ("chatml", "deepseek-v4.1") else ""


@pytest.mark.parametrize("family", FAMILIES)
def test_the_call_is_made(family: str) -> None:
    said = f"{opened(family)}I need it. {call(family)}"
    answer = ask(family, said)
    assert b'"name":"run","arguments":"{\\"depth\\":2}"' in answer
    assert b'"finish_reason":"tool_calls"' in answer
    assert b"I need it." in answer
    streamed = ask(family, said, stream=True)
    assert streamed_text(streamed) == ("", "tool_calls")
    assert b'"name":"run"' in streamed


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("end", [" Or rather not.", "cut", "unknown"])
def test_what_only_looks_like_one_is_thought(family: str, end: str) -> None:
    """Text goes on behind it, it is not whole, or there is no such tool."""
    block = call(family, "nothing" if end == "unknown" else "run")
    block = block[:-9] if end == "cut" else block
    answer = ask(family, f"{opened(family)}I could. {block}{end if end[0] == ' ' else ''}")
    assert b'"tool_calls":' not in answer
    assert b'"finish_reason":"stop"' in answer
    assert b"I could." in answer
