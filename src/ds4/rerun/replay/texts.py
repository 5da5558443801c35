"""What was made of texts, for traces without any: the readers' events, and which texts are alike."""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from pydantic import TypeAdapter

from ds4.core.events import (
    Fed,
    FinishReason,
    Hint,
    ParsedEvent,
    Reasoning,
    Stop,
    Text,
    ToolArgs,
    ToolEnd,
    ToolStart,
)
from ds4.core.plan import Ids
from ds4.core.ports import Piece
from ds4.rerun.replay.script import Script
from ds4.schedule.rewrite import Alike, Comparer

_EVENTS: Mapping[str, TypeAdapter[ParsedEvent]] = MappingProxyType(
    {kind.__name__: TypeAdapter(kind) for kind in (Reasoning, Text, ToolStart, ToolArgs, ToolEnd)}
)
_UNREAD = Text("")
"""For events that a client who had left was not given."""


class RecordedReader:
    """`core.ports.Reader` of a trace. `events` are all of its answer, in order."""

    def __init__(self, script: Script, events: Iterable[Mapping[str, Any]]) -> None:
        self._script = script
        self._events = _parsed(events)

    def feed(self, piece: Piece) -> Fed:  # noqa: ARG002
        return self._next()

    def flush(self, *, cut: bool = False) -> Fed:  # noqa: ARG002
        return self._next()

    def _next(self) -> Fed:
        words = self._script.read()
        count, hint = (words, Hint()) if isinstance(words, int) else (words["events"], _hint(words))
        return Fed(tuple(next(self._events, _UNREAD) for _ in range(count)), hint)


def recorded_comparer(script: Script) -> Comparer:
    def compare(held: Ids, wanted: Ids, common: int) -> Alike | None:  # noqa: ARG001
        words = script.compared()
        if words is None:
            return None
        held_rows, wanted_rows, bridge = words
        return Alike(held_rows, wanted_rows, tuple(bridge))

    return compare


def _parsed(events: Iterable[Mapping[str, Any]]) -> Iterator[ParsedEvent]:
    for event in events:
        if (kind := _EVENTS.get(event["kind"])) is not None:
            yield kind.validate_python({name: value for name, value in event.items() if name != "kind"})


def _hint(words: Mapping[str, Any]) -> Hint:
    stop = None
    if words["stop"] is not None:
        reason, named = words["stop"]
        stop = Stop(FinishReason(reason), "" if named else None)
    return Hint(words["greedy"], words["constrain"], stop)
