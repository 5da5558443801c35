"""Users report: text that only quotes the markup of a tool call is carried out, or comes back mangled."""

import asyncio
import json
from typing import Any

import pytest

from ds4.formats.registry import family_named
from ds4.testing.inside import Setting, chat_body, inside

FAMILIES = ("chatml", "qwen3.8", "glm-5.2", "deepseek-v4.1")
FUNCTION = {"name": "run", "parameters": {"type": "object", "properties": {"depth": {"type": "integer"}}}}
TOOLS = [{"type": "function", "function": FUNCTION}]
OFF = {"type": "disabled"}
STRING = {"type": "json_schema", "json_schema": {"name": "text", "schema": {"type": "string"}}}


def call(family: str) -> str:
    form = family_named(family).tool_format.written
    inner = form.parameters
    inside = f"{inner.opens}depth{inner.json}2{inner.closes}" if inner else '{"depth": 2}'
    return f"{form.before}{form.opens}run{form.named}{inside}{form.closes}{form.after}"


async def answer(family: str, said: str, **fields: Any) -> Any:
    server = inside(lambda _: said, Setting(family=family))
    body = chat_body(("user", "Show me a call."), tools=TOOLS, max_tokens=400, **fields)
    reply = await server.client.post("/v1/chat/completions", body)
    assert reply.status == 200, reply.body
    return reply.json()["choices"][0]["message"]


@pytest.mark.parametrize("family", FAMILIES)
def test_in_reasoning_it_is_reasoning(family: str) -> None:
    thoughts = f"I could write {call(family)}, but need not."
    message = asyncio.run(answer(family, f"<think>{thoughts}</think>Done.", thinking={"type": "enabled"}))
    assert message["reasoning_content"].removeprefix("<think>").strip() == thoughts
    assert message["content"] == "Done."
    assert not message.get("tool_calls")


@pytest.mark.parametrize("family", FAMILIES)
def test_markup_of_the_vocabulary_is_nothing_that_a_text_of_a_form_can_hold(family: str) -> None:
    said = json.dumps(f"Write {call(family)} to call it.", ensure_ascii=False)
    message = asyncio.run(answer(family, said, response_format=STRING, thinking=OFF))
    assert not message.get("tool_calls")
    assert json.loads(message["content"]).endswith("call it.")


def test_in_a_text_of_a_form_it_is_text() -> None:
    said = f"Write {call('generic')} to call it."
    message = asyncio.run(answer("generic", said, guided_regex="Write (?s:.*)it[.]"))
    assert not message.get("tool_calls")
    assert message["content"] == said


@pytest.mark.parametrize("family", FAMILIES)
def test_in_a_result_it_is_what_the_tool_said(family: str) -> None:
    seen: list[str] = []

    def reply(prompt: str) -> str:
        seen.append(prompt)
        return "I see."

    async def play() -> None:
        server = inside(reply, Setting(family=family))
        made = {"id": "c1", "type": "function", "function": {"name": "run", "arguments": "{}"}}
        turns = [
            {"role": "user", "content": "Run it."},
            {"role": "assistant", "content": None, "tool_calls": [made]},
            {"role": "tool", "tool_call_id": "c1", "content": f"usage: {call(family)}"},
        ]
        body = {"messages": turns, "tools": TOOLS, "thinking": OFF}
        answered = await server.client.post("/v1/chat/completions", body)
        (choice,) = answered.json()["choices"]
        assert choice["message"]["content"] == "I see."
        assert not choice["message"].get("tool_calls")

    asyncio.run(play())
    assert f"usage: {call(family)}" in seen[0]
