"""The chat reader beyond its golden outputs: promptness, control tokens, stop strings, sampling hints."""

import json
import re

import pytest
from feeding import bytewise, control, plain
from transcripts import TOOLS, Outcome, reader, run

from ds4.core.events import (
    FinishReason,
    Hint,
    ParsedEvent,
    Reasoning,
    Stop,
    Text,
    ToolArgs,
    ToolEnd,
    ToolStart,
)
from ds4.core.messages import Tool
from ds4.core.ports import Piece, Reader
from ds4.core.sampling import Sampled
from ds4.formats.reasoning import THINK
from ds4.formats.tools.glm import GLM
from ds4.formats.tools.registry import TOOL_FORMATS, tool_format_named
from ds4.parsing.answer import AnswerSpec, answer_reader
from ds4.testing.ids import SequentialIds

FORMATS = [tool_format.name for tool_format in TOOL_FORMATS]
every_format = pytest.mark.parametrize("name", FORMATS)
DSML_VALUE = (
    '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="edit">\n<｜DSML｜parameter name="text" string="true">'
)
DSML_JSON = DSML_VALUE.replace("true", "false")
DSML_CALL = DSML_VALUE + "x</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜tool_calls>"
VALUES = {
    "dsml": DSML_VALUE,
    "dsml_v41": re.sub("(?<=DSML｜)(?:tool_)?", " ", DSML_VALUE),
    "glm": "<tool_call>edit<arg_key>text</arg_key><arg_value>",
    "qwen_xml": "<tool_call>\n<function=edit>\n<parameter=text>\n",
    "hermes_json": '<tool_call>{"name": "edit", "arguments": {"text": "',
    "llama_json": '{"name": "edit", "parameters": {"text": "',
    "mistral": '[TOOL_CALLS]edit[ARGS]{"text": "',
    "harmony": '<|channel|>commentary to=functions.edit<|message|>{"text": "',
}
"""The beginning of a call, up to the inside of a string."""


def feed(target: Reader, text: str) -> tuple[ParsedEvent, ...]:
    return target.feed(plain(text.encode())).events


def said(events: tuple[ParsedEvent, ...]) -> str:
    return "".join(event.text for event in events if isinstance(event, (Text, Reasoning, ToolArgs)))


def arguments(outcome: Outcome) -> list[object]:
    return [json.loads(event.text) for event in outcome.events if isinstance(event, ToolArgs)]


# Promptness.


@every_format
@pytest.mark.parametrize("reasoning_open", [False, True])
def test_text_and_reasoning_appear_at_once(name: str, reasoning_open: bool) -> None:
    target = reader(name, reasoning_open=reasoning_open)
    for char in "It is a <b>, {c} & [d]; e<":
        out = said(feed(target, f"x{char}x"))
        assert out.endswith("x"), char


@every_format
def test_only_what_may_become_a_tag_waits(name: str) -> None:
    target = reader(name)
    assert said(feed(target, "a < b")) == "a < b"
    assert said(feed(target, " ")) == ""
    assert said(feed(target, "c")) == " c"
    assert said(feed(target, "<b")) == "<b"


@every_format
def test_string_arguments_stream(name: str) -> None:
    target = reader(name)
    feed(target, VALUES[name] + "x")
    for text in ["ab", "<b>", "é🙂"]:
        assert said(feed(target, text)) == text


@every_format
def test_the_name_appears_before_the_arguments(name: str) -> None:
    events = feed(reader(name), VALUES[name])
    assert isinstance(events[0], ToolStart)
    assert events[0].name == "edit"
    assert said(events) == '{"text":'


def test_typed_values_wait_for_their_end() -> None:
    target = reader("dsml")
    feed(target, DSML_JSON)
    assert feed(target, "[1, 2") == ()
    assert said(feed(target, "]</｜DSML｜parameter>")) == "[1,2]"


# Control tokens and cut characters.


