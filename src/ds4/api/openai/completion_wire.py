"""Completion answers: chunks and the whole document. There is only text."""

from collections.abc import Sequence

import orjson

from ds4.api.collect import Answer
from ds4.api.openai.choices import Shape
from ds4.api.openai.logprobs import CompletionLogprobs
from ds4.api.openai.usage import FINISH, stream_end, usage_json
from ds4.api.sse import Head
from ds4.core.events import Event, Finish, Text
from ds4.core.sampling import Sampled


class CompletionWire:
    """`echoes` are the prompts by choice, when they are wanted in front of the answers."""

    def __init__(self, head: Head, shape: Shape, echoes: Sequence[str] = ()) -> None:
        self._shape = shape
        self._echoes = echoes
        self._open = head.open()
        self._prefix = b"data: " + self._open + b'"choices":['
        self._logprobs = [CompletionLogprobs(shape.pieces) for _ in shape.choices] if shape.pieces else []
        self._echoed: set[int] = set()
        self._ends: dict[int, Finish] = {}

    def chunks(self, choice: int, events: Sequence[Event]) -> bytes:
        out = [self._echo(choice)]
        for event in events:
            if isinstance(event, Finish):
                self._ends[choice] = event
                out.append(self._chunk(choice, "", finish=event))
            elif isinstance(event, Text) and (event.text or event.tokens):
                out.append(self._chunk(choice, event.text, event.tokens))
        return b"".join(out)

    def end(self) -> bytes:
        return stream_end(self._open, [self._ends[choice] for choice in self._shape.choices], self._shape)

    def heartbeat(self) -> bytes:
        # Nothing may follow a choice's finish reason.
        choice = next(choice for choice in self._shape.choices if choice not in self._ends)
        return self._chunk(choice, "")

    def whole(self, answers: Sequence[Answer]) -> bytes:
        choices = b",".join(self._whole(choice, answer) for choice, answer in enumerate(answers))
        usage = usage_json([answer.finish for answer in answers], self._shape)
        return self._open + b'"choices":[' + choices + b'],"usage":' + usage + b"}"

    def _whole(self, choice: int, answer: Answer) -> bytes:
        echo = self._echoes[choice] if self._echoes else ""
        logprobs = self._logprobs[choice].of(answer.tokens) if self._logprobs else None
        return _choice(choice, echo + "".join(answer.text), logprobs, answer.finish)

    def _echo(self, choice: int) -> bytes:
        """The prompt, once."""
        if not self._echoes or choice in self._echoed:
            return b""
        self._echoed.add(choice)
        return self._chunk(choice, self._echoes[choice])

    def _chunk(
        self, choice: int, text: str, tokens: Sequence[Sampled] = (), finish: Finish | None = None
    ) -> bytes:
        logprobs = self._logprobs[choice].of(tokens) if self._logprobs and tokens else None
        return self._prefix + _choice(choice, text, logprobs, finish) + b"]}\n\n"


def _choice(choice: int, text: str, logprobs: dict[str, object] | None, finish: Finish | None) -> bytes:
    reason = None if finish is None else FINISH[finish.reason]
    return orjson.dumps({"text": text, "index": choice, "logprobs": logprobs, "finish_reason": reason})
