import json
from typing import Any

import pytest

from ds4.api.openai.messages import IMAGE_LEFT_OUT, NO_IMAGES
from ds4.api.responses.history import messages_of
from ds4.api.responses.toolbox import Toolbox, toolbox
from ds4.api.responses.tools import offers
from ds4.api.sealed import Seals, seal
from ds4.core.errors import BadRequest
from ds4.core.messages import Message, Role

TOOLS: list[Any] = [
    {"type": "namespace", "name": "team", "tools": [{"type": "function", "name": "ask"}]},
    {"type": "custom", "name": "patch"},
    {"type": "tool_search", "execution": "client"},
]
IMAGE = {"type": "input_image", "image_url": "data:image/png;base64,AA=="}


def say(role: str, content: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": content, **fields}


def call(call_id: str = "c", **fields: Any) -> dict[str, Any]:
    return {"type": "function_call", "call_id": call_id, "name": "f", "arguments": "{}"} | fields


def output(given: Any, call_id: str = "c", kind: str = "function_call_output") -> dict[str, Any]:
    return {"type": kind, "call_id": call_id, "output": given}


def read(*items: Any, tools: Toolbox | None = None) -> tuple[Message, ...]:
    return messages_of(items, tools or toolbox(offers(TOOLS, "tools"), {}), Seals())


def last(*items: Any) -> Message:
    return read(*items)[-1]


def test_an_answer_is_one_turn() -> None:
    question, turn, *results = read(
        say("user", "q"),
        {"type": "reasoning", "id": "rs_1", "summary": [], "content": None, "encrypted_content": seal("hm")},
        say("assistant", [{"type": "output_text", "text": "I will.", "annotations": []}], id="msg_1"),
        call("a"),
        call("b", name="g"),
        output("1", "a"),
        output("2", "b"),
    )
    assert (question.role, question.text) == (Role.USER, "q")
    assert (turn.role, turn.reasoning, turn.text) == (Role.ASSISTANT, "hm", "I will.")
    assert [(made.id, made.name) for made in turn.tool_calls] == [("a", "f"), ("b", "g")]
    assert [(result.tool_call_id, result.text) for result in results] == [("a", "1"), ("b", "2")]


def test_what_follows_a_result_is_a_turn_of_its_own() -> None:
    messages = read(
        say("user", "q"), call("a"), output("1", "a"), call("b"), output("2", "b"), say("assistant", "x")
    )
    assert [message.role.value for message in messages] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "tool",
        "assistant",
    ]


def test_messages_of_one_turn_are_joined() -> None:
    (turn,) = read(
        say("assistant", "Checking.", phase="commentary"), say("assistant", "Four.", phase="final_answer")
    )
    assert turn.text == "Checking.\n\nFour."


@pytest.mark.parametrize("role", ["system", "developer"])
def test_system_text_stays_in_its_place(role: str) -> None:
    messages = read(say("user", "q"), say(role, "note"), say("user", "r"))
    assert [message.role.value for message in messages] == ["user", role, "user"]


@pytest.mark.parametrize(
    ("item", "reasoning"),
    [
        (
            {"encrypted_content": seal("all of it"), "summary": [{"type": "summary_text", "text": "part"}]},
            "all of it",
        ),
        (
            {"encrypted_content": "Zm9yZWlnbg==", "summary": [{"type": "summary_text", "text": "part"}]},
            "part",
        ),
        ({"summary": [], "content": [{"type": "reasoning_text", "text": "raw"}]}, "raw"),
        ({"summary": [], "content": None, "encrypted_content": None}, None),
        ({"summary": [], "encrypted_content": seal("x")[:-4] + "AAAA"}, None),
    ],
)
def test_reasoning_comes_back_from_the_best_copy(item: Any, reasoning: str | None) -> None:
    (turn,) = read({"type": "reasoning", **item}, say("assistant", "a"))
    assert turn.reasoning == reasoning


def test_a_custom_calls_input_is_its_only_argument() -> None:
    patch = "*** Begin\n+é\n"
    item = {"type": "custom_tool_call", "call_id": "c", "name": "patch", "input": patch}
    _, turn, result = read(say("user", "q"), item, output("done", kind="custom_tool_call_output"))
    assert json.loads(turn.tool_calls[0].arguments) == {"input": patch}
    assert result.text == "done"


def test_a_namespaced_call_has_the_name_the_model_knows() -> None:
    assert last(call(name="ask", namespace="team")).tool_calls[0].name == "team__ask"


