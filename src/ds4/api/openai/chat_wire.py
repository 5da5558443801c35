"""Chat answers: chunks and the whole document, which holds what the chunks add up to."""

from collections.abc import Sequence
from dataclasses import replace

import orjson

from ds4.api.collect import Answer
from ds4.api.openai.calls import CallStream, whole_calls
from ds4.api.openai.choices import Shape
from ds4.api.openai.logprobs import chat_logprobs
from ds4.api.openai.usage import FINISH, stream_end, usage_json
from ds4.api.sse import Head
from ds4.core.events import Event, Finish, FinishReason, Reasoning, Text

ROLE = b'{"role":"assistant","content":""}'
EMPTY = b'{"content":""}'


class ChatWire:
    """A choice's role goes out with the first thing there is to say of it: an event or a heartbeat."""

    def __init__(self, head: Head, shape: Shape) -> None:
        self._head = head
        self._shape = shape
        self._open = replace(head, object="chat.completion.chunk").open()
        self._prefixes = [
            b"data: " + self._open + b'"choices":[{"index":%d,"delta":' % choice for choice in shape.choices
        ]
        self._calls = [CallStream(shape) for _ in shape.choices]
        self._begun: set[int] = set()
        self._ends: dict[int, Finish] = {}

    def chunks(self, choice: int, events: Sequence[Event]) -> bytes:
        out: list[bytes] = []
        for event in events:
            for delta in self._deltas(choice, event):
                out += [self._begin(choice), self._chunk(choice, delta, self._logprobs(event))]
            if isinstance(event, Finish):
                self._ends[choice] = event
                out += [self._begin(choice), self._chunk(choice, b"{}", finish=event)]
        return b"".join(out)

    def end(self) -> bytes:
        return stream_end(self._open, [self._ends[choice] for choice in self._shape.choices], self._shape)

    def heartbeat(self) -> bytes:
        # Nothing may follow a choice's finish reason.
        choice = next(choice for choice in self._shape.choices if choice not in self._ends)
        return self._begin(choice) or self._chunk(choice, EMPTY)

    def whole(self, answers: Sequence[Answer]) -> bytes:
        choices = orjson.dumps([self._choice(choice, answer) for choice, answer in enumerate(answers)])
        usage = usage_json([answer.finish for answer in answers], self._shape)
        return self._head.open() + b'"choices":' + choices + b',"usage":' + usage + b"}"

    def _choice(self, choice: int, answer: Answer) -> dict[str, object]:
        pieces = self._shape.pieces
        return {
            "index": choice,
            "message": _message(answer, self._shape),
            "logprobs": None if pieces is None else chat_logprobs(answer.tokens, pieces),
            "finish_reason": self._reason(answer.finish),
        }

    def _reason(self, finish: Finish) -> str:
        is_call = finish.reason is FinishReason.TOOL_CALLS
        return "function_call" if is_call and self._shape.old_words else FINISH[finish.reason]

    def _deltas(self, choice: int, event: Event) -> list[bytes]:
        """What one event is on the wire; nothing for events that do not show."""
        match event:
            case Text(text=text, tokens=tokens):
                return [b'{"content":' + orjson.dumps(text) + b"}"] if text or tokens else []
            case Reasoning(text=text):
                return [b'{"reasoning_content":' + orjson.dumps(text) + b"}"] if text else []
            case _:
                return [orjson.dumps(delta) for delta in self._calls[choice].deltas(event)]

    def _begin(self, choice: int) -> bytes:
        """The role chunk, once."""
        if choice in self._begun:
            return b""
        self._begun.add(choice)
        return self._chunk(choice, ROLE)

    def _logprobs(self, event: Event) -> bytes:
        pieces = self._shape.pieces
        if pieces is None or not isinstance(event, Text) or not event.tokens:
            return b""
        return b',"logprobs":' + orjson.dumps(chat_logprobs(event.tokens, pieces))

    def _chunk(self, choice: int, found: bytes, more: bytes = b"", finish: Finish | None = None) -> bytes:
        reason = b"null" if finish is None else orjson.dumps(self._reason(finish))
        return self._prefixes[choice] + found + more + b',"finish_reason":' + reason + b"}]}\n\n"


def _message(answer: Answer, shape: Shape) -> dict[str, object]:
    text = "".join(answer.text)
    message: dict[str, object] = {"role": "assistant", "content": text, "refusal": None, "annotations": []}
    reasoning = "".join(answer.reasoning)
    if reasoning:
        message["reasoning_content"] = reasoning
    return message | whole_calls([call for _, call in sorted(answer.calls.items())], shape)
