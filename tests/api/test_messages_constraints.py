"""What Messages demands of an answer."""

from typing import Any

import pytest
from api_fakes import CARD, FakeBackend, NotedGuide, World, finish, run

from ds4.api.anthropic.request import count_request, messages_request
from ds4.core.constraint import Calls, Constraint, Form, Signature, Syntax
from ds4.core.errors import BadRequest, Unsupported
from ds4.core.events import Text

HI: list[Any] = [{"role": "user", "content": "hi"}]
STOCK = {"name": "stock", "input_schema": {"type": "object"}}
NOW = {"name": "now"}
FORMAT = {"type": "json_schema", "schema": {"type": "object", "required": ["title"]}}
SCHEMA = '{"type":"object","required":["title"]}'
STOCK_, NOW_ = (
    Signature("stock", '{"type":"object"}', path="tools.0.input_schema"),
    Signature("now", path="tools.1.input_schema"),
)


def ask(**fields: Any) -> Constraint | None:
    return messages_request({"messages": HI, **fields}, CARD).constraint


@pytest.mark.parametrize("choice", [None, {"type": "auto"}, {"type": "none"}])
@pytest.mark.parametrize("one", [{}, {"disable_parallel_tool_use": True}])
def test_most_requests_demand_nothing(choice: Any, one: Any) -> None:
    assert ask(tools=[STOCK, NOW], tool_choice=choice and choice | one) is None


@pytest.mark.parametrize(
    ("choice", "tools"),
    [({"type": "any"}, (STOCK_, NOW_)), ({"type": "tool", "name": "now"}, (NOW_,))],
)
@pytest.mark.parametrize("single", [False, True])
def test_a_call_is_demanded(choice: Any, tools: tuple[Signature, ...], single: bool) -> None:
    calls = Calls(tools, required=True, single=single)
    choice = choice | {"disable_parallel_tool_use": single}
    # Their vendor refuses this together with thinking.
    for thinking in ({"type": "enabled", "budget_tokens": 1024}, {"type": "disabled"}):
        assert ask(tools=[STOCK, NOW], tool_choice=choice, thinking=thinking) == Constraint(calls=calls)


def test_a_strict_tool() -> None:
    strict = Signature("stock", '{"type":"object"}', strict=True, path="tools.0.input_schema")
    assert ask(tools=[STOCK | {"strict": True}, NOW]) == Constraint(calls=Calls((strict, NOW_)))
    assert ask(tools=[STOCK | {"strict": True}], tool_choice={"type": "none"}) is None


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"output_config": {"format": FORMAT, "effort": "high"}}, "output_config.format"),
        ({"output_format": FORMAT}, "output_format"),
    ],
)
def test_a_format(fields: dict[str, Any], path: str) -> None:
    form = Form(Syntax.JSON_SCHEMA, SCHEMA, f"{path}.schema")
    assert ask(**fields) == Constraint(form)
    assert ask(tools=[STOCK], **fields) == Constraint(form, Calls((STOCK_,)))


def test_deferred_tools_can_be_called_once_they_are_known() -> None:
    tools = [STOCK, NOW | {"defer_loading": True, "strict": True}]
    assert ask(tools=tools) is None
    added = {"role": "system", "content": [{"type": "tool_reference", "tool_name": "now"}]}
    now = Signature("now", strict=True, path="tools.1.input_schema")
    assert ask(tools=tools, messages=[*HI, added]) == Constraint(calls=Calls((STOCK_, now)))
    with pytest.raises(BadRequest, match=r"tool_choice\.name"):
        ask(tools=tools, tool_choice={"type": "tool", "name": "now"})


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"tool_choice": {"type": "tool", "name": "gone"}}, "tool_choice.name"),
        ({"tool_choice": {"type": "tool"}}, "tool_choice.name"),
        ({"output_format": "json"}, "output_format"),
        ({"output_format": {"type": "json_schema"}}, "output_format.schema"),
        ({"output_config": {"format": {"type": "xml"}}}, "output_config.format"),
        ({"output_config": {"format": FORMAT}, "output_format": FORMAT}, "output_format"),
    ],
)
def test_what_is_wrong_is_named(fields: dict[str, Any], param: str) -> None:
    with pytest.raises(BadRequest) as caught:
        ask(tools=[STOCK], **fields)
    assert caught.value.param == param
    assert param in caught.value.message


def test_a_call_cannot_be_demanded_without_tools() -> None:
    with pytest.raises(BadRequest) as caught:
        ask(tool_choice={"type": "any"}, tools=[{"type": "web_search_20250305", "name": "web_search"}])
    assert caught.value.param == "tool_choice"


def test_counting_demands_nothing() -> None:
    raw: dict[str, Any] = {"messages": HI, "tool_choice": {"type": "any"}, "output_format": {"type": "xml"}}
    assert count_request(raw, CARD).conversation.messages


def test_the_answer_gets_a_guide() -> None:
    made = World(FakeBackend([(Text("{}"), finish())]))
    body = {"messages": [*HI, {"role": "assistant", "content": "{"}], "output_config": {"format": FORMAT}}
    body |= {"thinking": {"type": "adaptive"}, "stop_sequences": ["x"]}
    assert run(made.client().post("/v1/messages", body)).status == 200
    (job,) = made.backend.jobs
    assert isinstance(job.guide, NotedGuide)
    wished = job.guide.wished
    assert wished.constraint == Constraint(Form(Syntax.JSON_SCHEMA, SCHEMA, "output_config.format.schema"))
    assert (wished.plan, wished.stops, wished.thinks, wished.begun) == (job.plan, ("x",), True, "{")
    run(made.client().post("/v1/messages", {"messages": HI}))
    assert made.backend.jobs[1].guide is None


def test_what_the_guides_maker_refuses_is_a_400_that_says_where() -> None:
    made = World(refused_form=Unsupported("output_format.schema.not"))
    reply = run(made.client().post("/v1/messages", {"messages": HI, "output_format": FORMAT, "stream": True}))
    assert reply.status == 400
    assert "output_format.schema.not" in reply.json()["error"]["message"]
