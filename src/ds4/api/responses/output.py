"""Output items while they are made. Each kind knows what its stream says, and what it is in the end.

`begin` once, `add` for each piece, `end` once; then `item` is the whole of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import orjson

from ds4.api.openai.logprobs import Pieces, chat_logprobs
from ds4.api.raw_input import RawInput
from ds4.api.responses.signals import Signal
from ds4.api.responses.tools import Ref
from ds4.api.sealed import seal
from ds4.core.sampling import Sampled

Fields = dict[str, object]
IN_PROGRESS, COMPLETED, INCOMPLETE = "in_progress", "completed", "incomplete"


@dataclass(frozen=True, slots=True)
class Place:
    """Where an item stands in the output."""

    id: str
    index: int

    def signal(self, name: str, /, **members: object) -> Signal:
        return Signal.of(name, item_id=self.id, output_index=self.index, **members)

    def added(self, item: Fields) -> Signal:
        return Signal.of("output_item.added", output_index=self.index, item=item)

    def done(self, item: Fields) -> Signal:
        return Signal.of("output_item.done", output_index=self.index, item=item)


class OpenItem(Protocol):
    place: Place

    def begin(self) -> list[Signal]: ...

    def add(self, text: str, tokens: Sequence[Sampled] = ()) -> list[Signal]: ...

    def end(self, status: str) -> list[Signal]: ...

    def item(self, status: str) -> Fields: ...


class OpenReasoning:
    """`shown`: the text is also there to be read, as a summary. It always comes back sealed."""

    def __init__(self, place: Place, *, shown: bool) -> None:
        self.place = place
        self._shown = shown
        self._text: list[str] = []

    def begin(self) -> list[Signal]:
        added = self.place.added(self._item(IN_PROGRESS, []))
        return [added, *self._part("reasoning_summary_part.added", part=_summary(""))]

    def add(self, text: str, tokens: Sequence[Sampled] = ()) -> list[Signal]:  # noqa: ARG002
        self._text.append(text)
        return self._part("reasoning_summary_text.delta", delta=text)

    def end(self, status: str) -> list[Signal]:
        text = "".join(self._text)
        return [
            *self._part("reasoning_summary_text.done", text=text),
            *self._part("reasoning_summary_part.done", part=_summary(text)),
            self.place.done(self.item(status)),
        ]

    def item(self, status: str) -> Fields:
        text = "".join(self._text)
        sealed = {"encrypted_content": seal(text)}
        return self._item(status, [_summary(text)] if self._shown else []) | sealed

    def _item(self, status: str, summary: list[Fields]) -> Fields:
        return {"id": self.place.id, "type": "reasoning", "status": status, "summary": summary}

    def _part(self, name: str, /, **members: object) -> list[Signal]:
        return [self.place.signal(name, summary_index=0, **members)] if self._shown else []


def _summary(text: str) -> Fields:
    return {"type": "summary_text", "text": text}


class OpenMessage:
    """`pieces` spells tokens, when logprobs are wanted."""

    def __init__(self, place: Place, pieces: Pieces | None) -> None:
        self.place = place
        self._pieces = pieces
        self._text: list[str] = []
        self._logprobs: list[object] = []

    def begin(self) -> list[Signal]:
        return [
            self.place.added(self._item(IN_PROGRESS, [])),
            self._part("content_part.added", part=_output_text("", [])),
        ]

    def add(self, text: str, tokens: Sequence[Sampled] = ()) -> list[Signal]:
        logprobs = self._spelled(tokens)
        self._text.append(text)
        self._logprobs += logprobs
        return [self._part("output_text.delta", delta=text, logprobs=logprobs)]

    def end(self, status: str) -> list[Signal]:
        text = "".join(self._text)
        return [
            self._part("output_text.done", text=text, logprobs=self._logprobs),
            self._part("content_part.done", part=_output_text(text, self._logprobs)),
            self.place.done(self.item(status)),
        ]

    def item(self, status: str) -> Fields:
        return self._item(status, [_output_text("".join(self._text), self._logprobs)])

    def _item(self, status: str, content: list[Fields]) -> Fields:
        base = {"id": self.place.id, "type": "message", "status": status}
        return base | {"role": "assistant", "content": content}

    def _part(self, name: str, /, **members: object) -> Signal:
        return self.place.signal(name, content_index=0, **members)

    def _spelled(self, tokens: Sequence[Sampled]) -> list[object]:
        if self._pieces is None or not tokens:
            return []
        content = chat_logprobs(tokens, self._pieces)["content"]
        return content if isinstance(content, list) else []


def _output_text(text: str, logprobs: Sequence[object]) -> Fields:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": list(logprobs)}


class OpenFunction:
    def __init__(self, place: Place, call_id: str, ref: Ref) -> None:
        self.place = place
        self._call_id = call_id
        self._ref = ref
        self._arguments: list[str] = []

    def begin(self) -> list[Signal]:
        return [self.place.added(self._item(IN_PROGRESS, ""))]

    def add(self, text: str, tokens: Sequence[Sampled] = ()) -> list[Signal]:  # noqa: ARG002
        self._arguments.append(text)
        return [self.place.signal("function_call_arguments.delta", delta=text)]

    def end(self, status: str) -> list[Signal]:
        arguments = "".join(self._arguments)
        done = self.place.signal("function_call_arguments.done", name=self._ref.name, arguments=arguments)
        return [done, self.place.done(self.item(status))]

    def item(self, status: str) -> Fields:
        return self._item(status, "".join(self._arguments))

    def _item(self, status: str, arguments: str) -> Fields:
        named = _named(self._ref, call_id=self._call_id, arguments=arguments)
        return {"id": self.place.id, "type": "function_call", "status": status} | named


class OpenCustom:
    """The arguments are JSON with the raw input inside; only that goes out."""

    def __init__(self, place: Place, call_id: str, ref: Ref) -> None:
        self.place = place
        self._call_id = call_id
        self._ref = ref
        self._input = RawInput()

    def begin(self) -> list[Signal]:
        return [self.place.added(self._item(IN_PROGRESS, ""))]

    def add(self, text: str, tokens: Sequence[Sampled] = ()) -> list[Signal]:  # noqa: ARG002
        return self._delta(self._input.add(text))

    def end(self, status: str) -> list[Signal]:
        rest = self._delta(self._input.end())
        done = self.place.signal("custom_tool_call_input.done", input=self._input.text)
        return [*rest, done, self.place.done(self.item(status))]

    def item(self, status: str) -> Fields:
        return self._item(status, self._input.text)

    def _delta(self, text: str) -> list[Signal]:
        return [self.place.signal("custom_tool_call_input.delta", delta=text)] if text else []

    def _item(self, status: str, text: str) -> Fields:
        named = _named(self._ref, call_id=self._call_id, input=text)
        return {"id": self.place.id, "type": "custom_tool_call", "status": status} | named


class OpenSearch:
    """The arguments are an object, which is there at the end or not at all."""

    def __init__(self, place: Place, call_id: str) -> None:
        self.place = place
        self._call_id = call_id
        self._arguments: list[str] = []

    def begin(self) -> list[Signal]:
        return [self.place.added(self._item(IN_PROGRESS, {}))]

    def add(self, text: str, tokens: Sequence[Sampled] = ()) -> list[Signal]:  # noqa: ARG002
        self._arguments.append(text)
        return []

    def end(self, status: str) -> list[Signal]:
        return [self.place.done(self.item(status))]

    def item(self, status: str) -> Fields:
        return self._item(status, _object("".join(self._arguments)))

    def _item(self, status: str, arguments: Fields) -> Fields:
        base: Fields = {"id": self.place.id, "type": "tool_search_call", "status": status}
        return base | {"call_id": self._call_id, "execution": "client", "arguments": arguments}


def _named(ref: Ref, **members: object) -> Fields:
    namespace = {"namespace": ref.namespace} if ref.namespace else {}
    return {"name": ref.name, **namespace, **members}


def _object(text: str) -> Fields:
    try:
        value = orjson.loads(text or "{}")
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}