def test_markup_may_come_as_control_tokens() -> None:
    pieces: list[Piece] = [
        control("<think>"),
        plain(b"why"),
        control("</think>"),
        plain(b"\n"),
        control("<tool_call>"),
        plain(b"clock"),
        control("</tool_call>"),
    ]
    target = reader("glm", reasoning_open=True)
    events = [event for piece in pieces for event in target.feed(piece).events]
    start = ToolStart(0, "call_" + "0" * 32, "clock")
    assert events == [Reasoning("why"), start, ToolArgs(0, "{}"), ToolEnd(0)]
    assert target.flush().hint.stop == Stop(FinishReason.TOOL_CALLS)


@every_format
def test_other_control_tokens_are_not_seen(name: str) -> None:
    target = reader(name)
    feeds = [plain(b"a"), control("<|nobody|>"), plain(b"b")]
    assert [event for piece in feeds for event in target.feed(piece).events] == [Text("a"), Text("b")]


@pytest.mark.parametrize("name", VALUES)
def test_emoji_split_anywhere_in_arguments(name: str) -> None:
    data = (VALUES[name] + "👨‍👩‍👧").encode()
    assert arguments(run(reader(name), bytewise(data))) == [{"text": "👨‍👩‍👧"}]


# Stop strings.


def test_stop_strings_count_in_visible_text_only() -> None:
    raw = "STOP</think>Go. " + DSML_CALL.replace("x<", "STOP<")
    outcome = run(reader("dsml", reasoning_open=True, stops=("STOP",)), bytewise(raw.encode()))
    assert outcome.events[:2] == (Reasoning("STOP"), Text("Go."))
    assert arguments(outcome) == [{"text": "STOP"}]
    assert outcome.stop == Stop(FinishReason.TOOL_CALLS)


def test_a_stop_string_in_the_text_ends_the_answer_before_a_call() -> None:
    outcome = run(reader("dsml", stops=("STOP",)), bytewise(("Go STOP" + DSML_CALL).encode()))
    assert outcome == Outcome((Text("Go "),), Stop(FinishReason.STOP, "STOP"))


def test_text_held_for_a_stop_string_comes_before_the_call() -> None:
    outcome = run(reader("dsml", stops=("end of it",)), [("The end" + DSML_CALL).encode()])
    assert outcome.events[0] == Text("The end")


def test_a_stop_string_behind_a_call_is_named() -> None:
    raw = b"<tool_call>clock</tool_call>So STOP it"
    outcome = run(reader("glm", stops=("STOP",)), [raw])
    assert outcome.stop == Stop(FinishReason.STOP, "STOP")
    assert outcome.events[-1] == Text("So ")


# Logprobs.


@every_format
def test_each_visible_text_names_its_tokens(name: str) -> None:
    target = reader(name, want_tokens=True)
    sampled = [Sampled(number) for number in range(5)]
    words = ["Hi", " a", " <", "b>", " c"]
    fed = [
        target.feed(Piece(word.encode(), token.id, control=False, sampled=token))
        for word, token in zip(words, sampled, strict=True)
    ]
    events = [event for part in [*fed, target.flush()] for event in part.events]
    texts = [event for event in events if isinstance(event, Text)]
    assert [token for text in texts for token in text.tokens] == sampled
    assert "".join(text.text for text in texts) == "".join(words)


# Sampling.


def greedy_after(target: Reader, text: str) -> list[bool]:
    return [target.feed(plain(char.encode())).hint.greedy for char in text]


@every_format
@pytest.mark.parametrize("reasoning_open", [False, True])
def test_text_and_reasoning_are_sampled_freely(name: str, reasoning_open: bool) -> None:
    target = reader(name, reasoning_open=reasoning_open)
    assert not any(greedy_after(target, "\n Some <b> text, {and} [more]."))
    assert target.feed(plain(b"<tool")).hint == Hint()


@every_format
def test_payload_is_sampled_freely(name: str) -> None:
    target = reader(name)
    feed(target, VALUES[name])
    assert not any(greedy_after(target, "Some <b> 'text', {and} [more]."))


@every_format
def test_structure_is_sampled_greedily(name: str) -> None:
    before = {"llama_json": "{", "harmony": "<|channel|>"}.get(name)
    target = reader(name)
    opening = before or VALUES[name][: VALUES[name].index("edit")].rstrip("[]>TOL_CARGS\n ")
    feed(target, opening)
    inside = VALUES[name][len(opening) :].rstrip('"\n')
    inside = inside.removesuffix(">")
    assert greedy_after(target, inside)[-1]


