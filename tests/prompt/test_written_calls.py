"""What is written by a format's data, its reader gives back. Layouts write nothing else (golden prompts)."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ds4.core.events import Text, ToolArgs, ToolStart
from ds4.core.messages import Tool, ToolCall
from ds4.core.ports import Piece
from ds4.formats.reasoning import THINK
from ds4.formats.tools.registry import TOOL_FORMATS, tool_format_named
from ds4.formats.written import Written
from ds4.parsing.answer import AnswerSpec, answer_reader
from ds4.prompt.layouts.calls import call_parts
from ds4.testing.ids import SequentialIds

TYPES = {"text": "string", "count": "integer", "flags": "array", "more": "object"}
EDIT = Tool(
    "edit",
    json.dumps({"name": "edit", "parameters": {"properties": {k: {"type": t} for k, t in TYPES.items()}}}),
)
WAYS = {
    f"{known.name} {'as usual' if way is known.written else 'otherwise'}": (known.name, way)
    for known in TOOL_FORMATS
    for way in (known.written, known.written.otherwise)
    if way is not None
}
texts = st.text(st.sampled_from("ab <>&\"'\\/\n{}é日"), max_size=12).map(lambda text: f"x{text}x")
arguments = st.fixed_dictionaries(
    {},
    optional={
        "text": texts,
        "count": st.integers(-(10**20), 10**20),
        "flags": st.lists(st.booleans() | st.none() | texts, max_size=3),
        "more": st.dictionaries(texts, st.booleans(), max_size=2),
    },
)


@pytest.mark.parametrize("way", WAYS)
@given(st.lists(arguments, min_size=1, max_size=3), st.sampled_from(["", "So: "]))
def test_calls_come_back(way: str, given_calls: list[dict[str, object]], before: str) -> None:
    name, written = WAYS[way]
    if name == "llama_json":
        before = ""  # behind text its bare calls are text
    raw = before + text_of(given_calls, written, before)
    spec = AnswerSpec(SequentialIds(), THINK, tool_format_named(name), tools=(EDIT,))
    reader = answer_reader(spec)
    events = [
        event
        for fed in (reader.feed(Piece(raw.encode(), 0, control=False)), reader.flush())
        for event in fed.events
    ]
    read: dict[int, str] = {}
    for event in events:
        if isinstance(event, ToolArgs):
            read[event.index] = read.get(event.index, "") + event.text
    assert [event.name for event in events if isinstance(event, ToolStart)] == ["edit"] * len(given_calls)
    assert [json.loads(text) for text in read.values()] == given_calls
    assert "".join(event.text for event in events if isinstance(event, Text)).strip() == before.strip()


def text_of(given_calls: list[dict[str, object]], written: Written, before: str) -> str:
    calls = [ToolCall(str(number), "edit", json.dumps(value)) for number, value in enumerate(given_calls)]
    return "".join(part.text for part in call_parts(calls, written, before))
