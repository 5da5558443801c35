"""Bodies of POST /v1/messages -> conversations and wishes."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from api_fakes import CARD

from ds4.api.anthropic.request import MessagesRequest, count_request, messages_request
from ds4.api.normalise import AsSent
from ds4.api.sealed import seal
from ds4.api.services import Alias, ModelCard
from ds4.core.errors import BadRequest
from ds4.core.messages import Message, Role, TextPart, Thinking, ToolCall
from ds4.core.sampling import Sampling

HI: list[Any] = [{"role": "user", "content": "hi"}]
BILLING = "x-anthropic-billing-header: cc_version=2.1.332.eaf; cc_entrypoint=cli;"
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}
STOCK = {"name": "stock", "description": "How many.", "input_schema": {"type": "object", "properties": {}}}


def ask(**fields: object) -> MessagesRequest:
    return request(fields)


def request(fields: Mapping[str, object], card: ModelCard = CARD, keep: bool = False) -> MessagesRequest:
    raw = {"model": "m", "max_tokens": 10, "messages": HI, **fields}
    return messages_request(raw, card, AsSent({"billing_header"} if keep else ()))


def messages(*turns: Any, **fields: object) -> tuple[Message, ...]:
    return ask(messages=list(turns), **fields).talk.conversation.messages


def user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def result(content: Any, call: str = "a", **fields: object) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call, "content": content, **fields}


def behind_calls(*turns: Any) -> tuple[Message, ...]:
    """Messages of turns with results of the calls `a` and `b`."""
    calls: list[object] = [
        {"type": "tool_use", "id": call, "name": "stock", "input": {}} for call in ("a", "b")
    ]
    return messages({"role": "assistant", "content": calls}, *turns)[1:]


def said(role: Role, text: str) -> Message:
    return Message(role, (TextPart(text),))


def test_the_smallest_request() -> None:
    asked = ask()
    assert asked.talk.conversation.messages == (said(Role.USER, "hi"),)
    assert (asked.model, asked.stream, asked.max_tokens, asked.stops) == ("m", False, 10, ())
    assert asked.sampling == Sampling()
    assert asked.talk.conversation.thinking == Thinking()
    assert asked.talk.flags == ()


def test_null_is_absent() -> None:
    names = (
        "system",
        "tools",
        "tool_choice",
        "thinking",
        "stop_sequences",
        "temperature",
        "max_tokens",
        "stream",
    )
    asked = ask(**dict.fromkeys((*names, "output_config", "metadata")))
    assert asked == replace(ask(), max_tokens=CARD.max_tokens)


@pytest.mark.parametrize(
    "content",
    ["a\nb", [{"type": "text", "text": "a\nb"}], [{"text": "a"}, {"type": "text", "text": "b"}], ["a", "b"]],
)
@pytest.mark.parametrize("role", [Role.USER, Role.SYSTEM])
def test_strings_and_blocks_of_the_same_text_are_the_same(content: Any, role: Role) -> None:
    assert messages({"role": role.value, "content": content}) == (said(role, "a\nb"),)
    assert messages(*HI, system=content)[0] == said(Role.SYSTEM, "a\nb")


def test_cache_marks_change_nothing_in_the_prompt() -> None:
    marked = {"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}
    asked = ask(messages=[user(marked)])
    assert asked.talk == ask().talk
    assert (asked.caching, ask().caching) == (True, False)
    for place in (
        {"system": [marked]},
        {"tools": [STOCK | marked]},
        {"cache_control": {"type": "ephemeral"}},
    ):
        assert ask(**place).caching


def test_system_text_stays_where_it_stands() -> None:
    turns = [*HI, {"role": "system", "content": "late"}, {"role": "assistant", "content": "ok"}, *HI]
    found = messages(*turns, system="early")
    assert [message.role for message in found] == ["system", "user", "system", "assistant", "user"]
    assert found[2].text == "late"


@pytest.mark.parametrize(
    "system",
    [[{"type": "text", "text": BILLING}, {"type": "text", "text": "Be kind."}], f"{BILLING}\nBe kind."],
)
def test_the_billing_header_is_left_out_and_that_is_said(system: Any) -> None:
    asked = ask(system=system)
    assert asked.talk.conversation.messages[0].text == "Be kind."
    assert asked.talk.flags == ("BILLING-HEADER-DROPPED",)
    assert asked.talk.normalised == ("billing_header",)
    kept = request({"system": system}, keep=True)
    assert kept.talk.conversation.messages[0].text == f"{BILLING}\nBe kind."
    assert kept.talk.flags == ()


def test_a_system_text_of_nothing_but_the_header_is_none() -> None:
    assert (
        ask(system=[{"type": "text", "text": BILLING}]).talk.conversation.messages
        == ask().talk.conversation.messages
    )


def test_an_answer_comes_back_as_one_turn() -> None:
    blocks = [
        {"type": "thinking", "thinking": "Look it up.", "signature": "foreign"},
        {"type": "text", "text": "I will"},
        {"type": "text", "text": " look."},
        {"type": "tool_use", "id": "a", "name": "stock", "input": {"item": "A", "deep": {"b": 1}}},
        {"type": "tool_use", "id": "b", "name": "now", "input": {}},
    ]
    (message,) = messages({"role": "assistant", "content": blocks})
    assert message.reasoning == "Look it up."
    assert message.text == "I will look."
    assert message.tool_calls == (
        ToolCall("a", "stock", '{"item":"A","deep":{"b":1}}'),
        ToolCall("b", "now", "{}"),
    )


@pytest.mark.parametrize(
    ("block", "reasoning"),
    [
        ({"type": "thinking", "thinking": "", "signature": seal("Hm.\n")}, "Hm.\n"),
        ({"type": "thinking", "thinking": " ", "signature": seal("Hm.")}, "Hm."),
        ({"type": "thinking", "thinking": "Edited.", "signature": seal("Hm.")}, "Edited."),
        ({"type": "thinking", "thinking": "Hm.", "signature": ""}, "Hm."),
        ({"type": "thinking", "thinking": "Hm."}, "Hm."),
        ({"type": "thinking", "thinking": "", "signature": "c2lnLXJlYw=="}, None),
        ({"type": "thinking", "thinking": ""}, None),
        ({"type": "redacted_thinking", "data": seal("Hm.")}, "Hm."),
        ({"type": "redacted_thinking", "data": "c2lnLXJlYw=="}, None),
    ],
)
def test_reasoning_comes_back_with_or_without_its_text(block: Any, reasoning: str | None) -> None:
    (message,) = messages({"role": "assistant", "content": [block, {"type": "text", "text": "ok"}]})
    assert message.reasoning == reasoning


def test_results_stand_before_the_rest_of_the_turn() -> None:
    found = behind_calls(
        user(
            {"type": "text", "text": "go on"}, result("7", "a"), result([{"type": "text", "text": "8"}], "b")
        )
    )
    assert [(m.role, m.text, m.tool_call_id) for m in found] == [
        (Role.TOOL, "7", "a"),
        (Role.TOOL, "8", "b"),
        (Role.USER, "go on", None),
    ]


@pytest.mark.parametrize("history", [[], HI, [*HI, {"role": "assistant", "content": "Which?"}]])
def test_a_result_without_its_call_is_refused_and_the_remedy_named(history: list[Any]) -> None:
    """There is no going on from an answer by its calls alone: requests here have their whole history."""
    with pytest.raises(BadRequest, match="tool_use_id lost; retry by replaying the full messages history"):
        messages(*history, user(result("7", "lost")))
    counted = count_request({"messages": [user(result("7", "lost"))]}, CARD)
    assert counted.conversation.messages[0].text == "7"


def test_a_result_is_told_by_its_id_or_by_its_place() -> None:
    (message,) = behind_calls(user({"type": "tool_result", "content": "7"}))
    assert message.text == "7"
    with pytest.raises(BadRequest, match="tool_use_id c;"):
        behind_calls(user(result("7", "a")), user(result("8", "c")))


@pytest.mark.parametrize("content", [None, "", []])
def test_a_result_may_be_empty(content: Any) -> None:
    (message,) = behind_calls(user(result(content)))
    assert (message.role, message.text) == (Role.TOOL, "")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("no such file", "Error:\nno such file"),
        ("", "Error:"),
        ("Error: no such file", "Error: no such file"),
        ("<tool_use_error>bad</tool_use_error>", "<tool_use_error>bad</tool_use_error>"),
        ("Exit code 3", "Exit code 3"),
    ],
)
def test_the_model_is_told_that_a_call_failed(text: str, told: str) -> None:
    (message,) = behind_calls(user(result(text, is_error=True)))
    assert message.text == told
    assert behind_calls(user(result(text, is_error=False)))[0].text == text


@pytest.mark.parametrize(
    ("block", "text"),
    [
        (IMAGE, "[image (image/png): it cannot be shown to this model]"),
        (
            {"type": "image", "source": {"type": "url", "url": "http://x"}},
            "[image (url): it cannot be shown to this model]",
        ),
        (
            {"type": "document", "title": "T", "source": {"type": "base64", "media_type": "application/pdf"}},
            "T\n[document (application/pdf): it cannot be read here]",
        ),
        (
            {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "words"}},
            "words",
        ),
        (
            {"type": "document", "source": {"type": "content", "content": [{"type": "text", "text": "in"}]}},
            "in",
        ),
        (
            {
                "type": "search_result",
                "title": "T",
                "source": "http://x",
                "content": [{"type": "text", "text": "c"}],
            },
            "T\nhttp://x\nc",
        ),
        ({"type": "from_the_future", "text": "words"}, "words"),
        ({"type": "from_the_future", "data": 1}, ""),
        ({"type": "text"}, ""),
        ({"type": "text", "text": ""}, ""),
    ],
)
def test_whatever_a_tool_returns_comes_down_to_text(block: Any, text: str) -> None:
    assert behind_calls(user(result([block])))[0].text == text


def test_an_image_is_refused_only_where_the_user_sent_it() -> None:
    with pytest.raises(BadRequest, match="cannot show images") as caught:
        messages(user({"type": "text", "text": "look"}, IMAGE))
    assert caught.value.param == "messages.0.content.1"
    beside = behind_calls(user(result("ok"), IMAGE))
    assert beside[1].text.startswith("[image")


@pytest.mark.parametrize(
    ("thinking", "enabled"),
    [
        ({"type": "enabled", "budget_tokens": 31999}, True),
        ({"type": "adaptive", "display": "updates"}, True),
        ({"type": "between_tools"}, True),
        ({"type": "disabled"}, False),
        ({"type": "from_the_future"}, None),
        ({}, None),
        (False, False),
        (None, None),
    ],
)
def test_thinking(thinking: Any, enabled: bool | None) -> None:
    asked = ask(thinking=thinking)
    assert asked.talk.conversation.thinking.enabled is enabled
    assert ("THINKING" in asked.talk.flags) is (enabled is True)


def test_effort_and_the_models_name() -> None:
    assert ask(output_config={"effort": "high"}).talk.conversation.thinking == Thinking(None, "high")
    assert ask(reasoning_effort="low").talk.conversation.thinking == Thinking(None, "low")
    assert ask(
        output_config={"effort": "none"}, thinking={"type": "adaptive"}
    ).talk.conversation.thinking == Thinking(False, "none")
    card = replace(CARD, aliases=(Alias("m", thinking=False),))
    assert request({}, card).talk.conversation.thinking.enabled is False
    assert request({"thinking": {"type": "adaptive"}}, card).talk.conversation.thinking.enabled is True


def test_reasoning_may_be_hidden() -> None:
    assert ask().talk.shows_thinking
    assert not ask(thinking={"type": "adaptive", "display": "omitted"}).talk.shows_thinking


def test_sampling_and_limits() -> None:
    asked = ask(temperature=0.5, top_p=0.9, top_k=5000, max_tokens=10**12, stop_sequences=["x", "", "y"])
    assert asked.sampling == Sampling(temperature=0.5, top_p=0.9, top_k=1024)
    assert (asked.max_tokens, asked.stops) == (2**31 - 1, ("x", "y"))
    assert ask(max_tokens=-1).max_tokens == 0


def test_what_only_their_service_knows_is_skipped() -> None:
    fields = json.loads(
        '{"metadata": {"user_id": "u"}, "context_management": {"edits": [{"type": "clear_thinking"}]},'
        ' "service_tier": "auto", "container": "c", "mcp_servers": [], "betas": ["x"], "speed": "fast"}'
    )
    assert ask(**fields) == ask()


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"messages": None}, "messages"),
        ({"messages": []}, "messages"),
        ({"messages": "hi"}, "messages"),
        ({"messages": [{"content": "hi"}]}, "messages.0.role"),
        ({"messages": [{"role": "robot", "content": "hi"}]}, "messages.0.role"),
        ({"messages": [{"role": "user", "content": 7}]}, "messages.0.content"),
        ({"messages": [user(7)]}, "messages.0.content.0"),
        ({"messages": [user({"type": 7})]}, "messages.0.content.0.type"),
        ({"messages": [user(result([7]))]}, "messages.0.content.0.content.0"),
        ({"system": 7}, "system"),
        ({"tools": {}}, "tools"),
        ({"tools": [7]}, "tools.0"),
        ({"tools": [{"input_schema": {}}]}, "tools.0.name"),
        ({"tools": [STOCK | {"input_schema": "x"}]}, "tools.0.input_schema"),
        ({"tool_choice": 7}, "tool_choice"),
        ({"tool_choice": {"type": "from_the_future"}}, "tool_choice"),
        ({"thinking": "yes"}, "thinking"),
        ({"max_tokens": "many"}, "max_tokens"),
        ({"stop_sequences": [7]}, "stop_sequences.0"),
        ({"stop_sequences": ["x"] * 129}, "stop_sequences"),
        ({"output_config": {"effort": 7}}, "output_config.effort"),
        ({"temperature": "hot"}, "temperature"),
        ({"stream": "yes"}, "stream"),
    ],
)
def test_what_is_wrong_is_named(fields: dict[str, Any], param: str) -> None:
    with pytest.raises(BadRequest) as caught:
        ask(**fields)
    assert caught.value.param == param
