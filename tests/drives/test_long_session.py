"""The scripted model of long sessions, through the whole server: looks, sums up, makes the file, ends."""

import asyncio
import json
from typing import Any

import pytest
from clients.scripts.long_session import DONE, LOOK, MAKE, NO_TOOLS, SUMMARY, reply

from ds4.testing.inside import Setting, inside

SHELL = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
TOOLS = [{"type": "function", "function": {"name": "bash", "parameters": SHELL}}]


async def said(family: str, *turns: dict[str, object], tools: list[Any]) -> Any:
    server = inside(reply, Setting(family))
    body = {"messages": list(turns), "tools": tools, "max_tokens": 1000}
    return (await server.client.post("/v1/chat/completions", body)).json()["choices"][0]["message"]


def user(text: str) -> dict[str, object]:
    return {"role": "user", "content": text}


def command(message: Any) -> str:
    (call,) = message["tool_calls"]
    return str(json.loads(call["function"]["arguments"])["command"])


@pytest.mark.parametrize("family", ["deepseek-v4", "glm-5.2", "qwen3.8"])
def test_the_file_is_made_only_after_a_summary(family: str) -> None:
    async def session() -> None:
        looking = await said(family, user("Look around."), tools=TOOLS)
        assert command(looking) == LOOK.command
        result = {"role": "tool", "tool_call_id": looking["tool_calls"][0]["id"], "content": "all well"}
        history = [user("Look around."), looking, result]
        assert command(await said(family, *history, tools=TOOLS)) == LOOK.command
        assert (await said(family, *history, user("Sum up."), tools=[]))["content"] == SUMMARY
        assert (await said(family, *history, user(NO_TOOLS), tools=TOOLS))["content"] == SUMMARY
        making = await said(family, user(SUMMARY), tools=TOOLS)
        assert command(making) == MAKE.command
        made = {"role": "tool", "tool_call_id": making["tool_calls"][0]["id"], "content": ""}
        assert (await said(family, user(SUMMARY), making, made, tools=TOOLS))["content"] == DONE

    asyncio.run(session())