def test_json_values_are_greedy_outside_their_strings_only() -> None:
    target = reader("dsml")
    feed(target, DSML_JSON)
    assert greedy_after(target, '[1,"a b",2]') == [True] * 3 + [False] * 4 + [True] * 4


def test_a_partial_closing_tag_is_greedy_from_its_second_character() -> None:
    target = reader("dsml")
    feed(target, DSML_VALUE)
    assert greedy_after(target, "a</｜Dx") == [False, False, True, True, True, False]


@pytest.mark.parametrize("name", ["dsml", "glm", "qwen_xml"])
@pytest.mark.parametrize("piece", ["</", "x</", "</｜", "\n</", "</par"])
def test_no_greedy_loop_on_partial_tags(name: str, piece: str) -> None:
    """A model that repeats a partial tag is sampled freely soon, and as long as it goes on."""
    target = reader(name)
    feed(target, VALUES[name])
    hints = [target.feed(plain(piece.encode())).hint.greedy for _ in range(1000)]
    assert not any(hints[20:])


def test_no_greedy_loop_in_structure() -> None:
    target = reader("dsml")
    feed(target, "<｜DSML｜tool_calls>")
    call = '<｜DSML｜invoke name="clock">\n</｜DSML｜invoke>\n'
    hints = [target.feed(plain(call.encode())).hint.greedy for _ in range(100)]
    assert hints[0]
    assert not any(hints[20:])


def test_sampling_is_free_again_when_a_block_turns_out_to_be_text() -> None:
    target = reader("dsml")
    assert target.feed(plain("<｜DSML｜tool_calls>".encode())).hint.greedy
    assert not target.feed(b_piece := plain(b"So")).hint.greedy
    assert not target.feed(b_piece).hint.greedy


# The end.


@every_format
def test_nothing_is_read_after_the_end_of_a_cut_call(name: str) -> None:
    outcome = run(reader(name), [(VALUES[name] + "half").encode()], cut=True)
    assert outcome.stop is None
    assert not any(isinstance(event, ToolEnd) for event in outcome.events)
    assert outcome.events[-1] == ToolArgs(0, '{"text":"half')


@every_format
def test_a_call_the_model_left_open_is_completed(name: str) -> None:
    outcome = run(reader(name), [(VALUES[name] + "half").encode()])
    assert arguments(outcome) == [{"text": "half"}]
    assert outcome.events[-1] == ToolEnd(0)
    assert outcome.stop == Stop(FinishReason.TOOL_CALLS)


def test_malformed_blocks_are_reported() -> None:
    heard: list[str] = []
    spec = AnswerSpec(SequentialIds(), THINK, GLM, tools=TOOLS, remark=heard.append)
    feed(answer_reader(spec), "a <tool_call>b c")
    assert heard == ["invalid tool call returned as text: '<tool_call>'"]


def test_a_key_without_an_end_is_text_behind_the_call() -> None:
    raw = "<tool_call>clock<arg_key>" + "k" * 2000
    outcome = run(reader("glm"), bytewise(raw.encode()))
    assert outcome == run(reader("glm"), [raw.encode()])
    assert arguments(outcome) == [{}]
    assert outcome.events[-1] == Text("k" * 2000)


# Size.