def test_a_search_and_its_findings() -> None:
    found = [{"type": "function", "name": "new"}]
    search = {"type": "tool_search_call", "call_id": "s", "execution": "client", "arguments": {"query": "x"}}
    answer = {"type": "tool_search_output", "call_id": "s", "tools": found}
    tools = toolbox(offers(TOOLS, "tools"), {2: offers(found, "t")})
    _, turn, result = read(say("user", "q"), search, answer, tools=tools)
    assert (turn.tool_calls[0].name, turn.tool_calls[0].arguments) == ("tool_search", '{"query":"x"}')
    assert ([tool.name for tool in result.tools], result.text) == (["new"], "")
    known = read(say("user", "q"), search, answer)[-1]
    assert (known.tools, known.text) == ((), "Found: new")


def test_tools_added_in_mid_conversation_are_shown_there() -> None:
    added = {"type": "additional_tools", "role": "developer", "tools": []}
    tools = toolbox(offers(TOOLS, "tools"), {1: offers([{"type": "function", "name": "new"}], "t")})
    _, note, _ = read(say("user", "q"), added, say("user", "r"), tools=tools)
    assert (note.role, [tool.name for tool in note.tools]) == (Role.DEVELOPER, ["new"])


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("plain", "plain"),
        (None, ""),
        ([{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}], "ab"),
        ([{"type": "input_text", "text": "see "}, IMAGE], "see " + IMAGE_LEFT_OUT),
        ([{"stdout": "x", "stderr": ""}], '[{"stdout":"x","stderr":""}]'),
        ({"ok": True}, '{"ok":true}'),
    ],
)
def test_results_in_all_their_forms(given: Any, text: str) -> None:
    assert last(call(), output(given)).text == text


def test_an_image_of_the_users_is_refused() -> None:
    with pytest.raises(BadRequest, match=NO_IMAGES):
        read(say("user", [{"type": "input_text", "text": "what is this?"}, IMAGE]))


def test_a_file_is_left_out_with_a_word() -> None:
    (message,) = read(say("user", [{"type": "input_file", "filename": "a.pdf", "file_data": "AA=="}]))
    assert "a.pdf left out" in message.text


def test_a_result_without_an_id_answers_the_call_that_waits_longest() -> None:
    results = read(call("a"), call("b"), output("2", "b"), {"type": "function_call_output", "output": "1"})[
        -2:
    ]
    assert [result.tool_call_id for result in results] == ["b", "a"]


def test_a_result_without_its_call_is_refused_with_the_way_out() -> None:
    with pytest.raises(BadRequest, match="call_id lost; retry by replaying the full input history"):
        read(say("user", "q"), output("1", "lost"))


@pytest.mark.parametrize(
    "item",
    [
        {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search"}},
        {"type": "mcp_list_tools", "tools": []},
        {"type": "computer_call_output", "call_id": "x", "output": {}},
        {"type": "compaction", "encrypted_content": "not ours"},
        {"type": "configuration_update", "reasoning": {"effort": "high"}},
        {"type": "never_heard_of"},
    ],
)
def test_other_items_are_skipped(item: Any) -> None:
    assert len(read(say("user", "q"), item)) == 1


def test_tools_that_clients_run_themselves_are_calls() -> None:
    item = {"type": "local_shell_call", "id": "ls_1", "call_id": "c", "action": {"command": ["ls"]}}
    result = {"type": "local_shell_call_output", "id": "c", "output": "a.txt"}
    turn, answer = read(item, result)
    assert (turn.tool_calls[0].name, answer.text) == ("local_shell", "a.txt")


def test_a_compaction_is_the_history_it_stands_for() -> None:
    (message,) = read({"type": "compaction", "id": "cmp_1", "encrypted_content": seal("They agreed.")})
    assert message.role is Role.USER
    assert message.text.endswith("They agreed.")


def test_statuses_ids_and_types_may_be_missing() -> None:
    bare = read(
        {"role": "user", "content": "q"}, {"role": "assistant", "content": [{"type": "text", "text": "a"}]}
    )
    assert bare == read(say("user", "q", id="x", status="incomplete"), say("assistant", "a", id="y"))


@pytest.mark.parametrize(
    ("item", "param"),
    [
        (say("narrator", "x"), "input.0.role"),
        (say("user", 5), "input.0.content"),
        (say("user", [5]), "input.0.content.0"),
        (call(name=""), "input.0.name"),
    ],
)
def test_what_cannot_be_read_is_refused_by_its_place(item: Any, param: str) -> None:
    with pytest.raises(BadRequest) as caught:
        read(item)
    assert caught.value.param == param
