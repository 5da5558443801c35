"""The real test of a grammar: whatever a model samples under it, the reader gives back what was demanded."""

import json
import re

import pytest
from constrain_answers import (
    MODELS,
    Answer,
    compiled,
    compiler,
    form,
    guide,
    may_call,
    must_call,
    read,
    sampled,
    signature,
    takes,
    text_of,
)
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from ds4.constrain.style import Start
from ds4.core.constraint import Calls, Constraint, Signature, Syntax
from ds4.core.errors import BadRequest
from ds4.core.messages import ToolCall
from ds4.prompt.layouts.calls import call_parts
from thorough import THOROUGH

every_model = pytest.mark.parametrize("model", MODELS)
NASTY = ["a", "ab", 'x"<y', "</parameter>", "</arg_value>", "</｜DSML｜parameter>", "\n\n z", "1", "😀\\"]
STOCK = signature(
    "stock",
    {
        "type": "object",
        "properties": {
            "item": {"type": "string"},
            "depth": {"type": "integer", "minimum": 1, "maximum": 99},
            "mode": {"enum": NASTY},
            "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
            "note": {"type": ["string", "null"], "maxLength": 5},
        },
        "required": ["item", "mode"],
        "additionalProperties": False,
    },
)
EDIT = signature(
    "edit.file-2",
    {
        "type": "object",
        "properties": {
            "path": {"type": "string", "pattern": "^/[a-z]{1,9}$"},
            "lines": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "integer"}}]},
            "any": {},
            "count": {"type": ["string", "integer", "boolean"]},
        },
        "required": ["path"],
        "additionalProperties": {"type": "integer"},
    },
)
CLOCK = signature("clock", {"type": "object"})
NOTHING = signature("nothing", {"type": "object", "properties": {}, "additionalProperties": False})
TOOLS = (STOCK, EDIT, CLOCK, NOTHING)
CHECKS = {tool.name: Draft202012Validator(json.loads(tool.schema)) for tool in TOOLS}
THINKING = Start(in_reasoning=True)


def answer(
    model: str, constraint: Constraint, start: Start, seed: int, tools: tuple[Signature, ...] = TOOLS
) -> Answer:
    ids = sampled(model, guide(model, constraint, start), seed)
    formed = constraint.form is not None
    found = read(model, ids, tools, reasoning_open=start.in_reasoning, formed=formed)
    for name, arguments in found.calls:
        if name in CHECKS:
            CHECKS[name].validate(arguments)
    return found


def call_text(model: str, *arguments: object) -> str:
    written = MODELS[model].tool_format.written.by(compiler(model).words.ids)
    calls = [ToolCall("", "stock", json.dumps(each)) for each in arguments]
    return "".join(part.text for part in call_parts(calls, written, ""))


@every_model
def test_calls_that_are_demanded_come(model: str) -> None:
    for seed in range(2 if THOROUGH else 1):
        found = answer(model, must_call(*TOOLS), Start(), seed)
        assert found.calls
        assert not found.text
        assert not found.reasoning
        assert not found.malformed


@every_model
def test_one_call_behind_reasoning(model: str) -> None:
    found = answer(model, must_call(STOCK, EDIT, single=True), THINKING, 1)
    assert [name in ("stock", "edit.file-2") for name, _ in found.calls] == [True]
    assert not found.text


@every_model
def test_reasoning_may_come_or_not(model: str) -> None:
    said: list[Answer] = []
    while len(said) < 8 and (THOROUGH or len({bool(each.reasoning) for each in said}) < 2):
        said.append(answer(model, must_call(NOTHING, single=True), Start(may_reason=True), len(said)))
    assert {bool(each.reasoning) for each in said} == {True, False}
    assert all(each.calls == [("nothing", {})] and not each.text for each in said)


@every_model
def test_calls_that_may_come_are_sound(model: str) -> None:
    said = [answer(model, may_call(STOCK, NOTHING), Start(may_reason=True), seed) for seed in range(4)]
    assert any(each.text or each.calls for each in said)


@every_model
def test_text_stays_free_where_calls_only_may_come(model: str) -> None:
    header = MODELS[model].tool_format.written.text
    for text in ("", "No.", 'if a < b: {"name": "Bob"}\n', "<b>\n\n</tool_response> [1]"):
        assert takes(model, guide(model, may_call(STOCK)), header + text), text


@every_model
def test_a_form_is_kept_with_and_without_tools(model: str) -> None:
    schema = json.loads(STOCK.schema)
    wanted = form(Syntax.JSON_SCHEMA, STOCK.schema)
    for start in (Start(), THINKING):
        found = answer(model, Constraint(wanted), start, 2, ())
        Draft202012Validator(schema).validate(json.loads(found.text))
        assert not found.calls


