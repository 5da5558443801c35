"""Every row of the table: what it makes equal, what the report says of it, and its switch."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from api_fakes import CARD

from ds4.api.anthropic.request import messages_request
from ds4.api.normalise import ALL_NORMALISED, NORMALISATIONS, SWITCHES, AsSent
from ds4.api.openai import normalised as chat
from ds4.api.openai.chat import conversation_of
from ds4.api.responses import normalised as responses
from ds4.api.responses.request import InputBody, asked_of
from ds4.api.responses.resolve import Shelf
from ds4.api.responses.store import MemoryStore
from ds4.api.validate import validated
from ds4.core.messages import Conversation
from ds4.testing.inside import Setting, inside

DOCS = Path(__file__).resolve().parents[2] / "docs" / "cache.md"
MARK = {"cache_control": {"type": "ephemeral"}}
BILLING = "x-anthropic-billing-header: cc_version=2.1; cch=1;"
HI = {"role": "user", "content": "hi"}
Seen = tuple[Conversation, tuple[str, ...]]


def seen_in_chat(raw: dict[str, Any], as_sent: AsSent = ALL_NORMALISED) -> Seen:
    found = chat.normalised(raw, as_sent)
    return conversation_of(found.body, CARD), found.names


def seen_in_responses(raw: dict[str, Any], as_sent: AsSent = ALL_NORMALISED) -> Seen:
    found = responses.normalised(raw, as_sent)
    asked = asked_of(validated(InputBody, found.body), CARD, Shelf(MemoryStore(), ""))
    return asked.conversation, found.names


def seen_in_messages(raw: dict[str, Any], as_sent: AsSent = ALL_NORMALISED) -> Seen:
    talk = messages_request(raw, CARD, as_sent).talk
    return talk.conversation, talk.normalised


APIS = {"Chat": seen_in_chat, "Responses": seen_in_responses, "Messages": seen_in_messages}


def function(**more: object) -> dict[str, object]:
    return {"name": "read", "description": "Reads", "parameters": {"type": "object"}, **more}


def chat_tool(**more: object) -> dict[str, Any]:
    return {"messages": [HI], "tools": [{"type": "function", "function": function(**more)}]}


def flat_tool(**more: object) -> dict[str, Any]:
    return {"messages": [HI], "tools": [{"type": "function", **function(**more)}]}


def old_function(**more: object) -> dict[str, Any]:
    return {"messages": [HI], "functions": [function(**more)]}


def response_tool(**more: object) -> dict[str, Any]:
    return {"input": "hi", "tools": [{"type": "function", **function(**more)}]}


def spaced_tool(**more: object) -> dict[str, Any]:
    inner = {"type": "function", **function(**more)}
    return {"input": "hi", "tools": [{"type": "namespace", "name": "fs", "tools": [inner]}]}


def brought_tool(**more: object) -> dict[str, Any]:
    tools = [{"type": "function", **function(**more)}]
    return {"input": [{"type": "additional_tools", "tools": tools}, HI]}


# billing_header


@pytest.mark.parametrize(
    "system", [f"{BILLING}\nBe brief.", [{"type": "text", "text": f"{BILLING}\nBe brief."}]]
)
def test_the_billing_header_is_left_out_unless_it_is_to_stay(system: object) -> None:
    plain, nothing = seen_in_messages({"messages": [HI], "system": "Be brief."})
    without, named = seen_in_messages({"messages": [HI], "system": system})
    assert (without, named, nothing) == (plain, ("billing_header",), ())
    kept, unnamed = seen_in_messages({"messages": [HI], "system": system}, AsSent({"billing_header"}))
    assert BILLING in kept.messages[0].text
    assert unnamed == ()


# cache_control


@pytest.mark.parametrize(
    ("api", "made"),
    [
        ("Chat", chat_tool),
        ("Chat", flat_tool),
        ("Chat", old_function),
        ("Responses", response_tool),
        ("Responses", spaced_tool),
        ("Responses", brought_tool),
    ],
)
def test_a_mark_in_a_tool_is_left_out_unless_it_is_to_stay(api: str, made: Any) -> None:
    look = APIS[api]
    plain, nothing = look(made())
    without, named = look(made(**MARK))
    assert (without, named, nothing) == (plain, ("cache_control",), ())
    kept, unnamed = look(made(**MARK), AsSent({"cache_control"}))
    assert json.loads(kept.tools[0].raw)["cache_control"] == MARK["cache_control"]
    assert unnamed == ()


@pytest.mark.parametrize(
    ("api", "raw"),
    [
        # Where it stands it would never have been in the prompt.
        ("Chat", {"messages": [HI], "tools": [{"type": "function", "function": function(), **MARK}]}),
        ("Chat", {"messages": [{"role": "user", "content": [{"type": "text", "text": "hi", **MARK}]}]}),
        ("Chat", {**chat_tool(**MARK), "tool_choice": "none"}),
        ("Responses", {**response_tool(**MARK), "tool_choice": "none"}),
        ("Responses", {"input": [{**HI, **MARK}]}),
        ("Messages", {"messages": [{"role": "user", "content": [{"type": "text", "text": "hi", **MARK}]}]}),
        (
            "Messages",
            {"messages": [HI], "tools": [{"name": "read", "input_schema": {"type": "object"}, **MARK}]},
        ),
    ],
)
def test_other_marks_are_not_worth_a_word(api: str, raw: dict[str, Any]) -> None:
    conversation, named = APIS[api](raw)
    assert named == ()
    assert "cache_control" not in repr(conversation)


@pytest.mark.parametrize(
    "tools", [None, "x", 7, [None, "x", 7], [{"function": 7}], [{"type": "namespace", "tools": 7}]]
)
def test_malformed_tools_are_left_to_the_parser(tools: object) -> None:
    for body in ({"messages": 3, "tools": tools}, {"messages": [3, {"tool_calls": 4}], "tools": tools}):
        assert chat.normalised(body, ALL_NORMALISED).body == body
    for given in (3, [3], "x"):
        odd = {"input": given, "tools": tools}
        assert responses.normalised(odd, ALL_NORMALISED).body == odd


# content_forms


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("role", ["user", "assistant", "system"])
def test_a_text_is_the_same_in_every_form(api: str, role: str) -> None:
    kind = "text" if api != "Responses" else "output_text" if role == "assistant" else "input_text"
    forms = [
        "Be brief.",
        [{"type": kind, "text": "Be brief."}],
        [{"type": kind, "text": "Be brief.", **MARK}],
    ]
    field = "input" if api == "Responses" else "messages"
    seen = [APIS[api]({field: [HI, {"role": role, "content": form}, HI]}) for form in forms]
    assert seen == [(seen[0][0], ())] * 3


@pytest.mark.parametrize("api", APIS)
def test_null_is_no_text(api: str) -> None:
    field = "input" if api == "Responses" else "messages"
    forms: list[object] = [None, [], ""]
    seen = [APIS[api]({field: [HI, {"role": "user", "content": form}]}) for form in forms]
    assert [conversation.messages[1].text for conversation, _ in seen] == [""] * 3
    assert [named for _, named in seen] == [()] * 3


# ids


def chat_turn(call: str | None, result: str | None) -> dict[str, Any]:
    made = {"id": call, "type": "function", "function": {"name": "read", "arguments": "{}"}}
    answer = {"role": "assistant", "content": None, "tool_calls": [made]}
    return {"messages": [HI, answer, {"role": "tool", "content": "text", "tool_call_id": result}]}


def response_turn(call: str | None, result: str | None) -> dict[str, Any]:
    made = {"type": "function_call", "name": "read", "arguments": "{}", "call_id": call}
    return {"input": [HI, made, {"type": "function_call_output", "output": "text", "call_id": result}]}


def messages_turn(call: str | None, result: str | None) -> dict[str, Any]:
    made: dict[str, Any] = {"type": "tool_use", "id": call, "name": "read", "input": {}}
    told = {"type": "tool_result", "tool_use_id": result, "content": "text"}
    return {"messages": [HI, {"role": "assistant", "content": [made]}, {"role": "user", "content": [told]}]}


TURNS: dict[str, Callable[[str | None, str | None], dict[str, Any]]] = {
    "Chat": chat_turn,
    "Responses": response_turn,
    "Messages": messages_turn,
}


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    ("call", "result", "named"), [("c1", "c1", ()), ("c1", None, ("ids",)), (None, None, ("ids",))]
)
def test_missing_ids_of_calls_are_named(
    api: str, call: str | None, result: str | None, named: object
) -> None:
    raw = json.loads(json.dumps(TURNS[api](call, result)), object_hook=_without_nulls)
    conversation, found = APIS[api](raw)
    assert found == named
    assert [message.text for message in conversation.messages][-1] == "text"


def _without_nulls(value: dict[str, Any]) -> dict[str, Any]:
    return {key: item for key, item in value.items() if item is not None}


def test_the_old_words_for_calls_have_no_ids() -> None:
    call = {"role": "assistant", "function_call": {"name": "read", "arguments": "{}"}}
    said = {"role": "function", "name": "read", "content": "text"}
    assert seen_in_chat({"messages": [HI, call, said]})[1] == ("ids",)


def test_ids_and_statuses_of_items_make_no_difference() -> None:
    bare = response_turn("c1", "c1")
    dressed = {
        "input": [{**item, "id": f"x_{n}", "status": "completed"} for n, item in enumerate(bare["input"])]
    }
    assert seen_in_responses(dressed) == seen_in_responses(bare)
    turn = chat_turn("c1", "c1")
    named = {"messages": [{**message, "id": f"m_{n}"} for n, message in enumerate(turn["messages"])]}
    assert seen_in_chat(named) == seen_in_chat(turn)


# unknown_items


@pytest.mark.parametrize(
    ("api", "raw"),
    [
        ("Chat", {"messages": [HI, {"role": "assistant", "content": "a", "tool_calls": [{"id": "c1"}]}, HI]}),
        ("Responses", {"input": [HI, {"type": "web_search_call", "id": "ws_1"}]}),
        (
            "Messages",
            {
                "messages": [
                    HI,
                    {"role": "assistant", "content": [{"type": "server_tool_use", "id": "s", "name": "web"}]},
                ]
            },
        ),
        ("Messages", {"messages": [HI, {"role": "assistant", "content": [{"type": "tool_use", "id": "s"}]}]}),
    ],
)
def test_what_cannot_be_written_is_named(api: str, raw: dict[str, Any]) -> None:
    conversation, named = APIS[api](raw)
    assert named == ("unknown_items",)
    assert not any(message.tool_calls for message in conversation.messages)


# The table


def test_the_table_is_documented_as_it_is() -> None:
    rows = [line for line in DOCS.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    written = {line.split("`")[1]: line for line in rows}
    for row in NORMALISATIONS:
        reported = f"where {row.reported}" if row.reported else "never"
        switch = f"none: {row.unswitched}" if row.unswitched else f"`--no-normalise {row.name}`"
        words = (f"`{row.name}`", ", ".join(row.apis), row.does, reported, switch)
        assert written[row.name] == f"| {' | '.join(words)} |"


def test_what_has_a_switch() -> None:
    assert SWITCHES == ("billing_header", "cache_control")


@pytest.mark.parametrize(
    ("path", "raw", "named"),
    [
        ("/v1/chat/completions", chat_tool(**MARK), ["cache_control"]),
        ("/v1/responses", {"model": "m", **response_tool(**MARK)}, ["cache_control"]),
        ("/v1/responses/compact", {"model": "m", **response_turn("c", None)}, ["ids"]),
        ("/v1/messages", {"messages": [HI], "system": BILLING}, ["billing_header"]),
        ("/v1/chat/completions", chat_turn("c", "c"), []),
    ],
)
def test_the_report_of_a_request_has_the_names(path: str, raw: dict[str, Any], named: list[str]) -> None:
    async def body() -> None:
        desk = inside(lambda prompt: "fine", Setting())  # noqa: ARG005
        reply = await desk.client.post(path, {**raw, "max_tokens": 3})
        assert reply.status == 200, reply.body
        report = await desk.client.get(f"/requests/{reply.headers['x-ds4-request']}")
        assert report.json()["cache"]["normalised"] == named
        assert f"normalised={','.join(named)}" in reply.headers["x-ds4-cache"] or not named

    asyncio.run(body())
