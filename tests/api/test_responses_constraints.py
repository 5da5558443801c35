"""What Responses demands of an answer, and that the answer says so."""

import json
from typing import Any

import pytest
from api_fakes import FakeBackend, NotedGuide, World, finish, run
from responses_reading import read

from ds4.core.constraint import Calls, Constraint, Form, Signature, Syntax
from ds4.core.errors import Unsupported
from ds4.core.events import Text
from ds4.testing.asgi import Reply

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
TEXT = json.dumps(SCHEMA, separators=(",", ":"))
ANSWER = [(Text("Done."), finish())]


def function(name: str, **fields: Any) -> dict[str, Any]:
    return {"type": "function", "name": name, "parameters": SCHEMA, **fields}


def namespace(name: str, *tools: Any) -> dict[str, Any]:
    return {"type": "namespace", "name": name, "tools": list(tools)}


PATCH = {
    "type": "custom",
    "name": "patch",
    "format": {"type": "grammar", "syntax": "regex", "definition": "x+"},
}
LOOK = Signature("look", TEXT, path="tools.0.parameters")
SEE = Signature("see", TEXT, path="tools.1.parameters")
BOTH = [function("look"), function("see")]


def post(made: World, path: str = "", **fields: Any) -> Reply:
    return run(made.client().post(f"/v1/responses{path}", {"model": "m", "input": "hi", **fields}))


def demanded(**fields: Any) -> Constraint | None:
    made = World(FakeBackend(ANSWER))
    reply = post(made, **fields)
    assert reply.status == 200, reply.body
    guide = made.backend.jobs[0].guide
    return guide.wished.constraint if isinstance(guide, NotedGuide) else None


def names(constraint: Constraint | None) -> list[str]:
    assert constraint is not None
    assert constraint.calls is not None
    return [tool.name for tool in constraint.calls.tools]


@pytest.mark.parametrize("choice", [None, "auto", "none"])
def test_most_requests_demand_nothing(choice: Any) -> None:
    for parallel in (True, False):
        assert demanded(tools=BOTH, tool_choice=choice, parallel_tool_calls=parallel) is None
    assert demanded(tool_choice=choice, text={"format": {"type": "text"}, "verbosity": "low"}) is None


NAME_SEE = {"type": "function", "name": "see"}


@pytest.mark.parametrize(
    ("choice", "calls"),
    [
        ("required", Calls((LOOK, SEE), required=True)),
        (NAME_SEE, Calls((SEE,), required=True)),
        ({"type": "allowed_tools", "mode": "required", "tools": [NAME_SEE]}, Calls((SEE,), required=True)),
        ({"type": "allowed_tools", "mode": "auto", "tools": [NAME_SEE]}, Calls((SEE,))),
    ],
)
def test_tool_choice(choice: Any, calls: Calls) -> None:
    assert demanded(tools=BOTH, tool_choice=choice) == Constraint(calls=calls)
    single = Calls(calls.tools, required=calls.required, single=True)
    assert demanded(tools=BOTH, tool_choice=choice, parallel_tool_calls=False) == Constraint(calls=single)


def test_strict_tools_and_grammars_count_whenever_they_are_called() -> None:
    strict = Signature("look", TEXT, strict=True, path="tools.0.parameters")
    assert demanded(tools=[function("look", strict=True)]) == Constraint(calls=Calls((strict,)))
    assert demanded(tools=[function("look", strict=False)]) is None
    constraint = demanded(tools=[function("look"), PATCH])
    assert names(constraint) == ["look", "patch"]
    assert constraint is not None
    assert constraint.calls is not None
    assert constraint.calls.tools[1].text == Form(Syntax.REGEX, "x+", "tools.1.format.definition")


