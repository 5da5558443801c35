"""What holds for any output: nothing raises, nothing is lost, and the cut never matters."""

import re
from collections.abc import Iterable
from functools import cache
from itertools import pairwise

import pytest
from feeding import bytewise
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import from_json
from transcripts import Outcome, cases, reader, run

from ds4.core.events import FinishReason, ParsedEvent, Reasoning, Stop, Text, ToolArgs, ToolEnd, ToolStart
from ds4.core.ports import Piece
from ds4.formats.markup import ToolFormat
from ds4.formats.tools.registry import TOOL_FORMATS, tool_format_named
from ds4.parsing.joined import joined

every_format = pytest.mark.parametrize("tool_format", TOOL_FORMATS, ids=lambda f: f.name)
PLAIN = [
    "a",
    " ",
    "\n",
    "<",
    "&",
    '"',
    "\\",
    "é",
    "👨‍👩‍👧",
    "שלום",
    "stock",
    "x y",
    "12",
    "null",
    "&lt;",
    "&amp;",
]
JSON = [
    '{"name": "stock", "arguments": {',
    '"item": "',
    '"tags": [',
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    '"',
    "\\u12",
    "\\ud83d",
    "\\ude00",
]
REASONING = ["<think>", "</think>", "<thin"]
LOSSLESS = [tool_format_named(name) for name in ("dsml", "glm", "qwen_xml")]
"""Here all that is no tag is payload or text. JSON has further members, harmony has headers."""

WITHOUT_CHANNELS = [tool_format for tool_format in TOOL_FORMATS if tool_format.channels is None]


def tags(tool_format: ToolFormat) -> list[str]:
    """Whole tags, and the rests some of them have."""
    rests = [' name="stock">', ' name="item" string="true">', ' name="depth" string="false">', "stock>", ">"]
    return sorted(tool_format.spellings) + rests


@cache
def output_of(tool_format: ToolFormat) -> st.SearchStrategy[str]:
    """Heaps of tags and text, and golden outputs with such heaps in some places or at the end."""
    parts = st.sampled_from(tags(tool_format) + PLAIN + JSON + REASONING)
    heaps = st.lists(parts, max_size=25).map("".join)
    golden = [case.raw for case in cases() if case.format == tool_format.name]
    edits = st.lists(st.tuples(st.integers(0, 400), st.integers(0, 30), parts), max_size=3)
    continued = st.builds(str.__add__, st.sampled_from(golden), heaps)
    return st.one_of(heaps, st.builds(edited, st.sampled_from(golden), edits), continued)


def edited(text: str, edits: list[tuple[int, int, str]]) -> str:
    for at, length, part in edits:
        text = text[:at] + part + text[at + length :]
    return text


def cut_at(data: bytes, places: list[int]) -> list[bytes]:
    ends = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[start:end] for start, end in pairwise(ends)]


def check_order(outcome: Outcome) -> None:
    """Calls come one after the other, each with its start first; only the last may lack its end."""
    calls = [event for event in outcome.events if isinstance(event, (ToolStart, ToolArgs, ToolEnd))]
    shape = "".join(type(event).__name__[4] for event in calls)
    assert re.fullmatch("(SAE)*(SA?)?", shape), shape
    assert [event.index for event in calls if isinstance(event, ToolStart)] == list(range(shape.count("S")))


def check_arguments(outcome: Outcome) -> None:
    """A JSON object; of a call that was cut, what one can begin with: clients read as it comes."""
    ended = {event.index for event in outcome.events if isinstance(event, ToolEnd)}
    for event in outcome.events:
        if isinstance(event, ToolArgs):
            begun = event.index not in ended
            assert isinstance(from_json(event.text, allow_partial=begun), dict)


def check_finish(outcome: Outcome, cut: bool) -> None:
    """It says tool calls when there are whole ones, and only then."""
    starts = sum(isinstance(event, ToolStart) for event in outcome.events)
    ends = sum(isinstance(event, ToolEnd) for event in outcome.events)
    if outcome.stop is not None:
        assert outcome.stop == Stop(FinishReason.TOOL_CALLS)
        assert starts == ends > 0
    elif not cut:
        assert starts == 0


