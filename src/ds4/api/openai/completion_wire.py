"""Completion answers: chunks and the whole document. There is only text."""

from collections.abc import Sequence

import orjson

from ds4.api.collect import Answer
from ds4.api.openai.usage import FINISH, usage_json
from ds4.api.sse import DONE, Head, frame
from ds4.core.events import Event, Finish, Text


class CompletionWire:
    def __init__(self, head: Head, *, include_usage: bool) -> None:
        self._include_usage = include_usage
        self._open = head.open()
        self._prefix = b"data: " + self._open + b'"choices":['
        self._suffix = b"]}\n\n"

    def chunks(self, events: Sequence[Event]) -> bytes:
        out: list[bytes] = []
        for event in events:
            if isinstance(event, Finish):
                out.append(self._end(event))
            elif isinstance(event, Text) and event.text:
                out.append(self._chunk(event.text))
        return b"".join(out)

    def heartbeat(self) -> bytes:
        return self._chunk("")

    def whole(self, answer: Answer, finish: Finish) -> bytes:
        choice = _choice("".join(answer.text), FINISH[finish.reason])
        return self._open + b'"choices":[' + choice + b'],"usage":' + usage_json(finish.usage) + b"}"

    def _chunk(self, text: str, reason: str | None = None) -> bytes:
        return self._prefix + _choice(text, reason) + self._suffix

    def _end(self, finish: Finish) -> bytes:
        last = self._chunk("", FINISH[finish.reason])
        usage = frame(self._open + b'"choices":[],"usage":' + usage_json(finish.usage) + b"}")
        return last + (usage if self._include_usage else b"") + DONE


def _choice(text: str, reason: str | None) -> bytes:
    return orjson.dumps({"text": text, "index": 0, "logprobs": None, "finish_reason": reason})
