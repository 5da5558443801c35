"""Which variables a template sees."""

import json
from typing import Any

import pytest
from prompt_cases import call, chat, say

from ds4.core.errors import BadRequest, Unsupported
from ds4.core.messages import Conversation, ImagePart, Message, Role, Thinking, Tool
from ds4.formats.thinking import Mode
from ds4.prompt.context import ArgumentStyle, variables
from ds4.prompt.marks import Arguments
from ds4.prompt.traits import Traits, traits

QWEN = Traits(developer=False, reasoning_key="reasoning_content", splits_thinking=True, short_ids=False)


def seen(conversation: Conversation, known: Traits = QWEN) -> dict[str, Any]:
    asked = conversation.thinking
    return variables(conversation, known, ArgumentStyle.NATURAL, Mode(asked.enabled, asked.effort))


def turn(message: Message, known: Traits = QWEN) -> dict[str, Any]:
    only: dict[str, Any] = seen(Conversation((message,)), known)["messages"][0]
    return only


def test_a_template_says_what_it_knows() -> None:
    assert traits("{{ m.reasoning_content }}").reasoning_key == "reasoning_content"
    assert traits("{% if 'thinking' in m %}").reasoning_key == "thinking"
    assert traits("{% if thinking %}").splits_thinking is False
    assert traits("{{ c.split('</think>') }}").splits_thinking is True
    assert traits("{% if role == 'developer' %}").developer
    assert traits("{% if call.id | length != 9 %}").short_ids


def test_tools_and_calls_have_the_shape_templates_index() -> None:
    made = say("assistant", None, tool_calls=(call("f", '{"a": [1]}', "id1"),))
    values = seen(Conversation((made,), tools=(Tool("f", '{"name":"f"}'),)))
    assert values["tools"] == [{"type": "function", "function": {"name": "f"}}]
    function = {"name": "f", "arguments": {"a": [1]}}
    assert values["messages"] == [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "id1", "type": "function", "function": function}],
        }
    ]


def test_without_tools_there_are_none() -> None:
    values = seen(chat(("user", "u")))
    assert values["tools"] is None
    assert "enable_thinking" not in values
    assert "reasoning_effort" not in values


def test_thinking_and_the_callers_own_arguments() -> None:
    asked = chat(
        ("user", "u"),
        thinking=Thinking(enabled=False, effort="low"),
        template_args=(("reasoning_effort", '"high"'), ("depth", "3")),
    )
    values = seen(asked)
    assert (values["enable_thinking"], values["thinking"]) == (False, False)
    assert (values["reasoning_effort"], values["depth"]) == ("high", 3)


@pytest.mark.parametrize(("name", "text"), [("messages", "[]"), ("tools", "[]"), ("x", "{")])
def test_bad_template_arguments_are_named(name: str, text: str) -> None:
    with pytest.raises(BadRequest, match=name) as caught:
        seen(chat(("user", "u"), template_args=((name, text),)))
    assert caught.value.param == "chat_template_kwargs"


def test_a_tool_that_is_not_json_is_named() -> None:
    with pytest.raises(BadRequest, match="tool f"):
        seen(chat(("user", "u"), tools=(Tool("f", "{"),)))


def test_images_are_refused_not_dropped() -> None:
    with pytest.raises(Unsupported, match="image"):
        seen(Conversation((Message(Role.USER, (ImagePart(b"", "image/png"),)),)))


@pytest.mark.parametrize(
    ("content", "reasoning", "expected"),
    [
        ("<think>\nwhy\n</think>\n\nanswer", None, ("why", "answer")),
        ("\n<think>why</think>answer", None, ("why", "answer")),
        ("<think></think>answer", None, (None, "answer")),
        ("<think>why</think>answer", " ", ("why", "answer")),
        ("<think>why</think>answer", "because", ("because", "<think>why</think>answer")),
        ("<think>never closed", None, (None, "<think>never closed")),
        ("first </think> then", None, (None, "first </think> then")),
        ("answer", "", (None, "answer")),
        ("answer", " \n", (None, "answer")),
        ("answer", "\nwhy\n", ("why", "answer")),
    ],
)
def test_reasoning_is_found(content: str, reasoning: str | None, expected: tuple[str | None, str]) -> None:
    values = turn(say("assistant", content, reasoning=reasoning))
    assert (values.get("reasoning_content"), values["content"]) == expected


def test_thinking_stays_in_the_content_where_no_template_looks() -> None:
    plain = Traits(developer=False, reasoning_key="reasoning_content", splits_thinking=False, short_ids=False)
    assert turn(say("assistant", "<think>a</think>b"), plain)["content"] == "<think>a</think>b"
    assert turn(say("user", "<think>a</think>b"))["content"] == "<think>a</think>b"


def test_developer_is_system_where_the_template_knows_no_developer() -> None:
    knows = Traits(developer=True, reasoning_key="thinking", splits_thinking=True, short_ids=False)
    assert turn(say("developer", "d"))["role"] == "system"
    assert turn(say("developer", "d"), knows)["role"] == "developer"


def arguments(text: str, style: ArgumentStyle) -> Any:
    made = Conversation((say("assistant", None, tool_calls=(call("f", text),)),))
    messages: Any = variables(made, QWEN, style, Mode(None, None))["messages"]
    return messages[0]["tool_calls"][0]["function"]["arguments"]


@pytest.mark.parametrize("text", ["{bad", "[1]", '"{}"', "9" * 9999, "[" * 9999])
def test_arguments_that_are_no_object(text: str) -> None:
    assert arguments(text, ArgumentStyle.NATURAL) == arguments(text, ArgumentStyle.TEXT) == text
    assert arguments(text, ArgumentStyle.MAPPING) == {"arguments": text}


@pytest.mark.parametrize("text", ['{"b": 1, "a": {}}', ""])
def test_arguments_that_are(text: str) -> None:
    for style in (ArgumentStyle.NATURAL, ArgumentStyle.MAPPING):
        value = arguments(text, style)
        assert isinstance(value, Arguments)
        assert list(value.items()) == list(json.loads(text or "{}").items())
        assert str(value) == text


def test_ids_are_shortened_for_templates_that_insist() -> None:
    short = Traits(developer=False, reasoning_key="reasoning", splits_thinking=False, short_ids=True)
    long_id = "call_" + "0123456789abcdef" * 2
    made = turn(say("assistant", None, tool_calls=(call("f", "{}", long_id),)), short)["tool_calls"][0]["id"]
    back = turn(say("tool", "r", tool_call_id=long_id), short)["tool_call_id"]
    assert made == back
    assert len(made) == 9
    assert made.isalnum()
    assert turn(say("tool", "r", tool_call_id="abcdefgh1"), short)["tool_call_id"] == "abcdefgh1"
    assert turn(say("tool", "r", tool_call_id=long_id))["tool_call_id"] == long_id
