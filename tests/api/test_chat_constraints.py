"""What Chat and Completions demand of an answer, field by field."""

import json
from typing import Any

import pytest
from api_fakes import CARD, FakeBackend, NotedGuide, World, finish, run

from ds4.api.openai.chat import chat_request
from ds4.api.openai.completions import completion_request
from ds4.core.constraint import Calls, Constraint, Form, Signature, Syntax
from ds4.core.errors import BadRequest, Unsupported
from ds4.core.events import Text
from ds4.core.job import Job

HELLO = [{"role": "user", "content": "hi"}]
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
TEXT = json.dumps(SCHEMA, separators=(",", ":"))
GBNF, LARK = 'root ::= "a"', 'start: "a"'


def tool(name: str, **fields: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": SCHEMA, **fields}}


def custom(name: str, **fields: Any) -> dict[str, Any]:
    return {"type": "custom", "custom": {"name": name, **fields}}


LOOK = Signature("look", TEXT, path="tools.0.function.parameters")
SEE = Signature("see", TEXT, path="tools.1.function.parameters")
BOTH = [tool("look"), tool("see")]


def chat(**fields: Any) -> Constraint | None:
    return chat_request({"messages": HELLO, **fields}, CARD, n_vocab=257).constraint


def completion(**fields: Any) -> Form | None:
    return completion_request({"prompt": "x", **fields}, CARD, n_vocab=257).form


def refused(**fields: Any) -> BadRequest:
    with pytest.raises(BadRequest) as caught:
        chat(tools=BOTH, **fields)
    return caught.value


def allowed(mode: str, *tools: dict[str, Any]) -> dict[str, Any]:
    return {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": list(tools)}}


@pytest.mark.parametrize("choice", [None, "auto", {"type": "auto"}, "none", {"type": "none"}])
def test_most_requests_demand_nothing(choice: Any) -> None:
    assert chat(tools=BOTH, tool_choice=choice) is None
    assert chat(tools=BOTH, tool_choice=choice, parallel_tool_calls=False) is None
    assert chat(tool_choice=choice, response_format={"type": "text"}) is None


SEE_BY_NAME = {"type": "function", "function": {"name": "see"}}


@pytest.mark.parametrize(
    ("choice", "calls"),
    [
        ("required", Calls((LOOK, SEE), required=True)),
        ({"type": "required"}, Calls((LOOK, SEE), required=True)),
        (SEE_BY_NAME, Calls((SEE,), required=True)),
        ({"type": "function", "name": "see"}, Calls((SEE,), required=True)),
        ({"function": {"name": "see"}}, Calls((SEE,), required=True)),
        (allowed("required", SEE_BY_NAME), Calls((SEE,), required=True)),
        (allowed("auto", SEE_BY_NAME), Calls((SEE,))),
        (allowed("auto", SEE_BY_NAME, {"type": "mcp", "server_label": "s"}), Calls((SEE,))),
        ({"type": "allowed_tools", "tools": [{"type": "function", "name": "see"}]}, Calls((SEE,))),
    ],
)
def test_tool_choice(choice: Any, calls: Calls) -> None:
    assert chat(tools=BOTH, tool_choice=choice) == Constraint(calls=calls)
    single = Calls(calls.tools, required=calls.required, single=True)
    assert chat(tools=BOTH, tool_choice=choice, parallel_tool_calls=False) == Constraint(calls=single)


def test_a_choice_leaves_the_prompt_alone() -> None:
    asked = [
        chat_request({"messages": HELLO, "tools": BOTH, "tool_choice": choice}, CARD, 257).conversation
        for choice in ("auto", "required", SEE_BY_NAME, allowed("auto", SEE_BY_NAME))
    ]
    assert asked == asked[:1] * 4


def test_a_strict_tool_demands_something_whenever_it_is_called() -> None:
    strict = Signature("see", TEXT, strict=True, path="tools.1.parameters")
    flat = {"name": "see", "parameters": SCHEMA, "strict": True}
    assert chat(tools=[tool("look"), flat]) == Constraint(calls=Calls((LOOK, strict)))
    assert chat(tools=[tool("look", strict=False)]) is None


def test_a_tool_may_come_without_a_schema() -> None:
    found = chat(tools=[{"function": {"name": "now"}}], tool_choice="required")
    assert found == Constraint(
        calls=Calls((Signature("now", path="tools.0.function.parameters"),), required=True)
    )


@pytest.mark.parametrize(
    ("form", "place"),
    [
        ({"type": "grammar", "grammar": {"syntax": "lark", "definition": LARK}}, "format.grammar"),
        ({"type": "grammar", "syntax": "lark", "definition": LARK}, "format"),
    ],
)
def test_a_custom_tools_grammar_is_kept_to(form: Any, place: str) -> None:
    constraint = chat(tools=[custom("patch", format=form), tool("see")])
    assert constraint is not None
    assert constraint.calls is not None
    patch, see = constraint.calls.tools
    assert patch.text == Form(Syntax.LARK, LARK, f"tools.0.custom.{place}.definition")
    assert json.loads(patch.schema)["required"] == ["input"]
    assert (see, constraint.calls.required) == (SEE, False)


def test_a_custom_tool_without_a_grammar_is_only_demanded() -> None:
    tools = [custom("say", format={"type": "text"}), tool("see")]
    assert chat(tools=tools) is None
    for choice in ({"type": "custom", "custom": {"name": "say"}}, {"type": "custom", "name": "say"}):
        constraint = chat(tools=tools, tool_choice=choice)
        assert constraint is not None
        assert constraint.calls is not None
        assert [found.name for found in constraint.calls.tools] == ["say"]
        assert constraint.calls.tools[0].text is None


def test_functions_from_before_tools() -> None:
    functions: dict[str, Any] = {"functions": [{"name": "look", "parameters": SCHEMA}]}
    look = Signature("look", TEXT, path="functions.0.parameters")
    demanded = Constraint(calls=Calls((look,), required=True, single=True))
    assert chat(**functions, function_call={"name": "look"}) == demanded
    assert chat(**functions, function_call="auto") is chat(**functions) is None
    assert chat(**functions, function_call="none") is None


NAMED = {"type": "json_schema", "json_schema": {"name": "A", "schema": SCHEMA}}
FORMS: list[tuple[dict[str, Any], Form]] = [
    (
        {"response_format": {"type": "json_object"}},
        Form(Syntax.JSON_SCHEMA, '{"type":"object"}', "response_format"),
    ),
    (
        {"response_format": {"type": "json_object", "schema": SCHEMA}},
        Form(Syntax.JSON_SCHEMA, TEXT, "response_format.schema"),
    ),
    ({"response_format": NAMED}, Form(Syntax.JSON_SCHEMA, TEXT, "response_format.json_schema.schema")),
    (
        {"response_format": {**NAMED, "json_schema": {**NAMED["json_schema"], "strict": False}}},  # type: ignore[dict-item]
        Form(Syntax.JSON_SCHEMA, TEXT, "response_format.json_schema.schema"),
    ),
    ({"json_schema": SCHEMA}, Form(Syntax.JSON_SCHEMA, TEXT, "json_schema")),
    ({"json_schema": {}}, Form(Syntax.JSON_SCHEMA, "{}", "json_schema")),
    ({"grammar": GBNF}, Form(Syntax.GBNF, GBNF, "grammar")),
    ({"guided_grammar": GBNF}, Form(Syntax.GBNF, GBNF, "guided_grammar")),
    ({"guided_grammar": LARK}, Form(Syntax.LARK, LARK, "guided_grammar")),
    ({"guided_json": SCHEMA}, Form(Syntax.JSON_SCHEMA, TEXT, "guided_json")),
    ({"guided_json": TEXT}, Form(Syntax.JSON_SCHEMA, TEXT, "guided_json")),
    ({"guided_regex": "a*"}, Form(Syntax.REGEX, "a*", "guided_regex")),
    (
        {"guided_choice": ["yes", 'a "b"\n']},
        Form(Syntax.LARK, 'start: CHOICE\nCHOICE: "yes" | "a \\"b\\"\\n"\n', "guided_choice"),
    ),
    (
        {"structured_outputs": {"json": SCHEMA, "regex": None}},
        Form(Syntax.JSON_SCHEMA, TEXT, "structured_outputs.json"),
    ),
    ({"structured_outputs": {"regex": "a*"}}, Form(Syntax.REGEX, "a*", "structured_outputs.regex")),
    ({"structured_outputs": {"grammar": LARK}}, Form(Syntax.LARK, LARK, "structured_outputs.grammar")),
    (
        {"structured_outputs": {"choice": ["a"]}},
        Form(Syntax.LARK, 'start: CHOICE\nCHOICE: "a"\n', "structured_outputs.choice"),
    ),
    (
        {"structured_outputs": {"json_object": True, "disable_any_whitespace": True}},
        Form(Syntax.JSON_SCHEMA, '{"type":"object"}', "structured_outputs.json_object"),
    ),
]


@pytest.mark.parametrize(("fields", "form"), FORMS)
def test_forms(fields: dict[str, Any], form: Form) -> None:
    assert chat(**fields) == Constraint(form)
    assert completion(**fields) == form
    assert chat(tools=BOTH, **fields) == Constraint(form, Calls((LOOK, SEE)))


NO_FORM: list[dict[str, Any]] = [
    {"response_format": {"type": "text"}},
    {"response_format": {}},
    {"grammar": "", "guided_choice": [], "guided_regex": "", "guided_json": None, "json_schema": False},
    {"structured_outputs": {}},
    {"structured_outputs": {"json": None, "json_object": False, "regex": ""}},
]


@pytest.mark.parametrize("fields", NO_FORM)
def test_what_demands_no_form(fields: dict[str, Any]) -> None:
    assert chat(**fields) is None
    assert completion(**fields) is None


@pytest.mark.parametrize(
    ("fields", "param", "other"),
    [
        ({"response_format": NAMED, "grammar": GBNF}, "grammar", "response_format"),
        ({"guided_json": {}, "guided_regex": "a"}, "guided_regex", "guided_json"),
        ({"json_schema": {}, "structured_outputs": {"regex": "a"}}, "structured_outputs", "json_schema"),
        (
            {"structured_outputs": {"regex": "a", "choice": ["a"]}},
            "structured_outputs.regex",
            "structured_outputs.choice",
        ),
    ],
)
def test_two_forms_are_refused_and_both_named(fields: dict[str, Any], param: str, other: str) -> None:
    error = refused(**fields)
    assert error.param == param
    assert f"{other} and {param} " in error.message


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"tool_choice": "look"}, "tool_choice"),
        ({"tool_choice": 7}, "tool_choice"),
        ({"tool_choice": {"type": "web_search"}}, "tool_choice"),
        ({"tool_choice": {"type": "function", "function": {"name": "gone"}}}, "tool_choice.function.name"),
        ({"tool_choice": {"type": "function", "name": "gone"}}, "tool_choice.name"),
        ({"tool_choice": {"type": "function"}}, "tool_choice.name"),
        ({"tool_choice": {"type": "custom", "custom": {"name": ""}}}, "tool_choice.custom.name"),
        ({"tool_choice": allowed("any", SEE_BY_NAME)}, "tool_choice.allowed_tools.mode"),
        ({"tool_choice": allowed("required")}, "tool_choice"),
        ({"tool_choice": {"type": "allowed_tools"}}, "tool_choice.tools"),
        (
            {"tool_choice": allowed("auto", SEE_BY_NAME, {"function": {"name": "gone"}})},
            "tool_choice.allowed_tools.tools.1.function.name",
        ),
        ({"response_format": "json"}, "response_format"),
        ({"response_format": {"type": "xml"}}, "response_format"),
        ({"response_format": {"schema": {}}}, "response_format.type"),
        ({"response_format": {"type": "json_schema"}}, "response_format.schema"),
        (
            {"response_format": {"type": "json_schema", "json_schema": {}}},
            "response_format.json_schema.schema",
        ),
        ({"grammar": 7}, "grammar"),
        ({"json_schema": [1]}, "json_schema"),
        ({"guided_json": "{"}, "guided_json"),
        ({"guided_choice": ["a", ""]}, "guided_choice"),
        ({"guided_choice": "a"}, "guided_choice"),
        ({"guided_regex": {}}, "guided_regex"),
        ({"structured_outputs": "a"}, "structured_outputs"),
        ({"structured_outputs": {"json_object": "yes"}}, "structured_outputs.json_object"),
        ({"structured_outputs": {"structural_tag": "{}"}}, "structured_outputs.structural_tag"),
    ],
)
def test_what_is_wrong_is_named(fields: dict[str, Any], param: str) -> None:
    error = refused(**fields)
    assert error.param == param
    assert param in error.message


