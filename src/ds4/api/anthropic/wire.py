"""A message on the wire, whole or as events.

    message_start (block_start block_delta* block_stop)* message_delta message_stop      ping anywhere

Rules of this file:
- One block is open at a time, and indexes count up. What does not fit the open block closes it.
- message_start goes out when the prompt's cache is known, or with the first heartbeat.
- Pings keep clients waiting for only so long. After PATIENCE seconds without anything of the answer an
  open block gets empty deltas instead, which do.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import orjson

from ds4.api.anthropic.content import Fields, content_of, text_block, thinking_block, tool_block
from ds4.api.anthropic.usage import Split, ending, final_split
from ds4.api.collect import Answer
from ds4.api.sealed import seal
from ds4.core.events import Event, Finish, Progress, Reasoning, Text, ToolArgs, ToolEnd, ToolStart

PATIENCE = 300.0


class Kind(StrEnum):
    THINKING = "thinking"
    TEXT = "text"
    TOOL = "tool_use"


_DELTAS = {
    Kind.THINKING: b'{"type":"thinking_delta","thinking":',
    Kind.TEXT: b'{"type":"text_delta","text":',
    Kind.TOOL: b'{"type":"input_json_delta","partial_json":',
}


@dataclass(frozen=True, slots=True)
class Shape:
    """What is known of a message before there is anything of it. `prompt` in tokens.

    `thinks`: reasoning may come. `shows_thinking`: its text goes out, not only its signature.
    """

    id: str
    model: str
    prompt: int
    caching: bool = False
    thinks: bool = True
    shows_thinking: bool = True

    def message(self, content: list[Fields], usage: dict[str, object], finish: Finish | None) -> Fields:
        head: Fields = {"id": self.id, "type": "message", "role": "assistant", "model": self.model}
        return head | {"content": content} | ending(finish) | {"usage": usage}


@dataclass(slots=True)
class _Open:
    """The block that is open. `thoughts` are what its signature must restore."""

    kind: Kind
    thoughts: list[str] = field(default_factory=list)


class MessagesWire:
    """Of one choice: there is no `n` here. `now` gives monotonic seconds."""

    def __init__(self, shape: Shape, now: Callable[[], float]) -> None:
        self._shape = shape
        self._now = now
        self._spoke = now()
        self._started = False
        self._index = -1
        self._last: Kind | None = None
        self._open: _Open | None = None
        self._finish: Finish | None = None

    def chunks(self, choice: int, events: Sequence[Event]) -> bytes:  # noqa: ARG002
        data = b"".join(piece for event in events for piece in self._event(event))
        if data:
            self._spoke = self._now()
        return data

    def end(self) -> bytes:
        finish = self._ended
        usage = final_split(finish, caching=self._shape.caching).fields(
            finish.usage.completion, finish.usage.reasoning
        )
        last = _frame({"type": "message_delta", "delta": ending(finish), "usage": usage})
        return last + _frame({"type": "message_stop"})

    def heartbeat(self) -> bytes:
        if not self._started:
            # Nobody knows yet what of it is cached.
            return b"".join(self._start(Split(fresh=self._shape.prompt)))
        if self._now() - self._spoke < PATIENCE:
            return _frame({"type": "ping"})
        kind = self._open.kind if self._open else Kind.TEXT
        if self._last is None and self._shape.thinks:
            kind = Kind.THINKING
        return b"".join((*self._turn_to(kind), self._delta(kind, "")))

    def whole(self, answers: Sequence[Answer]) -> bytes:
        (answer,) = answers
        finish, shape = answer.finish, self._shape
        usage = final_split(finish, caching=shape.caching).whole(
            finish.usage.completion, finish.usage.reasoning
        )
        content = content_of(answer.parts, shows_thinking=shape.shows_thinking)
        return orjson.dumps(shape.message(content, usage, finish))

    @property
    def _ended(self) -> Finish:
        if self._finish is None:
            raise RuntimeError("the answer has not ended")
        return self._finish

    def _event(self, event: Event) -> Iterator[bytes]:
        match event:
            case Progress():
                # The cache may know the prompt's text in other tokens than it was counted in.
                yield from self._start(Split.of(event.total, event.done, caching=self._shape.caching))
            case Reasoning(text=text) if text:
                yield from self._think(text)
            case Text(text=text) if text:
                yield from self._say(Kind.TEXT, text)
            case ToolStart():
                yield from self._begin(Kind.TOOL, tool_block(event.id, event.name, {}))
            case ToolArgs(text=text) if text:
                yield from self._say(Kind.TOOL, text)
            case ToolEnd():
                yield from self._close()
            case Finish():
                yield from self._conclude(event)

    def _start(self, split: Split) -> Iterator[bytes]:
        """Once; whatever comes first starts the message."""
        if not self._started:
            self._started = True
            message = self._shape.message([], split.whole(), None)
            yield _frame({"type": "message_start", "message": message})

    def _think(self, text: str) -> Iterator[bytes]:
        yield from self._turn_to(Kind.THINKING)
        if self._open is not None:
            self._open.thoughts.append(text)
        if self._shape.shows_thinking:
            yield self._delta(Kind.THINKING, text)

    def _say(self, kind: Kind, text: str) -> Iterator[bytes]:
        yield from self._turn_to(kind)
        yield self._delta(kind, text)

    def _turn_to(self, kind: Kind) -> Iterator[bytes]:
        if self._open is None or self._open.kind is not kind:
            yield from self._begin(kind, thinking_block() if kind is Kind.THINKING else text_block())

    def _begin(self, kind: Kind, block: Fields) -> Iterator[bytes]:
        yield from self._start(Split(fresh=self._shape.prompt))
        yield from self._close()
        self._index += 1
        self._open = _Open(kind)
        self._last = kind
        yield _frame({"type": "content_block_start", "index": self._index, "content_block": block})

    def _close(self) -> Iterator[bytes]:
        block, self._open = self._open, None
        if block is None:
            return
        if block.kind is Kind.THINKING:
            signature = {"type": "signature_delta", "signature": seal("".join(block.thoughts))}
            yield _frame({"type": "content_block_delta", "index": self._index, "delta": signature})
        yield _frame({"type": "content_block_stop", "index": self._index})

    def _conclude(self, finish: Finish) -> Iterator[bytes]:
        """A message never ends in reasoning: there is always something said."""
        if self._last in (None, Kind.THINKING):
            yield from self._turn_to(Kind.TEXT)
        yield from self._close()
        self._finish = finish

    def _delta(self, kind: Kind, text: str) -> bytes:
        head = b'event: content_block_delta\ndata: {"type":"content_block_delta","index":%d,"delta":'
        return head % self._index + _DELTAS[kind] + orjson.dumps(text) + b"}}\n\n"


def _frame(event: Fields) -> bytes:
    return b"event: " + str(event["type"]).encode() + b"\ndata: " + orjson.dumps(event) + b"\n\n"