@every_model
def test_with_a_form_and_tools_it_is_one_or_the_other(model: str) -> None:
    both = Constraint(form(Syntax.JSON_SCHEMA, STOCK.schema), Calls((STOCK,)))
    header = MODELS[model].tool_format.written.text
    assert takes(model, guide(model, both), header + '{"item": "A", "mode": "ab"}')
    assert takes(model, guide(model, both), call_text(model, {"item": "A", "mode": "ab"}))
    assert not takes(model, guide(model, both), header + "Well.")


@every_model
def test_a_call_is_what_a_prompt_shows_of_calls(model: str) -> None:
    arguments = {"item": "a <b>\n", "depth": 7, "mode": "1", "tags": ["x", "y"], "note": None}
    for given in ([arguments], [arguments, {"item": "", "mode": 'x"<y'}]):
        text = call_text(model, *given)
        if len(given) > 1 and MODELS[model].name == "gpt-oss":
            continue  # its end token closes a call
        assert takes(model, guide(model, must_call(STOCK)), text)
        assert takes(model, guide(model, must_call(STOCK, single=True)), text) is (len(given) == 1)


@pytest.mark.parametrize("model", ["deepseek-v4.1", "gpt-oss", "plain glm"])
@pytest.mark.parametrize(
    ("syntax", "text", "pattern"),
    [
        (Syntax.REGEX, "[a-c]{2,5}(/[0-9]+)?", "[a-c]{2,5}(/[0-9]+)?"),
        (Syntax.LARK, 'start: "yes" | "no" NUMBER\nNUMBER: /[0-9]{1,3}/', "yes|no[0-9]{1,3}"),
        (Syntax.LARK, 'start: N ("+" N)*\nN: /[0-9]+/\n%ignore " "', r" *[0-9]+( *\+ *[0-9]+)* *"),
        (Syntax.GBNF, 'root ::= "yes" | [a-c]+ "/" num\nnum ::= [0-9]+\n', "yes|[a-c]+/[0-9]+"),
    ],
)
def test_a_grammar_is_kept(model: str, syntax: Syntax, text: str, pattern: str) -> None:
    for seed in range(3):
        found = answer(model, Constraint(form(syntax, text)), THINKING, seed, ())
        assert re.fullmatch(pattern, found.text), found.text


def test_what_is_no_gbnf_is_refused_by_name() -> None:
    with pytest.raises(BadRequest) as caught:
        compiled("chatml", Constraint(form(Syntax.GBNF, "root := (", "grammar")))
    assert caught.value.param == "grammar"


@every_model
def test_text_of_a_regex_for_a_custom_tool(model: str) -> None:
    wanted = form(Syntax.REGEX, "[a-c]{2,5}(/[0-9]+)?", "tools.0.format.definition")
    tool = Signature("patch", path="tools.0", text=wanted)
    read_as = signature("patch", {"properties": {"input": {"type": "string"}}})
    found = answer(model, must_call(tool, single=True), Start(), 3, (read_as,))
    ((name, arguments),) = found.calls
    assert name == "patch"
    assert list(arguments) == ["input"]
    assert re.fullmatch(wanted.text, arguments["input"])


PATCH = """start: "*** Begin" LF line+ "*** End" LF?
line: "+" /[a-z ]*/ LF
%import common.LF
"""


@every_model
def test_text_of_a_grammar_for_a_custom_tool(model: str) -> None:
    tool = Signature("patch", path="tools.0", text=form(Syntax.LARK, PATCH, "tools.0.format.definition"))
    read_as = signature("patch", {"properties": {"input": {"type": "string"}}})
    if MODELS[model].tool_format.written.parameters is None:
        with pytest.raises(BadRequest) as caught:
            compiled(model, must_call(tool))
        assert caught.value.param == "tools.0.format.definition"
        assert compiled(model, may_call(tool)).dropped == ("tools.0.format.definition: grammar",)
        return
    assert compiled(model, may_call(tool)).dropped == ()
    for seed in range(2):
        ((_, arguments),) = answer(model, must_call(tool, single=True), Start(), seed, (read_as,)).calls
        assert re.fullmatch(r"\*\*\* Begin\n(\+[a-z ]*\n)+\*\*\* End\n?", arguments["input"])


@every_model
def test_an_answer_that_has_begun_goes_on(model: str) -> None:
    start = Start(begun='{"item": "A')
    wanted = Constraint(form(Syntax.JSON_SCHEMA, STOCK.schema))
    ids = sampled(model, guide(model, wanted, start), 5)
    CHECKS["stock"].validate(json.loads(start.begun + text_of(model, ids)))