@pytest.mark.parametrize(
    ("tools", "param"),
    [
        ([{"type": "custom", "custom": {}}], "tools.0.custom.name"),
        ([{"type": "custom"}], "tools.0.name"),
        ([{"type": "custom", "custom": "x"}], "tools.0.custom"),
        (
            [custom("a", format={"type": "grammar", "syntax": "ebnf", "definition": "x"})],
            "tools.0.custom.format.syntax",
        ),
        (
            [custom("a", format={"type": "grammar", "grammar": {"syntax": "regex"}})],
            "tools.0.custom.format.grammar.definition",
        ),
    ],
)
def test_broken_custom_tools_are_named(tools: Any, param: str) -> None:
    with pytest.raises(BadRequest) as caught:
        chat(tools=tools)
    assert caught.value.param == param


def test_a_call_cannot_be_demanded_without_tools() -> None:
    for fields in ({}, {"tools": [{"type": "web_search"}]}):
        with pytest.raises(BadRequest) as caught:
            chat(tool_choice="required", **fields)
        assert caught.value.param == "tool_choice"


def posted(path: str, **fields: Any) -> tuple[Job, ...]:
    made = World(FakeBackend([(Text("x"), finish())]))
    reply = run(made.client().post(f"/v1/{path}", fields))
    assert reply.status == 200, reply.body
    return tuple(made.backend.jobs)