DEEP = 50_000
MANY = 10_000
NESTED = DSML_VALUE.replace(' string="true"', "")
BOMBS = {
    "brackets in a value": ("dsml", DSML_JSON + "[" * DEEP),
    "objects": ("hermes_json", '<tool_call>{"name": "n", "arguments": {"a": ' + '{"a": ' * DEEP),
    "parameters in parameters": ("dsml", NESTED + '<｜DSML｜parameter name="o">' * MANY),
    "blocks": ("dsml", "<｜DSML｜tool_calls>" * MANY),
    "calls without a name": ("hermes_json", '<tool_call>{"arguments": {"a": "' * MANY),
    "quotes": ("hermes_json", VALUES["hermes_json"] + '" ' * MANY),
    "keys": ("hermes_json", VALUES["hermes_json"] + '", ' + '"' * MANY),
    "bare objects": ("llama_json", "{" * MANY),
    "tags": ("mistral", "[TOOL_CALLS]" * MANY),
    "headers": ("harmony", "<|channel|>" * MANY),
    "keys without an end": ("glm", "<tool_call>a<arg_key>" + "k " * MANY),
    "blanks": ("qwen_xml", " " * MANY),
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_bombs_end_well(bomb: str) -> None:
    """The time grows with the length: quadratic code would take a minute here."""
    name, raw = BOMBS[bomb]
    outcome = run(reader(name), [raw.encode()])
    complete = [json.loads(args) for args in _shallow(outcome)]
    assert all(isinstance(args, dict) for args in complete)


def _shallow(outcome: Outcome) -> list[str]:
    """json.loads has a limit of its own."""
    args = (event.text for event in outcome.events if isinstance(event, ToolArgs))
    return [text for text in args if text.count("{") < 100]


@every_format
def test_a_megabyte_of_argument(name: str) -> None:
    text = "a long line of <b>text</b> &amp; more, " * 27_000
    body = json.dumps(text)[1:-1] if tool_format_named(name).written.parameters is None else text
    outcome = run(reader(name), [(VALUES[name] + body).encode()])
    assert arguments(outcome) == [{"text": text}]


# Schemas.


@pytest.mark.parametrize(
    ("schema", "raw", "value"),
    [
        ({"type": "string"}, "12", "12"),
        ({"type": "integer"}, "12", 12),
        ({"type": "number"}, "1.5", 1.5),
        ({"type": "boolean"}, "true", True),
        ({"type": "boolean"}, "True", "True"),
        ({"type": ["string", "null"]}, "null", None),
        ({"type": ["string", "null"]}, "12", "12"),
        ({"type": ["string", "number"]}, "12", 12),
        ({"anyOf": [{"type": "string"}, {"type": "array"}]}, "[1]", [1]),
        ({"anyOf": [{"type": "string"}, {"type": "array"}]}, "{}", "{}"),
        ({"enum": ["1", "2"]}, "1", "1"),
        ({"enum": [1, 2]}, "1", 1),
        ({"const": "1"}, "1", "1"),
        ({"$ref": "#/$defs/text"}, "1", "1"),
        ({"$ref": "#/properties/value"}, "1", 1),
        ({"$ref": "https://example.com/text"}, "1", 1),
        ({"allOf": [{"$ref": "#/$defs/text"}, {"minLength": 1}]}, "1", "1"),
        ({}, "1", 1),
        ({}, "one", "one"),
        (True, "1", 1),
        (None, "1", 1),
    ],
)
def test_the_schema_decides_what_a_plain_value_is(schema: object, raw: str, value: object) -> None:
    parameters = {"$defs": {"text": {"type": "string"}}, "properties": {"value": schema}}
    tools = (Tool("f", json.dumps({"name": "f", "parameters": parameters})),)
    text = f"<tool_call>f<arg_key>value</arg_key><arg_value>{raw}</arg_value></tool_call>"
    assert arguments(run(reader("glm", tools=tools), [text.encode()])) == [{"value": value}]


@pytest.mark.parametrize("raw", ["", "[]", "{", '{"parameters": []}', '{"parameters": {"properties": 3}}'])
def test_a_broken_tool_definition_says_nothing(raw: str) -> None:
    tools = (Tool("f", raw),)
    text = "<tool_call>f<arg_key>value</arg_key><arg_value>1</arg_value></tool_call>"
    assert arguments(run(reader("glm", tools=tools), [text.encode()])) == [{"value": 1}]


def test_anthropic_schemas_count_too() -> None:
    tools = (Tool("f", '{"input_schema": {"properties": {"value": {"type": "string"}}}}'),)
    text = "<tool_call>f<arg_key>value</arg_key><arg_value>1</arg_value></tool_call>"
    assert arguments(run(reader("glm", tools=tools), [text.encode()])) == [{"value": "1"}]
