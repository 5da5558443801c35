"""Calls as chat tells them: functions with their arguments, custom tools with their raw text.

Old clients, who offer `functions`, get `function_call` in place of `tool_calls`.
"""

from collections.abc import Iterator, Sequence

from ds4.api.collect import Call
from ds4.api.openai.choices import Shape
from ds4.api.raw_input import RawInput
from ds4.core.events import Event, Finish, ToolArgs, ToolEnd, ToolStart

Fields = dict[str, object]


class CallStream:
    """The calls of one choice while they are made. A call has its index and id in its first delta."""

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self._custom: dict[int, RawInput] = {}

    def deltas(self, event: Event) -> list[Fields]:
        """What the event says of a call: nothing for events that do not show."""
        match event:
            case ToolStart():
                return [self._start(event)]
            case ToolArgs(index=index, text=text) if index in self._custom:
                return _input(index, self._custom[index].add(text))
            case ToolArgs(index=index, text=text) if text:
                return [self._delta({"index": index}, {"arguments": text})]
            case ToolEnd(index=index) if index in self._custom:
                return _input(index, self._custom.pop(index).end())
            case Finish():
                return list(self._cut_off())
        return []

    def _start(self, event: ToolStart) -> Fields:
        head: Fields = {"index": event.index, "id": event.id}
        if event.name in self._shape.custom:
            self._custom[event.index] = RawInput()
            custom = {"name": event.name, "input": ""}
            return {"tool_calls": [{**head, "type": "custom", "custom": custom}]}
        return self._delta({**head, "type": "function"}, {"name": event.name, "arguments": ""})

    def _delta(self, call: Fields, function: dict[str, str]) -> Fields:
        if self._shape.old_words:
            return {"function_call": function}
        return {"tool_calls": [{**call, "function": function}]}

    def _cut_off(self) -> Iterator[Fields]:
        for index, raw in self._custom.items():
            yield from _input(index, raw.end())
        self._custom = {}


def whole_calls(calls: Sequence[Call], shape: Shape) -> Fields:
    """What a message has of its calls."""
    if not calls:
        return {}
    if shape.old_words:
        return {"function_call": _function(calls[0])}
    return {"tool_calls": [_call(call, shape) for call in calls]}


def _call(call: Call, shape: Shape) -> Fields:
    if call.name not in shape.custom:
        return {"id": call.id, "type": "function", "function": _function(call)}
    raw = RawInput()
    raw.add("".join(call.arguments))
    raw.end()
    return {"id": call.id, "type": "custom", "custom": {"name": call.name, "input": raw.text}}


def _function(call: Call) -> dict[str, str]:
    return {"name": call.name, "arguments": "".join(call.arguments)}


def _input(index: int, text: str) -> list[Fields]:
    return [{"tool_calls": [{"index": index, "custom": {"input": text}}]}] if text else []
