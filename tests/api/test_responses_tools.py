import json
from typing import Any

import pytest

from ds4.api.responses.toolbox import Toolbox, toolbox
from ds4.api.responses.tools import Kind, Ref, offers
from ds4.core.errors import BadRequest


def function(name: str, **fields: Any) -> dict[str, Any]:
    return {"type": "function", "name": name, **fields}


def namespace(name: str, *tools: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "namespace", "name": name, "tools": list(tools), **fields}


def custom(name: str, **fields: Any) -> dict[str, Any]:
    return {"type": "custom", "name": name, **fields}


SEARCH = {"type": "tool_search", "execution": "client", "description": "Looks for tools."}


def box(*tools: Any, **late: Any) -> Toolbox:
    """`late`: tools by the number of the item that brings them, as item_0=[...]."""
    found = {int(key.removeprefix("item_")): offers(value, "t") for key, value in late.items()}
    return toolbox(offers(list(tools), "tools"), found)


def names(tools: Toolbox) -> list[str]:
    return [named.tool.name for named in tools.head]


def raw(tools: Toolbox, number: int = 0) -> Any:
    return json.loads(tools.head[number].tool.raw)


def test_functions_flat_or_wrapped_say_the_same() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    inside = {"name": "f", "description": "D", "parameters": schema, "strict": True}
    flat, wrapped = box({"type": "function", **inside}), box({"type": "function", "function": inside})
    assert flat.head[0].tool == wrapped.head[0].tool
    assert flat == box(inside)
    assert raw(flat) == {"name": "f", "description": "D", "parameters": schema}


def test_hosted_and_unknown_tools_are_skipped() -> None:
    hosted = [
        "web_search",
        "web_search_preview",
        "file_search",
        "code_interpreter",
        "mcp",
        "local_shell",
        "new",
    ]
    assert names(box(*({"type": kind} for kind in hosted), function("f"))) == ["f"]
    assert names(box({"type": "tool_search", "execution": "server"}, {"type": "tool_search"})) == []


def test_a_namespace_is_part_of_the_name_and_comes_back_apart() -> None:
    tools = box(namespace("team", function("ask"), custom("say")), namespace("mcp__git__", function("log")))
    assert names(tools) == ["team__ask", "team__say", "mcp__git__log"]
    assert tools.meant("team__ask") == Ref("ask", "team")
    assert tools.meant("team__say") == Ref("say", "team", Kind.CUSTOM)
    assert tools.spoken("log", "mcp__git__") == "mcp__git__log"
    assert tools.spoken("gone", "old") == "old__gone"


def test_a_namespaces_description_is_told_once() -> None:
    tools = box(
        namespace("n", function("a", description="A"), function("b", description="B"), description="N")
    )
    assert [raw(tools, number)["description"] for number in (0, 1)] == ["N\n\nA", "B"]


def test_a_bare_name_means_the_only_tool_that_has_it() -> None:
    assert box(namespace("n", function("a"))).meant("a") == Ref("a", "n")
    assert box(namespace("n", function("a")), namespace("m", function("a"))).meant("a") == Ref("a")
    assert box(namespace("n", function("a")), function("a")).meant("a") == Ref("a")
    assert box().meant("never_offered") == Ref("never_offered")


def test_names_that_would_be_the_same_are_told_apart() -> None:
    tools = box(function("n__a"), namespace("n", function("a")))
    assert names(tools) == ["n__a", "n__a_2"]
    assert (tools.meant("n__a"), tools.meant("n__a_2")) == (Ref("n__a"), Ref("a", "n"))
    assert tools.spoken("a", "n") == "n__a_2"


def test_a_tool_offered_twice_counts_once() -> None:
    assert names(box(function("a", description="1"), function("a", description="2"))) == ["a"]


def test_a_custom_tool_is_a_function_of_one_text_with_its_grammar_shown() -> None:
    grammar = {"type": "grammar", "syntax": "lark", "definition": "start: /x/"}
    tools = box(custom("patch", description="D", format=grammar))
    schema = raw(tools)["parameters"]
    assert (schema["required"], list(schema["properties"])) == (["input"], ["input"])
    assert schema["properties"]["input"]["type"] == "string"
    assert "lark grammar:\nstart: /x/" in schema["properties"]["input"]["description"]
    nested = box(custom("patch", description="D", format={"type": "grammar", "grammar": grammar}))
    assert nested.head[0].tool == tools.head[0].tool
    assert "grammar" not in json.dumps(raw(box(custom("patch", format={"type": "text"}))))


def test_a_client_side_search_is_a_function() -> None:
    tools = box(SEARCH)
    assert tools.meant("tool_search") == Ref("tool_search", None, Kind.SEARCH)
    assert raw(tools)["description"] == "Looks for tools."
    assert raw(tools)["parameters"]["required"] == ["query"]


def test_deferred_tools_wait_for_a_search_if_there_is_one() -> None:
    deferred = function("f", defer_loading=True)
    assert names(box(SEARCH, deferred)) == ["tool_search"]
    assert names(box(deferred)) == ["f"]


def test_tools_that_come_later_leave_the_head_as_it_was() -> None:
    before, after = box(function("a")), box(function("a"), item_3=[function("b"), function("a")])
    assert before.head == after.head
    assert [named.tool.name for named in after.late[3]] == ["b"]
    assert after.meant("b") == Ref("b")


def test_without_a_head_the_later_ones_are_it() -> None:
    tools = box(item_3=[function("b")], item_5=[function("c")])
    assert (names(tools), dict(tools.late)) == (["b", "c"], {})


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ("all", "tools"),
        ([1], "tools.0"),
        ([function("")], "tools.0.name"),
        ([{"type": "custom"}], "tools.0.name"),
        ([{"type": "namespace", "name": "n"}], "tools.0.tools"),
        ([namespace("n", {"type": "function"})], "tools.0.tools.0.name"),
    ],
)
def test_what_is_no_tool_is_refused_by_its_place(given: Any, path: str) -> None:
    with pytest.raises(BadRequest) as caught:
        offers(given, "tools")
    assert caught.value.param == path
