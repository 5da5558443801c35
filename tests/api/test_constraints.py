"""What is demanded of an answer, whatever the API: when there is a constraint, and of what."""

import pytest

from ds4.api.constraints import Mode, Pick, ToolChoice, constraint_of
from ds4.core.constraint import Calls, Constraint, Form, Signature, Syntax
from ds4.core.errors import BadRequest

LOOK, SEE = Signature("look", "{}"), Signature("see", "{}")
STRICT = Signature("strict", "{}", strict=True)
PATCH = Signature("patch", text=Form(Syntax.LARK, "start: /x/", "tools.0.format.definition"))
FORM = Form(Syntax.JSON_SCHEMA, "{}", "response_format")
REQUIRED = ToolChoice(Mode.REQUIRED)
AUTO = ToolChoice()


def only(mode: Mode, *names: str) -> ToolChoice:
    return ToolChoice(mode, tuple(Pick(name, f"tool_choice.{name}") for name in names))


@pytest.mark.parametrize(
    ("choice", "tools"), [(AUTO, ()), (AUTO, (LOOK, SEE)), (ToolChoice(Mode.NONE), (LOOK, STRICT))]
)
def test_without_a_demand_there_is_no_constraint(choice: ToolChoice, tools: tuple[Signature, ...]) -> None:
    assert constraint_of(None, choice, tools) is None
    assert constraint_of(None, choice, tools, single=True) is None


@pytest.mark.parametrize(
    ("choice", "tools", "calls"),
    [
        (REQUIRED, (LOOK, SEE), Calls((LOOK, SEE), required=True)),
        (only(Mode.REQUIRED, "see"), (LOOK, SEE), Calls((SEE,), required=True)),
        (only(Mode.AUTO, "see"), (LOOK, SEE), Calls((SEE,))),
        (AUTO, (LOOK, STRICT), Calls((LOOK, STRICT))),
        (AUTO, (LOOK, PATCH), Calls((LOOK, PATCH))),
        (REQUIRED, (LOOK, SEE, LOOK), Calls((LOOK, SEE), required=True)),
        (only(Mode.REQUIRED, "see", "see"), (LOOK, SEE), Calls((SEE,), required=True)),
    ],
)
def test_calls(choice: ToolChoice, tools: tuple[Signature, ...], calls: Calls) -> None:
    assert constraint_of(None, choice, tools) == Constraint(calls=calls)
    made = constraint_of(None, choice, tools, single=True)
    assert made == Constraint(calls=Calls(calls.tools, required=calls.required, single=True))


def test_with_a_form_the_answer_has_it_or_calls() -> None:
    assert constraint_of(FORM, AUTO, ()) == Constraint(FORM)
    assert constraint_of(FORM, AUTO, (LOOK,)) == Constraint(FORM, Calls((LOOK,)))
    assert constraint_of(FORM, ToolChoice(Mode.NONE), (LOOK,)) == Constraint(FORM)


def test_where_a_call_is_demanded_no_text_can_have_a_form() -> None:
    assert constraint_of(FORM, REQUIRED, (LOOK,)) == Constraint(calls=Calls((LOOK,), required=True))


@pytest.mark.parametrize(
    ("choice", "tools", "param"),
    [
        (REQUIRED, (), "tool_choice"),
        (only(Mode.REQUIRED), (LOOK,), "tool_choice"),
        (ToolChoice(Mode.REQUIRED, field="function_call"), (), "function_call"),
        (only(Mode.REQUIRED, "gone"), (LOOK,), "tool_choice.gone"),
        (only(Mode.AUTO, "look", "gone"), (LOOK,), "tool_choice.gone"),
    ],
)
def test_tools_that_are_not_there_are_named(
    choice: ToolChoice, tools: tuple[Signature, ...], param: str
) -> None:
    with pytest.raises(BadRequest) as caught:
        constraint_of(None, choice, tools)
    assert caught.value.param == param
    assert param in caught.value.message
