"""The scripted agent model does its task in every format, through the whole server."""

import asyncio
import json
from typing import Any

import pytest

from ds4.testing.agent_script import DONE, reply
from ds4.testing.inside import Setting, inside
from thorough import pairs

FAMILIES = ("deepseek-v4", "deepseek-v4.1", "glm-5.2", "qwen3.8", "chatml")
ASK = "Create a file named note.txt whose content is the single word: hello   Then answer."
SHELL = {"type": "object", "properties": {"command": {"type": "string"}, "timeout": {"type": "integer"}}}
ARGV = {"type": "object", "properties": {"command": {"type": "array"}, "why": {"type": "string"}}}
SEVERAL = {"type": "object", "properties": {"commands": {"type": "array"}}}
EDITOR = {"type": "object", "properties": {"file_path": {"type": "string"}, "content": {"type": "string"}}}
COMMAND = "printf '%s\\n' hello > note.txt"


def tool(name: str, schema: dict[str, Any], *required: str) -> dict[str, Any]:
    return {"name": name, "input_schema": {**schema, "required": list(required)}}


async def answers(family: str, *tools: dict[str, Any]) -> tuple[Any, Any]:
    """The model's first answer, and the one after its call was answered."""
    server = inside(reply, Setting(family))
    turns: list[Any] = [{"role": "user", "content": ASK}]
    body = {"messages": turns, "tools": list(tools), "max_tokens": 1000}
    first = (await server.client.post("/v1/messages", body)).json()
    calls = [block for block in first["content"] if block["type"] == "tool_use"]
    results = [{"type": "tool_result", "tool_use_id": call["id"], "content": "done"} for call in calls]
    turns += [
        {"role": "assistant", "content": first["content"]},
        {"role": "user", "content": results or "go on"},
    ]
    return first, (await server.client.post("/v1/messages", body)).json()


@pytest.mark.parametrize("family", FAMILIES)
def test_it_calls_a_shell_and_answers(family: str) -> None:
    tools = [tool("Edit", EDITOR), tool("Bash", SHELL, "command")]
    first, second = asyncio.run(answers(family, *tools))
    assert first["stop_reason"] == "tool_use"
    (call,) = [block for block in first["content"] if block["type"] == "tool_use"]
    assert (call["name"], call["input"]) == ("Bash", {"command": COMMAND})
    assert second["stop_reason"] == "end_turn"
    assert second["content"][-1]["text"] == DONE


CALLS = (
    (tool("write_file", EDITOR, "file_path", "content"), {"file_path": "note.txt", "content": "hello"}),
    (tool("shell", ARGV, "command", "why"), {"command": ["bash", "-lc", COMMAND], "why": "Makes a file."}),
    (tool("run_commands", SEVERAL, "commands"), {"commands": [COMMAND]}),
)


@pytest.mark.parametrize(("family", "call"), pairs(FAMILIES, CALLS))
def test_it_fills_in_what_the_tool_asks_for(family: str, call: tuple[Any, Any]) -> None:
    made, arguments = call
    first, _ = asyncio.run(answers(family, made))
    assert json.loads(json.dumps(first["content"][-1]["input"])) == arguments


PLACE = {"type": "object", "properties": {"place": {"type": "string"}, "days": {"enum": [3, 7]}}}


@pytest.mark.parametrize("family", FAMILIES)
def test_it_calls_the_only_tool_whatever_it_is_for(family: str) -> None:
    first, second = asyncio.run(answers(family, tool("weather", PLACE, "place", "days")))
    assert first["content"][-1]["input"] == {"place": "Makes a file.", "days": 3}
    assert second["content"][-1]["text"] == DONE
    first, _ = asyncio.run(answers(family, tool("weather", PLACE), tool("time", PLACE)))
    assert first["content"][-1]["text"] == DONE


@pytest.mark.parametrize("family", FAMILIES)
def test_without_a_tool_it_just_answers(family: str) -> None:
    first, _ = asyncio.run(answers(family))
    assert first["content"][-1]["text"] == DONE