@every_format
@given(
    data=st.data(), places=st.lists(st.integers(0), max_size=6), reasoning=st.booleans(), cut=st.booleans()
)
def test_the_cut_never_matters_and_the_end_is_honest(
    tool_format: ToolFormat, data: st.DataObject, places: list[int], reasoning: bool, cut: bool
) -> None:
    raw = data.draw(output_of(tool_format)).encode()

    def read(pieces: list[bytes]) -> Outcome:
        return run(reader(tool_format.name, reasoning_open=reasoning), pieces, cut=cut)

    whole = read([raw])
    check_order(whole)
    check_arguments(whole)
    check_finish(whole, cut)
    assert read(bytewise(raw)) == whole
    assert read(cut_at(raw, places)) == whole


@every_format
@given(raw=st.binary(max_size=60))
def test_any_bytes_are_read(tool_format: ToolFormat, raw: bytes) -> None:
    assert run(reader(tool_format.name), bytewise(raw)) == run(reader(tool_format.name), [raw])


@pytest.mark.parametrize("tool_format", WITHOUT_CHANNELS, ids=lambda f: f.name)
@given(data=st.data())
def test_without_tools_and_reasoning_all_is_text(tool_format: ToolFormat, data: st.DataObject) -> None:
    raw = "." + data.draw(output_of(tool_format))
    outcome = run(reader(tool_format.name, tools=()), bytewise(raw.encode()))
    assert outcome == Outcome((Text(raw),))


@every_format
@given(raw=st.text(st.sampled_from("ab <>/&\n=\"'é🙂"), max_size=40), reasoning=st.booleans())
def test_what_holds_no_tag_is_text_or_reasoning(tool_format: ToolFormat, raw: str, reasoning: bool) -> None:
    outcome = run(reader(tool_format.name, reasoning_open=reasoning), bytewise(raw.encode()))
    expected = (Reasoning(raw) if reasoning else Text(raw),) if raw else ()
    assert outcome == Outcome(expected)


def seen(events: Iterable[ParsedEvent]) -> str:
    """Everything that came out, in whatever part."""
    parts = []
    for event in joined(events):
        match event:
            case Text(text) | Reasoning(text) | ToolArgs(text=text):
                parts.append(text)
            case ToolStart(name=name):
                parts.append(name)
    return " ".join(parts)


def strewn(tool_format: ToolFormat, data: st.DataObject) -> tuple[list[str], list[ParsedEvent]]:
    """Numbered words among tags, piece by piece: the words that were read, and what came of them."""
    blanks = st.sampled_from(["", " ", "\n"])
    parts = data.draw(
        st.lists(st.tuples(st.sampled_from([*tags(tool_format), *REASONING]), blanks), max_size=20)
    )
    raw = "".join(f"{tag}{blank}word{number};" for number, (tag, blank) in enumerate(parts))
    target = reader(tool_format.name)
    read, events = "", list[ParsedEvent]()
    for piece in raw:
        fed = target.feed(Piece(piece.encode(), 0, control=False))
        read, events = read + piece, [*events, *fed.events]
        if fed.hint.stop:
            # The end of a block: what stands behind it would never be sampled.
            break
    return re.findall(r"word\d+;", read), [*events, *target.flush().events]


@pytest.mark.parametrize("tool_format", LOSSLESS, ids=lambda f: f.name)
@given(data=st.data())
def test_no_word_is_lost_whatever_the_markup(tool_format: ToolFormat, data: st.DataObject) -> None:
    """Each must come out, as text or in a call."""
    words, events = strewn(tool_format, data)
    out = seen(events)
    assert [word for word in words if word not in out] == []


@pytest.mark.parametrize("tool_format", WITHOUT_CHANNELS, ids=lambda f: f.name)
@given(data=st.data())
def test_no_word_is_lost_where_no_call_begins(tool_format: ToolFormat, data: st.DataObject) -> None:
    """Also in JSON, whose further members belong to the call once there is one."""
    words, events = strewn(tool_format, data)
    if not any(isinstance(event, ToolStart) for event in events):
        out = seen(events)
        assert [word for word in words if word not in out] == []
