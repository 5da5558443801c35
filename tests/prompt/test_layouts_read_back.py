"""A layout and the reader of its format agree: what one writes, the other reads."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from golden_prompts import renderer
from hypothesis import given
from hypothesis import strategies as st
from prompt_cases import say

from ds4.core.events import Fed, Reasoning, Text, ToolArgs, ToolStart
from ds4.core.messages import Conversation, Message, Tool, ToolCall
from ds4.core.ports import Piece
from ds4.formats.registry import FAMILIES, family_named
from ds4.parsing.answer import AnswerSpec, answer_reader, reasoning_open
from ds4.testing.ids import SequentialIds

NAMES = [family.name for family in FAMILIES]
TYPES = {"text": "string", "count": "integer", "flags": "array", "more": "object"}
EDIT = Tool(
    "edit",
    json.dumps(
        {"name": "edit", "parameters": {"properties": {key: {"type": kind} for key, kind in TYPES.items()}}}
    ),
)
texts = st.text(st.sampled_from("ab <>&\"'\\/\n{}é日👩\u200d"), max_size=12).map(lambda text: f"x{text}x")
values = st.fixed_dictionaries(
    {},
    optional={
        "text": texts,
        "count": st.integers(-(10**20), 10**20),
        "flags": st.lists(st.booleans() | st.none() | texts, max_size=3),
        "more": st.dictionaries(texts, st.floats(allow_nan=False, allow_infinity=False), max_size=2),
    },
)


def written(family: str, answer: Message) -> tuple[str, bool]:
    """What stands behind the prompt once `answer` is given, and whether the prompt opened reasoning."""
    asked = Conversation((say("user", "q"),), (EDIT,))
    given = replace(
        asked, messages=(*asked.messages, answer), template_args=(("add_generation_prompt", "false"),)
    )
    prompt, later = (renderer(family).render(each).text for each in (asked, given))
    assert later.startswith(prompt)
    answered = re.sub(r"(<\|im_end\|>\n|<｜end▁of▁sentence｜>)$", "", later[len(prompt) :])
    return answered, reasoning_open(prompt, family_named(family).reasoning)


def read(family: str, answer: Message) -> dict[str, Any]:
    raw, is_open = written(family, answer)
    known = family_named(family)
    spec = AnswerSpec(SequentialIds(), known.reasoning, known.tool_format, is_open, (EDIT,))
    reader = answer_reader(spec)
    fed: list[Fed] = [reader.feed(Piece(raw.encode(), 0, control=False)), reader.flush()]
    events = [event for each in fed for event in each.events]
    arguments: dict[int, str] = {}
    for event in events:
        if isinstance(event, ToolArgs):
            arguments[event.index] = arguments.get(event.index, "") + event.text
    return {
        "reasoning": "".join(event.text for event in events if isinstance(event, Reasoning)),
        "text": "".join(event.text for event in events if isinstance(event, Text)),
        "names": [event.name for event in events if isinstance(event, ToolStart)],
        "arguments": [json.loads(text) for text in arguments.values()],
    }


@pytest.mark.parametrize("family", NAMES)
@given(calls=st.lists(values, min_size=1, max_size=3), text=texts, reasoning=texts)
def test_calls_come_back(family: str, calls: list[dict[str, Any]], text: str, reasoning: str) -> None:
    made = tuple(ToolCall(str(n), "edit", json.dumps(value)) for n, value in enumerate(calls))
    answer = say("assistant", text, reasoning=None if family == "generic" else reasoning, tool_calls=made)
    back = read(family, answer)
    assert back["names"] == ["edit"] * len(calls)
    assert back["arguments"] == calls
    assert back["text"].strip() == text
    assert back["reasoning"] == ("" if family == "generic" else reasoning)
