"""Calls and results as the Hermes models write them: JSON between tags, results on the user's side."""

import json
from collections.abc import Iterable

from ds4.core.messages import ToolCall
from ds4.prompt.json_text import SPACED, dump, parse_object
from ds4.prompt.layouts.writer import Writer

CALL, END_CALL = "<tool_call>\n", "\n</tool_call>"
RESULT, END_RESULT = "<tool_response>\n", "\n</tool_response>"


def call_json(call: ToolCall) -> str:
    """Arguments that are no JSON object stay what they are: a text."""
    values = parse_object(call.arguments)
    arguments = json.dumps(call.arguments, ensure_ascii=False) if values is None else dump(values, SPACED)
    return f'{{"name": {json.dumps(call.name, ensure_ascii=False)}, "arguments": {arguments}}}'


def write_calls(out: Writer, calls: Iterable[ToolCall], before: str) -> None:
    """`before` is the text that the first call follows."""
    gap = "\n" if before else ""
    for call in calls:
        out.ours(gap + CALL)
        out.client(call_json(call))
        out.ours(END_CALL)
        gap = "\n"


def write_result(out: Writer, text: str) -> None:
    out.ours(RESULT)
    out.client(text)
    out.ours(END_RESULT)
