"""An answer's events -> its output items, and what a stream says of them.

Rules:
- One item is open at a time: what begins another ends it. So reasoning is closed before text begins.
- The stream and the whole answer come from here, so they cannot differ.
- An item that the end of the answer finds open has the answer's own status.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import orjson

from ds4.api.collect import Answer, Stretch
from ds4.api.openai.logprobs import Pieces
from ds4.api.responses.output import (
    COMPLETED,
    INCOMPLETE,
    OpenCustom,
    OpenFunction,
    OpenItem,
    OpenMessage,
    OpenReasoning,
    OpenSearch,
    Place,
)
from ds4.api.responses.signals import Signal
from ds4.api.responses.store import Item
from ds4.api.responses.toolbox import Toolbox
from ds4.api.responses.tools import Kind, Ref
from ds4.core.events import Event, Finish, FinishReason, Reasoning, Text, ToolArgs, ToolEnd, ToolStart

_WHOLE = (FinishReason.STOP, FinishReason.TOOL_CALLS)
_PREFIXES = {Kind.FUNCTION: "fc_", Kind.CUSTOM: "ctc_", Kind.SEARCH: "tsc_"}


@dataclass(frozen=True, slots=True)
class Style:
    """`shows_reasoning`: as a summary. `pieces` spells tokens, when logprobs are wanted."""

    tools: Toolbox
    new_id: Callable[[str], str]
    shows_reasoning: bool = False
    pieces: Pieces | None = None


@dataclass(slots=True)
class Composer:
    """`items` are the output items that are complete, in order."""

    style: Style
    items: list[Item] = field(default_factory=list)
    _open: OpenItem | None = None
    _call: int | None = None

    def feed(self, event: Event) -> list[Signal]:
        match event:
            case Reasoning(text=text) if text:
                return self._into_reasoning(text)
            case Text(text=text, tokens=tokens) if text or tokens:
                return self._into_message(event)
            case ToolStart():
                return self._start_call(event)
            case ToolArgs(index=index, text=text) if text and self._call == index and self._open:
                return self._open.add(text)
            case ToolEnd(index=index) if self._call == index:
                return self.close(COMPLETED)
            case Finish(reason=reason):
                return self.close(COMPLETED if reason in _WHOLE else INCOMPLETE)
        return []

    def close(self, status: str) -> list[Signal]:
        """Ends the item that is open."""
        if self._open is None:
            return []
        signals = self._open.end(status)
        self.items.append(Item(self._open.place.id, orjson.dumps(self._open.item(status))))
        self._open = self._call = None
        return signals

    def _into_reasoning(self, text: str) -> list[Signal]:
        if isinstance(self._open, OpenReasoning):
            return self._open.add(text)
        before = self.close(COMPLETED)
        opened = OpenReasoning(self._place("rs_"), shown=self.style.shows_reasoning)
        return [*before, *self._begin(opened), *opened.add(text)]

    def _into_message(self, event: Text) -> list[Signal]:
        if isinstance(self._open, OpenMessage):
            return self._open.add(event.text, event.tokens)
        before = self.close(COMPLETED)
        opened = OpenMessage(self._place("msg_"), self.style.pieces)
        return [*before, *self._begin(opened), *opened.add(event.text, event.tokens)]

    def _start_call(self, event: ToolStart) -> list[Signal]:
        before = self.close(COMPLETED)
        begun = self._begin(self._call_item(event.id, self.style.tools.meant(event.name)))
        self._call = event.index
        return [*before, *begun]

    def _call_item(self, call_id: str, ref: Ref) -> OpenItem:
        place = self._place(_PREFIXES[ref.kind])
        match ref.kind:
            case Kind.FUNCTION:
                return OpenFunction(place, call_id, ref)
            case Kind.CUSTOM:
                return OpenCustom(place, call_id, ref)
            case Kind.SEARCH:
                return OpenSearch(place, call_id)

    def _begin(self, opened: OpenItem) -> list[Signal]:
        self._open = opened
        return opened.begin()

    def _place(self, prefix: str) -> Place:
        return Place(self.style.new_id(prefix), len(self.items))


def events_of(answer: Answer) -> Iterator[Event]:
    """The events that a whole answer was gathered from, each item's in one."""
    for number, part in enumerate(answer.parts):
        if not isinstance(part, Stretch):
            yield ToolStart(number, part.id, part.name)
            yield ToolArgs(number, "".join(part.arguments))
            if part.ended:
                yield ToolEnd(number)
        elif part.is_reasoning:
            yield Reasoning("".join(part.pieces))
        else:
            yield Text("".join(part.pieces), tuple(part.tokens))
    yield answer.finish
