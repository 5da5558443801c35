"""Tools of POST /v1/messages: offered at once, later, or not at all."""

from typing import Any

import pytest
from api_fakes import CARD

from ds4.api.anthropic.request import MessagesRequest, messages_request
from ds4.core.messages import Tool

HI: list[Any] = [{"role": "user", "content": "hi"}]
STOCK = {"name": "stock", "description": "How many.", "input_schema": {"type": "object", "properties": {}}}


def ask(**fields: object) -> MessagesRequest:
    return messages_request({"messages": HI, **fields}, CARD)


def result(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": list(blocks)}]}


def test_tools_become_what_other_apis_make_of_them() -> None:
    tool = STOCK | {
        "type": "custom",
        "cache_control": {},
        "eager_input_streaming": True,
        "input_examples": [{}],
    }
    raw = '{"name":"stock","description":"How many.","parameters":{"type":"object","properties":{}}}'
    asked = ask(tools=[tool])
    assert asked.talk.conversation.tools == (Tool("stock", raw),)
    assert asked.talk.flags == ("TOOLS",)


def test_tools_of_their_service_are_skipped() -> None:
    tools = [
        {"type": "web_search_20250305", "name": "web_search", "max_uses": 8},
        {"type": "mcp_toolset"},
        STOCK,
    ]
    assert [tool.name for tool in ask(tools=tools).talk.conversation.tools] == ["stock"]


def test_no_tools_when_the_choice_says_so() -> None:
    assert ask(tools=[STOCK], tool_choice={"type": "none"}).talk.conversation.tools == ()


@pytest.mark.parametrize("kind", ["auto", "any", "tool", "none"])
def test_one_call_at_most_when_asked(kind: str) -> None:
    choice = {"type": kind, "name": "stock", "disable_parallel_tool_use": True}
    assert ask(tools=[STOCK], tool_choice=choice).talk.choice.one_call


def deferred(name: str) -> dict[str, Any]:
    return STOCK | {"name": name, "defer_loading": True}


def reference(name: str) -> dict[str, Any]:
    return {"type": "tool_reference", "tool_name": name}


def test_deferred_tools_come_where_they_are_named() -> None:
    tools = [deferred("web"), STOCK, deferred("never")]
    call = {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "stock", "input": {}}]}
    named = result(reference("web"), reference("stock"), reference("gone"))
    conversation = ask(tools=tools, messages=[call, named]).talk.conversation
    assert [tool.name for tool in conversation.tools] == ["stock"]
    (late,) = conversation.messages[1].tools
    assert late == Tool("web", conversation.tools[0].raw.replace('"stock"', '"web"'))
    assert conversation.messages[1].text == "[tool stock]\n[tool gone]"
    assert [tool.name for tool in conversation.callable_tools] == ["stock", "web"]


def test_a_tool_may_also_be_added_by_a_system_message() -> None:
    block = {"type": "tool_addition", "tool": {"type": "tool_reference", "name": "web"}}
    conversation = ask(
        tools=[deferred("web")], messages=[*HI, {"role": "system", "content": [block]}]
    ).talk.conversation
    assert [tool.name for tool in conversation.messages[1].tools] == ["web"]
