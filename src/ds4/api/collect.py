"""A whole answer, gathered from the very events a stream is made of."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from ds4.core.events import Event, Failed, Finish, Reasoning, Text, ToolArgs, ToolStart
from ds4.core.sampling import Sampled


@dataclass(slots=True)
class Call:
    id: str
    name: str
    arguments: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Answer:
    """`tokens` are those of the text, when logprobs are wanted. `finish` is set by the last event."""

    text: list[str] = field(default_factory=list)
    tokens: list[Sampled] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    calls: dict[int, Call] = field(default_factory=dict)
    finish: Finish = field(init=False, repr=False)

    def add(self, events: Iterable[Event]) -> None:
        """Raises the error of a Failed event."""
        for event in events:
            self._add(event)

    def _add(self, event: Event) -> None:
        match event:
            case Text():
                self.text.append(event.text)
                self.tokens += event.tokens
            case Reasoning(text=text):
                self.reasoning.append(text)
            case ToolStart():
                self.calls[event.index] = Call(event.id, event.name)
            case ToolArgs():
                self.calls[event.index].arguments.append(event.text)
            case Finish():
                self.finish = event
            case Failed():
                raise event.error