def guides(*jobs: Job) -> list[NotedGuide]:
    return [job.guide for job in jobs if isinstance(job.guide, NotedGuide)]


def test_every_choice_gets_its_own_guide_with_all_it_must_know() -> None:
    jobs = posted(
        "chat/completions",
        messages=[*HELLO, {"role": "assistant", "content": '{"a'}],
        tools=BOTH,
        json_schema=SCHEMA,
        thinking=False,
        stop="end",
        logprobs=True,
        n=3,
    )
    found = guides(*jobs)
    assert len(set(map(id, found))) == 3
    for guide, job in zip(found, jobs, strict=True):
        wished = guide.wished
        assert wished.constraint == Constraint(
            Form(Syntax.JSON_SCHEMA, TEXT, "json_schema"), Calls((LOOK, SEE))
        )
        assert (wished.plan, wished.kind, wished.stops, wished.tokens) == (job.plan, job.kind, ("end",), True)
        assert (wished.thinks, wished.begun) == (False, '{"a')
        assert [named.name for named in wished.tools] == ["look", "see"]


@pytest.mark.parametrize(
    "turn",
    [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": "x", "tool_calls": [{"id": "a", "function": {"name": "look"}}]},
    ],
)
def test_only_a_last_answer_is_gone_on_with(turn: Any) -> None:
    (guide,) = guides(*posted("chat/completions", messages=[*HELLO, turn], json_schema={}))
    assert (guide.wished.begun, guide.wished.thinks) == ("", None)


def test_every_prompt_of_a_completion_gets_its_guides() -> None:
    jobs = posted("completions", prompt=["a", "b"], n=2, guided_regex="a*")
    found = guides(*jobs)
    assert [guide.wished.plan.text for guide in found] == ["a", "a", "b", "b"]
    assert {guide.wished.constraint for guide in found} == {
        Constraint(Form(Syntax.REGEX, "a*", "guided_regex"))
    }
    assert guides(*posted("completions", prompt="a")) == []


def test_what_the_guides_maker_refuses_is_a_400_before_anything_runs() -> None:
    made = World(refused_form=Unsupported("json_schema.properties.a", "has a keyword `x`"))
    for path, fields in (("chat/completions", {"messages": HELLO}), ("completions", {"prompt": "x"})):
        body = {**fields, "json_schema": SCHEMA, "stream": True, "n": 2}
        reply = run(made.client().post(f"/v1/{path}", body))
        assert (reply.status, reply.json()["error"]["param"]) == (400, "json_schema.properties.a")
    assert made.backend.jobs == []
