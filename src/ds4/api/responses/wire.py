"""Responses on the wire, streamed and whole.

The first thing said, be it an event or a heartbeat, is that the response exists; the last is all of it.
"""

from collections.abc import Callable, Sequence

from ds4.api.collect import Answer
from ds4.api.responses.composer import Composer, events_of
from ds4.api.responses.document import Document, Outcome
from ds4.api.responses.output import IN_PROGRESS, INCOMPLETE
from ds4.api.responses.signals import Signal, event
from ds4.api.responses.store import Item
from ds4.core.errors import Ds4Error
from ds4.core.events import Event, Finish

Keep = Callable[[bytes, tuple[Item, ...]], None]
"""Takes the finished response and its output items."""


class ResponseWire:
    """A response has one choice."""

    def __init__(self, document: Document, composer: Composer, wall: Callable[[], float], keep: Keep) -> None:
        self._document = document
        self._composer = composer
        self._wall = wall
        self._keep = keep
        self._said = 0
        self._finish: Finish | None = None

    def chunks(self, choice: int, events: Sequence[Event]) -> bytes:  # noqa: ARG002
        out = [self._begin()]
        for new in events:
            out += map(self._say, self._composer.feed(new))
            if isinstance(new, Finish):
                self._finish = new
        return b"".join(out)

    def end(self) -> bytes:
        if self._finish is None:
            return b""
        return self._last(self._outcome(self._finish))

    def last_words(self, error: Ds4Error) -> bytes:
        """The end of a stream whose answer failed."""
        closing = [self._begin(), *map(self._say, self._composer.close(INCOMPLETE))]
        outcome = Outcome.failed(error, self._output())
        return b"".join(closing) + self._last(outcome)

    def heartbeat(self) -> bytes:
        return self._begin() or self._event(b"keepalive")

    def whole(self, answers: Sequence[Answer]) -> bytes:
        (answer,) = answers
        for gathered in events_of(answer):
            self._composer.feed(gathered)
        return self._finished(self._outcome(answer.finish))

    def _begin(self) -> bytes:
        """Once."""
        if self._said:
            return b""
        begun = b'"response":' + self._document.json(Outcome(IN_PROGRESS))
        return self._event(b"response.created", begun) + self._event(b"response.in_progress", begun)

    def _last(self, outcome: Outcome) -> bytes:
        name = b"response." + outcome.status.encode()
        return self._event(name, b'"response":' + self._finished(outcome))

    def _finished(self, outcome: Outcome) -> bytes:
        body = self._document.json(outcome)
        self._keep(body, tuple(self._composer.items))
        return body

    def _outcome(self, finish: Finish) -> Outcome:
        return Outcome.finished(finish, self._output(), int(self._wall()))

    def _output(self) -> tuple[bytes, ...]:
        return tuple(item.json for item in self._composer.items)

    def _say(self, signal: Signal) -> bytes:
        return self._event(b"response." + signal.name.encode(), signal.members)

    def _event(self, name: bytes, members: bytes = b"") -> bytes:
        said, self._said = self._said, self._said + 1
        return event(name, said, members)