def test_tools_are_meant_by_the_clients_names_and_called_by_the_models() -> None:
    tools = [
        namespace("n", function("ask"), PATCH),
        namespace("m", function("ask")),
        {"type": "tool_search", "execution": "client"},
    ]
    for choice, meant in (
        ({"type": "function", "name": "ask"}, ["n__ask", "m__ask"]),
        ({"type": "function", "name": "ask", "namespace": "m"}, ["m__ask"]),
        ({"type": "function", "name": "n__ask"}, ["n__ask"]),
        ({"type": "custom", "name": "patch"}, ["n__patch"]),
        ({"type": "function", "name": "tool_search"}, ["tool_search"]),
    ):
        assert names(demanded(tools=tools, tool_choice=choice)) == meant
    constraint = demanded(tools=tools, tool_choice={"type": "function", "name": "ask"})
    assert constraint is not None
    assert constraint.calls is not None
    assert [tool.path for tool in constraint.calls.tools] == [
        "tools.0.tools.0.parameters",
        "tools.1.tools.0.parameters",
    ]


def test_tools_that_came_later_can_be_called() -> None:
    later = {"type": "additional_tools", "role": "developer", "tools": [function("late", strict=True)]}
    items = [{"role": "user", "content": "q"}, later]
    constraint = demanded(tools=[function("look")], input=items)
    late = Signature("late", TEXT, strict=True, path="input.1.tools.0.parameters")
    assert constraint == Constraint(calls=Calls((LOOK, late)))


def test_formats() -> None:
    form = Form(Syntax.JSON_SCHEMA, TEXT, "text.format.schema")
    given = {"type": "json_schema", "name": "A", "schema": SCHEMA}
    assert demanded(text={"format": given}) == Constraint(form)
    assert demanded(text={"format": given | {"strict": False}}, tools=BOTH) == Constraint(
        form, Calls((LOOK, SEE))
    )
    anything = Form(Syntax.JSON_SCHEMA, '{"type":"object"}', "text.format")
    assert demanded(text={"format": {"type": "json_object"}}) == Constraint(anything)


@pytest.mark.parametrize(
    ("given", "repeated"),
    [
        ({"type": "json_object"}, {"type": "json_object"}),
        (
            {"type": "json_schema", "name": "A", "schema": SCHEMA},
            {"type": "json_schema", "name": "A", "schema": SCHEMA, "description": None, "strict": True},
        ),
        (
            {"type": "json_schema", "name": "A", "schema": SCHEMA, "strict": False},
            {"type": "json_schema", "name": "A", "schema": SCHEMA, "description": None, "strict": False},
        ),
    ],
)
def test_the_answer_repeats_what_was_asked(given: Any, repeated: Any) -> None:
    choice = {"type": "function", "name": "look"}
    tools = [function("look", strict=True)]
    fields: dict[str, Any] = {
        "text": {"format": given, "verbosity": "low"},
        "tool_choice": choice,
        "tools": tools,
    }
    whole = post(World(FakeBackend(ANSWER)), **fields).json()
    streamed = read(post(World(FakeBackend(ANSWER)), stream=True, **fields).body)
    for answer in (whole, streamed.response, streamed.events[0]["response"]):
        assert answer["text"] == {"format": repeated, "verbosity": "low"}
        assert answer["tool_choice"] == choice
        assert answer["tools"][0]["strict"] is True


def test_counting_and_compaction_demand_nothing() -> None:
    made = World(FakeBackend(ANSWER))
    fields: dict[str, Any] = {"tools": [function("look", strict=True)], "tool_choice": "required"}
    assert post(made, "/input_tokens", **fields).status == 200
    assert post(made, "/compact", **fields).status == 200
    assert [job.guide for job in made.backend.jobs] == [None]


def test_what_the_guides_maker_refuses_is_a_400_before_anything_runs() -> None:
    made = World(refused_form=Unsupported("tools.0.parameters.not"))
    reply = post(made, tools=[function("look", strict=True)], stream=True)
    assert (reply.status, reply.json()["error"]["param"]) == (400, "tools.0.parameters.not")
    assert made.backend.jobs == []
