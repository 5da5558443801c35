"""Earlier tool calls as the model's format writes them: one spelling, of which the format is the data.

The reader of such a call gives back the same arguments, and so would a model's own call have been written had
it been this one.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ds4.core.messages import ToolCall
from ds4.formats.written import Names, Parameters, Separators, Written
from ds4.prompt.json_text import dump, parse_object
from ds4.prompt.layouts.values import Parameter, parameters
from ds4.prompt.layouts.writer import Writer


@dataclass(frozen=True, slots=True)
class Part:
    """Text of the format, or text made of the client's."""

    text: str
    ours: bool


def write_calls(out: Writer, calls: Sequence[ToolCall], written: Written, before: str) -> None:
    """`before` is the text that the first call follows."""
    for part in call_parts(calls, written, before):
        (out.ours if part.ours else out.client)(part.text)


def call_parts(calls: Sequence[ToolCall], written: Written, before: str) -> Iterator[Part]:
    if not calls:
        return
    gap = (written.gap if before else "") + written.before
    for call in calls:
        yield Part(gap + written.opens, ours=True)
        yield Part(_name(call.name, written.names), ours=False)
        yield Part(written.named, ours=True)
        if written.parameters is None:
            yield Part(_json(call.arguments, written.separators), ours=False)
        else:
            for parameter in parameters(call.arguments, written.separators):
                yield from _parameter(parameter, written.parameters)
        yield Part(written.closes, ours=True)
        gap = written.between
    yield Part(written.after, ours=True)


def _parameter(parameter: Parameter, markup: Parameters) -> Iterator[Part]:
    closing, text = markup.closes.strip(), parameter.text
    if markup.escaped:
        # In JSON the tag can only stand inside a string, where \u003c is the same character.
        text = text.replace(closing, markup.escaped if parameter.is_string else f"\\u003c{closing[1:]}")
    yield Part(markup.opens, ours=True)
    yield Part(_name(parameter.name, markup.names), ours=False)
    yield Part(markup.text if parameter.is_string else markup.json, ours=True)
    yield Part(text, ours=False)
    yield Part(markup.closes, ours=True)


def _name(name: str, names: Names) -> str:
    return json.dumps(name, ensure_ascii=False)[1:-1] if names is Names.JSON else names.spelled(name)


def _json(arguments: str, separators: Separators) -> str:
    """Arguments that are no JSON object stay what they are: a text."""
    values = parse_object(arguments)
    return json.dumps(arguments, ensure_ascii=False) if values is None else dump(values, separators)
