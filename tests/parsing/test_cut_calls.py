"""Answers that are nothing but calls, cut anywhere: the front of a tag is no text there."""

import pytest
from transcripts import TOOLS, run

from ds4.core.events import Reasoning, Text, ToolEnd
from ds4.formats.markup import ToolFormat
from ds4.formats.reasoning import THINK
from ds4.formats.tools.registry import TOOL_FORMATS
from ds4.parsing.answer import AnswerSpec, answer_reader
from ds4.parsing.assured import Assured
from ds4.testing.ids import SequentialIds
from thorough import some_of


def written(tools: ToolFormat, *names: str) -> bytes:
    form = tools.written
    inside = '{"depth": 2}'
    if each := form.parameters:
        inside = f"{each.opens}depth{each.json}2{each.closes}"
    calls = [f"{form.opens}{name}{form.named}{inside}{form.closes}" for name in names]
    return f"{form.before}{form.between.join(calls)}{form.after}".encode()


def texts(tools: ToolFormat, data: bytes, *, wordless: bool, reasoning_open: bool = False) -> list[str]:
    spec = AnswerSpec(
        SequentialIds(),
        THINK,
        tools,
        reasoning_open=reasoning_open,
        tools=TOOLS,
        assured=Assured(wordless=wordless),
    )
    events = run(answer_reader(spec), [data[at : at + 1] for at in range(len(data))], cut=True).events
    return [event.text for event in events if isinstance(event, Text)]


@pytest.mark.parametrize("tools", TOOL_FORMATS, ids=lambda tools: tools.name)
def test_the_front_of_a_call_is_no_text(tools: ToolFormat) -> None:
    data = written(tools, "stock", "clock")
    fronts = [data[:length] for length in some_of(range(len(data) + 1), 4)]
    assert [texts(tools, front, wordless=True) for front in fronts] == [[]] * len(fronts)
    assert any(texts(tools, front, wordless=False) for front in fronts), "where it may be text, it is"


def test_reasoning_that_is_cut_is_told() -> None:
    spec = AnswerSpec(
        SequentialIds(),
        THINK,
        TOOL_FORMATS[0],
        reasoning_open=True,
        tools=TOOLS,
        assured=Assured(wordless=True),
    )
    assert run(answer_reader(spec), [b"Well</th"], cut=True).events == (Reasoning("Well</th"),)


@pytest.mark.parametrize("tools", TOOL_FORMATS, ids=lambda tools: tools.name)
def test_a_whole_answer_is_read_as_ever(tools: ToolFormat) -> None:
    for wordless in (False, True):
        spec = AnswerSpec(SequentialIds(), THINK, tools, tools=TOOLS, assured=Assured(wordless=wordless))
        events = run(answer_reader(spec), [written(tools, "stock")]).events
        assert [event for event in events if isinstance(event, ToolEnd | Text)] == [ToolEnd(0)]
