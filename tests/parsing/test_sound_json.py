"""JSON that is known to be JSON, since a grammar held the model to it: no tag ends it inside a string."""

import json

import pytest
from transcripts import TOOLS, Outcome, run

from ds4.core.events import ToolArgs
from ds4.formats.reasoning import THINK
from ds4.formats.tools.registry import tool_format_named
from ds4.parsing.answer import AnswerSpec, answer_reader
from ds4.parsing.assured import Assured
from ds4.testing.ids import SequentialIds

DSML = (
    '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="stock">\n<｜DSML｜parameter name="tags" string="false">',
    "</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>",
)
GLM = ("<tool_call>stock<arg_key>tags</arg_key><arg_value>", "</arg_value></tool_call>")
QWEN = (
    "<tool_call>\n<function=stock>\n<parameter=tags>\n",
    "\n</parameter>\n</function>\n</tool_call>",
)
FORMATS = {
    "dsml": (*DSML, "</｜DSML｜parameter>"),
    "glm": (*GLM, "</arg_value>"),
    "qwen_xml": (*QWEN, "\\n</parameter>"),
}


def read(name: str, raw: str, *, sound: bool, size: int = 1) -> Outcome:
    spec = AnswerSpec(
        SequentialIds(), THINK, tool_format_named(name), tools=TOOLS, assured=Assured(sound=sound)
    )
    data = raw.encode()
    return run(answer_reader(spec), [data[at : at + size] for at in range(0, len(data), size)])


def arguments(outcome: Outcome) -> object:
    return json.loads("".join(event.text for event in outcome.events if isinstance(event, ToolArgs)))


@pytest.mark.parametrize("size", [1, 7, 10_000])
@pytest.mark.parametrize("name", FORMATS)
def test_a_closing_tag_inside_a_string_is_text(name: str, size: int) -> None:
    begin, end, tag = FORMATS[name]
    outcome = read(name, f'{begin}["a{tag}\\"b", "&lt;/｜DSML｜parameter>"]{end}', sound=True, size=size)
    inside = tag.replace("\\n", "\n")
    assert arguments(outcome) == {"tags": [f'a{inside}"b', "&lt;/｜DSML｜parameter>"]}


@pytest.mark.parametrize("name", FORMATS)
def test_where_nothing_held_the_model_the_tag_ends_what_it_forgot_to_close(name: str) -> None:
    begin, end, _ = FORMATS[name]
    assert arguments(read(name, f'{begin}["a{end}', sound=False)) == {"tags": ["a"]}


def test_text_that_may_be_anything_is_sound_where_it_begins_like_a_list() -> None:
    begin, end, tag = FORMATS["glm"]
    raw = f'{begin.replace("tags", "new")}["{tag}"]{end}'
    assert arguments(read("glm", raw, sound=True)) == {"new": [tag]}
    raw = f'{begin.replace("tags", "new")}a "[{end}'
    assert arguments(read("glm", raw, sound=True)) == {"new": 'a "['}


@pytest.mark.parametrize("number", ["1e400", "-2.5E+9999", "9" * 400, '[1e400, "NaN"]'])
def test_a_number_too_large_for_a_float_is_a_number(number: str) -> None:
    begin, end = GLM
    (args,) = (
        event.text
        for event in read("glm", begin + number + end, sound=False).events
        if isinstance(event, ToolArgs)
    )
    assert args.replace(" ", "") == f'{{"tags":{number}}}'.replace(" ", "")


@pytest.mark.parametrize("text", ["NaN", "1e400x", "[1e400", "-Infinity"])
def test_what_is_no_json_stays_text(text: str) -> None:
    begin, end = GLM
    found = arguments(read("glm", begin + text + end, sound=False))
    assert found == {"tags": [float("inf")]} if text == "[1e400" else found == {"tags": text}
