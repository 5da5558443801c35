"""Custom tools over chat: the model calls a function, the client sees raw text."""

import json
from typing import Any

import pytest
from api_fakes import CARD, FakeBackend, World, finish, run
from hypothesis import given
from hypothesis import strategies as st

from ds4.api.openai.chat import chat_request
from ds4.core.events import Event, FinishReason, Text, ToolArgs, ToolEnd, ToolStart
from ds4.core.messages import Role, ToolCall

HI = {"role": "user", "content": "hi"}
PATCH = {"type": "custom", "custom": {"name": "patch", "description": "Patches."}}
LOOK = {"type": "function", "function": {"name": "look"}}


def asked(script: list[tuple[Event, ...]], *, stream: bool) -> Any:
    body = {"messages": [HI], "tools": [PATCH, LOOK], "stream": stream}
    return run(World(FakeBackend(script)).client().post("/v1/chat/completions", body))


def whole(script: list[tuple[Event, ...]]) -> Any:
    return asked(script, stream=False).json()["choices"][0]["message"].get("tool_calls", [])


def streamed(script: list[tuple[Event, ...]]) -> list[Any]:
    """The calls that the deltas add up to."""
    frames = asked(script, stream=True).body.decode().split("\n\n")
    calls: dict[int, Any] = {}
    for frame in frames:
        if frame.startswith("data: {"):
            (choice,) = json.loads(frame.removeprefix("data: "))["choices"]
            for delta in choice["delta"].get("tool_calls", []):
                _add(calls, delta)
    return [calls[index] for index in sorted(calls)]


def _add(calls: dict[int, Any], delta: Any) -> None:
    index = delta.pop("index")
    if index not in calls:
        assert delta["id"]
        calls[index] = delta
        return
    ((kind, more),) = delta.items()
    ((field, text),) = more.items()
    assert text
    calls[index][kind][field] += text


def pieces(text: str, places: list[int]) -> list[str]:
    cuts = sorted(min(place, len(text)) for place in places)
    return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]


def script(arguments: list[str], *, ended: bool = True, separate: bool = True) -> list[tuple[Event, ...]]:
    events: list[Event] = [Text("Well."), ToolStart(0, "call_1", "patch")]
    events += [ToolArgs(0, part) for part in arguments]
    if ended:
        events += [ToolEnd(0), ToolStart(1, "call_2", "look"), ToolArgs(1, "{}"), ToolEnd(1)]
    events.append(finish(FinishReason.TOOL_CALLS if ended else FinishReason.LENGTH))
    return [(event,) for event in events] if separate else [tuple(events)]


def test_a_call_has_raw_text_and_its_neighbours_are_functions() -> None:
    made = script(['{"in', 'put":"a\\n', 'b"}'])
    expected = [
        {"id": "call_1", "type": "custom", "custom": {"name": "patch", "input": "a\nb"}},
        {"id": "call_2", "type": "function", "function": {"name": "look", "arguments": "{}"}},
    ]
    assert whole(made) == streamed(made) == expected


def test_the_text_goes_out_as_it_is_produced() -> None:
    made = script(['{"input": "a', "b", '"}'])
    body = asked(made, stream=True).body.decode()
    assert body.count('"custom":{"input":') == 2


@given(
    st.text(st.characters(codec="utf-8"), max_size=8),
    st.lists(st.integers(0, 40), max_size=4),
    st.integers(0, 40),
    st.booleans(),
    st.booleans(),
)
def test_streams_add_up_to_wholes(
    text: str, places: list[int], cut: int, ended: bool, separate: bool
) -> None:
    arguments = json.dumps({"input": text}, separators=(",", ":"))
    given = arguments if ended else arguments[:cut]
    made = script(pieces(given, places), ended=ended, separate=separate)
    found = whole(made)
    assert streamed(made) == found
    if ended:
        assert found[0]["custom"]["input"] == text


@pytest.mark.parametrize("arguments", ['{"patch":"only text"}', '{"a":1}', "{}"])
def test_arguments_that_are_not_the_input_are_told_at_the_end(arguments: str) -> None:
    made = script([arguments])
    assert streamed(made) == whole(made)
    assert whole(made)[0]["custom"]["input"]


def test_the_model_sees_a_function_of_one_text() -> None:
    grammar = {"type": "grammar", "grammar": {"syntax": "lark", "definition": "start: /x/"}}
    nested = {"type": "custom", "custom": {**PATCH["custom"], "format": grammar}}  # type: ignore[dict-item]
    flat = {"type": "custom", "name": "patch", "description": "Patches.", "format": grammar}
    (tool,), (same,) = (
        chat_request({"messages": [HI], "tools": [given]}, CARD, 257).conversation.tools
        for given in (nested, flat)
    )
    assert tool == same
    shown = json.loads(tool.raw)
    assert (shown["name"], shown["description"]) == ("patch", "Patches.")
    assert shown["parameters"]["required"] == ["input"]
    assert "lark grammar:\nstart: /x/" in shown["parameters"]["properties"]["input"]["description"]


def test_a_history_of_custom_calls_comes_back_as_the_model_wrote_it() -> None:
    call = {"id": "a", "type": "custom", "custom": {"name": "patch", "input": 'say "x"\n'}}
    turns = [
        HI,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": "done"},
    ]
    messages = chat_request({"messages": turns, "tools": [PATCH]}, CARD, 257).conversation.messages
    assert messages[1].tool_calls == (ToolCall("a", "patch", '{"input":"say \\"x\\"\\n"}'),)
    assert (messages[2].role, messages[2].tool_call_id) == (Role.TOOL, "a")
