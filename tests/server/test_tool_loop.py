"""The official openai SDK runs a loop of two tool calls in every family, streamed and whole alike."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import openai
import pytest
from openai.types.chat import ChatCompletionMessageFunctionToolCall

from ds4.testing.process import server_process

pytestmark = [pytest.mark.server]

DSML = """

<{d}{block}>
<{d}{invoke} name="stock">
<{d}{parameter} name="item" string="true">ITEM</{d}{parameter}>
<{d}{parameter} name="depth" string="false">2</{d}{parameter}>
</{d}{invoke}>
</{d}{block}>"""
BAR = "｜DSML｜"
GLM = (
    "<tool_call>stock\n<arg_key>item</arg_key>\n<arg_value>ITEM</arg_value>\n"
    "<arg_key>depth</arg_key>\n<arg_value>2</arg_value>\n</tool_call>"
)
QWEN = (
    "<tool_call>\n<function=stock>\n<parameter=item>\nITEM\n</parameter>\n"
    "<parameter=depth>\n2\n</parameter>\n</function>\n</tool_call>"
)
HERMES = '<tool_call>\n{"name": "stock", "arguments": {"item": "ITEM", "depth": 2}}\n</tool_call>'

CALLS = {
    "deepseek-v4": DSML.format(d=BAR, block="tool_calls", invoke="invoke", parameter="parameter"),
    "deepseek-v4.1": DSML.format(d=BAR, block=" calls", invoke=" invoke", parameter=" parameter"),
    "glm-5.2": GLM,
    "glm-5.3": GLM,
    "qwen3.8": QWEN,
    "chatml": HERMES,
    "generic": HERMES,
}

SCRIPT = """
CALL = {call!r}

def reply(prompt):
    thinks = prompt.rstrip().endswith("<think>")
    reasoning = "Let me look.</think>" if thinks else ""
    results = prompt.count("pieces in stock")
    if results < 2:
        return reasoning + "Looking." + CALL.replace("ITEM", "AB"[results])
    return reasoning + "A and B are in stock."
"""

TOOL: Any = {
    "type": "function",
    "function": {
        "name": "stock",
        "description": "How many there are.",
        "parameters": {
            "type": "object",
            "properties": {"item": {"type": "string"}, "depth": {"type": "integer"}},
        },
    },
}


@dataclass(frozen=True)
class Said:
    """An assistant turn, however it came."""

    content: str
    reasoning: str
    calls: tuple[tuple[str, str], ...]
    ids: tuple[str, ...]
    finish: str | None

    def message(self) -> dict[str, Any]:
        calls = [
            {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}
            for id_, (name, arguments) in zip(self.ids, self.calls, strict=True)
        ]
        turn: dict[str, Any] = {"role": "assistant", "content": self.content}
        return turn | ({"reasoning_content": self.reasoning} | {"tool_calls": calls} if calls else {})


def whole(client: openai.OpenAI, messages: list[Any]) -> Said:
    answer = client.chat.completions.create(model="any", messages=messages, tools=[TOOL])
    choice = answer.choices[0]
    calls = choice.message.tool_calls or []
    assert all(isinstance(call, ChatCompletionMessageFunctionToolCall) for call in calls)
    return Said(
        choice.message.content or "",
        getattr(choice.message, "reasoning_content", ""),
        tuple((call.function.name, call.function.arguments) for call in calls),  # type: ignore[union-attr]
        tuple(call.id for call in calls),
        choice.finish_reason,
    )


def streamed(client: openai.OpenAI, messages: list[Any]) -> Said:
    content = reasoning = ""
    calls: dict[int, list[str]] = {}
    ids: dict[int, str] = {}
    finish = None
    for chunk in client.chat.completions.create(model="any", messages=messages, tools=[TOOL], stream=True):
        choice = chunk.choices[0]
        content += choice.delta.content or ""
        reasoning += getattr(choice.delta, "reasoning_content", "") or ""
        for piece in choice.delta.tool_calls or []:
            function = piece.function
            assert function is not None
            call = calls.setdefault(piece.index, ["", ""])
            call[0] += function.name or ""
            call[1] += function.arguments or ""
            ids.setdefault(piece.index, piece.id or "")
        finish = choice.finish_reason or finish
    in_order = tuple((calls[index][0], calls[index][1]) for index in sorted(calls))
    return Said(content, reasoning, in_order, tuple(ids[index] for index in sorted(ids)), finish)


@pytest.fixture(scope="module", params=sorted(CALLS))
def client(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[openai.OpenAI]:
    folder: Path = tmp_path_factory.mktemp("tools")
    script = folder / "stock.py"
    script.write_text(SCRIPT.format(call=CALLS[request.param]), encoding="utf-8")
    options = ["--engine", "scripted", "--script", str(script), "--model-family", request.param]
    with (
        server_process(folder, *options) as server,
        openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as made,
    ):
        yield made


@pytest.mark.parametrize("ask", [whole, streamed])
def test_two_calls_and_an_answer(client: openai.OpenAI, ask: Any) -> None:
    messages: list[Any] = [{"role": "user", "content": "Are A and B there?"}]
    for item in "AB":
        said: Said = ask(client, messages)
        assert said.finish == "tool_calls"
        assert said.content == "Looking."
        ((name, arguments),) = said.calls
        assert (name, json.loads(arguments)) == ("stock", {"item": item, "depth": 2})
        assert said.ids[0].startswith("call_")
        messages += [said.message()]
        messages += [{"role": "tool", "tool_call_id": said.ids[0], "content": f"7 pieces in stock of {item}"}]
    last: Said = ask(client, messages)
    assert (last.content, last.calls, last.finish) == ("A and B are in stock.", (), "stop")


def test_whole_and_streamed_say_the_same(client: openai.OpenAI) -> None:
    messages = [{"role": "user", "content": "Are A and B there?"}]
    one, other = whole(client, messages), streamed(client, messages)
    assert (one.content, one.reasoning, one.calls) == (other.content, other.reasoning, other.calls)
    assert one.finish == other.finish


def test_the_next_turn_costs_only_what_is_new(client: openai.OpenAI) -> None:
    messages: list[Any] = [{"role": "user", "content": "Are A and B there? " * 100}]
    said = whole(client, messages)
    messages += [said.message()]
    messages += [{"role": "tool", "tool_call_id": said.ids[0], "content": "7 pieces in stock of A"}]
    answer = client.chat.completions.create(model="any", messages=messages, tools=[TOOL])
    assert answer.usage is not None
    assert answer.usage.prompt_tokens_details is not None
    cached = answer.usage.prompt_tokens_details.cached_tokens
    assert cached is not None
    assert answer.usage.prompt_tokens - cached < 150
