"""Chat answers: chunks and the whole document.

`delta` says what one event is on the wire; the whole answer holds what the deltas add up to.
"""

from collections.abc import Sequence
from dataclasses import replace

import orjson

from ds4.api.collect import Answer, Call
from ds4.api.openai.usage import FINISH, usage_json
from ds4.api.sse import DONE, Head, frame
from ds4.core.events import Event, Finish, Reasoning, Text, ToolArgs, ToolStart

ROLE = b'{"role":"assistant","content":""}'
EMPTY = b'{"content":""}'


def delta(event: Event) -> bytes | None:
    """The delta object for one event, None for events that do not show."""
    match event:
        case Text(text=text) if text:
            return b'{"content":' + orjson.dumps(text) + b"}"
        case Reasoning(text=text) if text:
            return b'{"reasoning_content":' + orjson.dumps(text) + b"}"
        case ToolStart():
            function = {"name": event.name, "arguments": ""}
            call = {"index": event.index, "id": event.id, "type": "function", "function": function}
            return orjson.dumps({"tool_calls": [call]})
        case ToolArgs() if event.text:
            return orjson.dumps(
                {"tool_calls": [{"index": event.index, "function": {"arguments": event.text}}]}
            )
    return None


class ChatWire:
    """The role goes out with the first thing there is to say: an event or a heartbeat."""

    def __init__(self, head: Head, *, include_usage: bool) -> None:
        self._head = head
        self._include_usage = include_usage
        self._open = replace(head, object="chat.completion.chunk").open()
        self._prefix = b"data: " + self._open + b'"choices":[{"index":0,"delta":'
        self._suffix = b',"finish_reason":null}]}\n\n'
        self._begun = False

    def chunks(self, events: Sequence[Event]) -> bytes:
        out: list[bytes] = []
        for event in events:
            if isinstance(event, Finish):
                out += [self._begin(), self._end(event)]
            elif (found := delta(event)) is not None:
                out += [self._begin(), self._chunk(found)]
        return b"".join(out)

    def heartbeat(self) -> bytes:
        return self._begin() or self._chunk(EMPTY)

    def whole(self, answer: Answer, finish: Finish) -> bytes:
        choice = {
            "index": 0,
            "message": _message(answer),
            "logprobs": None,
            "finish_reason": FINISH[finish.reason],
        }
        choices = orjson.dumps([choice])
        return self._head.open() + b'"choices":' + choices + b',"usage":' + usage_json(finish.usage) + b"}"

    def _begin(self) -> bytes:
        """The role chunk, once."""
        if self._begun:
            return b""
        self._begun = True
        return self._chunk(ROLE)

    def _chunk(self, found: bytes) -> bytes:
        return self._prefix + found + self._suffix

    def _end(self, finish: Finish) -> bytes:
        last = self._prefix + b'{},"finish_reason":' + orjson.dumps(FINISH[finish.reason]) + b"}]}\n\n"
        usage = frame(self._open + b'"choices":[],"usage":' + usage_json(finish.usage) + b"}")
        return last + (usage if self._include_usage else b"") + DONE


def _message(answer: Answer) -> dict[str, object]:
    message: dict[str, object] = {"role": "assistant", "content": "".join(answer.text), "refusal": None}
    reasoning = "".join(answer.reasoning)
    if reasoning:
        message["reasoning_content"] = reasoning
    if answer.calls:
        message["tool_calls"] = [_call(call) for _, call in sorted(answer.calls.items())]
    return message


def _call(call: Call) -> dict[str, object]:
    function = {"name": call.name, "arguments": "".join(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}
