"""A whole answer, gathered from the very events a stream is made of."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from ds4.core.events import Event, Failed, Finish, Reasoning, Text, ToolArgs, ToolEnd, ToolStart
from ds4.core.sampling import Sampled


@dataclass(slots=True)
class Call:
    id: str
    name: str
    arguments: list[str] = field(default_factory=list)
    ended: bool = False


@dataclass(slots=True)
class Stretch:
    """Text or reasoning without anything else in between."""

    is_reasoning: bool
    pieces: list[str] = field(default_factory=list)
    tokens: list[Sampled] = field(default_factory=list)


@dataclass(slots=True)
class Answer:
    """`tokens` are those of the text, when logprobs are wanted. `finish` is set by the last event.

    `parts` is the same answer in order, for APIs that show how text, reasoning and calls alternate.
    """

    text: list[str] = field(default_factory=list)
    tokens: list[Sampled] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    calls: dict[int, Call] = field(default_factory=dict)
    parts: list[Stretch | Call] = field(default_factory=list)
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
                self._say(event.text, event.tokens, is_reasoning=False)
            case Reasoning(text=text):
                self.reasoning.append(text)
                self._say(text, (), is_reasoning=True)
            case ToolStart():
                call = self.calls[event.index] = Call(event.id, event.name)
                self.parts.append(call)
            case ToolArgs():
                self.calls[event.index].arguments.append(event.text)
            case ToolEnd():
                self.calls[event.index].ended = True
            case Finish():
                self.finish = event
            case Failed():
                raise event.error

    def _say(self, text: str, tokens: tuple[Sampled, ...], *, is_reasoning: bool) -> None:
        if not text and not tokens:
            return
        last = self.parts[-1] if self.parts else None
        if not isinstance(last, Stretch) or last.is_reasoning is not is_reasoning:
            last = Stretch(is_reasoning)
            self.parts.append(last)
        last.pieces.append(text)
        last.tokens += tokens
