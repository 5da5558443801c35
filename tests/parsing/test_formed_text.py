"""A text that has a form is text: what looks like a call inside it is none, though tools are offered."""

import pytest
from test_cut_calls import written
from transcripts import TOOLS, Outcome, run

from ds4.core.events import Text, ToolStart
from ds4.formats.markup import TEXT, ToolFormat
from ds4.formats.reasoning import THINK
from ds4.formats.tools.registry import TOOL_FORMATS
from ds4.parsing.answer import AnswerSpec, answer_reader
from ds4.parsing.assured import Assured
from ds4.testing.ids import SequentialIds

FORMED, FREE = Assured(sound=True, formed=True), Assured()
TAGGED = [tools for tools in TOOL_FORMATS if not tools.channels]
each_format = pytest.mark.parametrize("tools", TAGGED, ids=lambda tools: tools.name)


def read(tools: ToolFormat, data: bytes, assured: Assured, size: int = 1) -> Outcome:
    spec = AnswerSpec(SequentialIds(), THINK, tools, tools=TOOLS, assured=assured)
    return run(answer_reader(spec), [data[at : at + size] for at in range(0, len(data), size)])


def text(outcome: Outcome) -> str:
    assert not [event for event in outcome.events if isinstance(event, ToolStart)]
    return "".join(event.text for event in outcome.events if isinstance(event, Text))


@pytest.mark.parametrize("size", [1, 5, 10_000])
@each_format
def test_a_call_inside_a_text_is_text(tools: ToolFormat, size: int) -> None:
    data = b'\n [ "' + written(tools, "stock") + b'" ]\n '
    assert text(read(tools, data, FORMED, size)) == data.decode()


@each_format
def test_calls_alone_are_calls(tools: ToolFormat) -> None:
    for assured in (FORMED, FREE):
        events = read(tools, written(tools, "stock"), assured).events
        assert [event.name for event in events if isinstance(event, ToolStart)] == ["stock"]
        assert not [event for event in events if isinstance(event, Text)]


@each_format
def test_where_no_form_holds_the_text_a_call_behind_it_is_a_call(tools: ToolFormat) -> None:
    events = read(tools, b"Let me see.\n\n" + written(tools, "stock"), FREE).events
    called = any(isinstance(event, ToolStart) for event in events)
    assert called == (tools.start == TEXT), "bare JSON is a call only where an answer begins"
