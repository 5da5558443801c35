"""Clients from before tools: `functions` in, one `function_call` out."""

import json
from typing import Any

import pytest
from api_fakes import CARD, FakeBackend, World, finish, run

from ds4.api.openai.chat import chat_request
from ds4.core.errors import BadRequest
from ds4.core.events import Event, FinishReason, Text, ToolArgs, ToolEnd, ToolStart
from ds4.testing.inside import Inside, Setting, inside

HI = {"messages": [{"role": "user", "content": "hi"}]}
LOOK = {"name": "look", "description": "Looks.", "parameters": {"type": "object", "properties": {}}}
CALL: tuple[Event, ...] = (
    Text("Well."),
    ToolStart(0, "call_1", "look"),
    ToolArgs(0, '{"q":'),
    ToolArgs(0, '"x"}'),
    ToolEnd(0),
    finish(FinishReason.TOOL_CALLS),
)


def asked(**fields: object) -> Any:
    async def scenario() -> Any:
        client = World(FakeBackend([CALL])).client()
        return await client.post("/v1/chat/completions", {**HI, **fields})

    return run(scenario())


def test_a_whole_answer_has_one_function_call() -> None:
    (choice,) = asked(functions=[LOOK]).json()["choices"]
    assert choice["finish_reason"] == "function_call"
    message = choice["message"]
    assert (message["content"], message["function_call"]) == (
        "Well.",
        {"name": "look", "arguments": '{"q":"x"}'},
    )
    assert "tool_calls" not in message


def test_a_stream_says_the_same() -> None:
    lines = asked(functions=[LOOK], stream=True).body.decode().split("\n\n")
    choices = [json.loads(line[6:])["choices"][0] for line in lines if line.startswith("data: {")]
    calls = [c["delta"]["function_call"] for c in choices if "function_call" in c["delta"]]
    assert calls == [{"name": "look", "arguments": ""}, {"arguments": '{"q":'}, {"arguments": '"x"}'}]
    assert choices[-1]["finish_reason"] == "function_call"
    assert not any("tool_calls" in choice["delta"] for choice in choices)


def conversation(**fields: Any) -> Any:
    return chat_request({**HI, **fields}, CARD, 300).conversation


def test_functions_are_tools_and_none_of_them_when_told_so() -> None:
    as_tools = [{"type": "function", "function": LOOK}]
    assert conversation(functions=[LOOK]) == conversation(tools=as_tools)
    assert conversation(functions=[LOOK], function_call="auto") == conversation(tools=as_tools)
    assert conversation(functions=[LOOK], function_call="none") == conversation()


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"functions": [LOOK], "function_call": {"name": "see"}}, "function_call.name"),
        ({"functions": [LOOK], "function_call": "look"}, "function_call"),
        ({"functions": "look"}, "functions"),
        ({"functions": [{}]}, "functions.0.name"),
        ({"functions": [LOOK], "tools": [LOOK]}, "functions"),
    ],
)
def test_what_cannot_be_is_refused_by_its_place(fields: dict[str, Any], param: str) -> None:
    with pytest.raises(BadRequest) as error:
        conversation(**fields)
    assert error.value.param == param


ONE_CALL = '\n<tool_call>\n{"name": "look", "arguments": {"q": %d}}\n</tool_call>'
TWO_CALLS = ONE_CALL % 1 + ONE_CALL % 2


def server() -> Inside:
    return inside(lambda _: TWO_CALLS, Setting("chatml"))


@pytest.mark.parametrize(
    ("fields", "calls"),
    [({}, [1, 2]), ({"parallel_tool_calls": True}, [1, 2]), ({"parallel_tool_calls": False}, [1])],
)
def test_parallel_calls_are_given_up_on_demand(fields: dict[str, Any], calls: list[int]) -> None:
    async def scenario() -> None:
        tools = [{"type": "function", "function": LOOK}]
        answer = await server().chat(("user", "hi"), tools=tools, **fields)
        found = answer["choices"][0]["message"]["tool_calls"]
        assert [json.loads(call["function"]["arguments"])["q"] for call in found] == calls

    run(scenario())


def test_a_history_with_function_calls_is_the_one_with_tools() -> None:
    async def scenario() -> None:
        prompts: list[str] = []

        def answer(prompt: str) -> str:
            prompts.append(prompt)
            return TWO_CALLS

        desk = inside(answer, Setting("chatml"))
        old = [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": None, "function_call": {"name": "look", "arguments": "{}"}},
            {"role": "function", "name": "look", "content": "seen"},
        ]
        call = {"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        new = [
            old[0],
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "a", "content": "seen"},
        ]
        tools = [{"type": "function", "function": LOOK}]
        path = "/v1/chat/completions"
        first = (await desk.client.post(path, {"messages": old, "functions": [LOOK]})).json()
        await desk.client.post(path, {"messages": new, "tools": tools})
        assert prompts[0] == prompts[1]
        assert first["choices"][0]["message"]["function_call"] == {"name": "look", "arguments": '{"q":1}'}

    run(scenario())
