"""Events that say one thing in pieces, as one event each."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from ds4.core.events import ParsedEvent, Reasoning, Text, ToolArgs


def joined(events: Iterable[ParsedEvent]) -> Iterator[ParsedEvent]:
    for _, group in groupby(events, _key):
        yield _join(list(group))


def _key(event: ParsedEvent) -> object:
    match event:
        case Text() | Reasoning():
            return type(event)
        case ToolArgs():
            return event.index
    # Starts and ends never join, not even with an equal one.
    return id(event)


def _join(run: list[ParsedEvent]) -> ParsedEvent:
    match run[0]:
        case Text():
            texts = [event for event in run if isinstance(event, Text)]
            tokens = tuple(token for event in texts for token in event.tokens)
            return Text("".join(event.text for event in texts), tokens)
        case Reasoning():
            return Reasoning("".join(event.text for event in run if isinstance(event, Reasoning)))
        case ToolArgs(index):
            return ToolArgs(index, "".join(event.text for event in run if isinstance(event, ToolArgs)))
    return run[0]
