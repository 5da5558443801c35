"""Where layouts write to: our own words and the client's, kept apart as they are written."""

from collections.abc import Iterable
from dataclasses import replace

from ds4.core.messages import Role
from ds4.core.plan import BoundaryKind
from ds4.formats.preamble import Preamble
from ds4.prompt.layouts.chat import Entry
from ds4.prompt.rendered import Mark, Rendered, Span, encodable

MASK = "\uffff"
"""Stands for each client character in the guarded text. It is no character, so nothing is spelled with it."""


class Writer:
    def __init__(self) -> None:
        self._text: list[str] = []
        self._guarded: list[str] = []
        self._size = 0
        self._marks: list[Mark] = []
        self._turns: list[Span] = []
        self._speaking = False

    def ours(self, text: str) -> None:
        """What spells a control token in it becomes one."""
        self._write(text, text)

    def client(self, text: str) -> None:
        """Text a client sent, or text made of it: plain, whatever it spells."""
        self._write(encodable(text), MASK * len(text))

    def tools(self, preamble: Preamble, schemas: Iterable[str], message: int) -> None:
        """`message` is the first one after them."""
        self._mark(BoundaryKind.TOOLS_START, message)
        self.ours(preamble.head)
        self.client("\n".join(schemas))
        self.ours(preamble.tail)
        self._mark(BoundaryKind.TOOLS_END, message)

    def head_ends(self, message: int) -> None:
        """Tools and leading system text end here; `message` is the first one after them."""
        self._mark(BoundaryKind.SYSTEM_END, message)

    def turn_starts(self, entry: Entry) -> None:
        """Its end must be told too (`turn_ends`), unless it is an answer that is gone on with."""
        self._mark(BoundaryKind.TURN_START, entry.index)
        answers = entry.role is Role.ASSISTANT
        if answers and self._speaking:
            self._turns[-1] = replace(self._turns[-1], messages=self._turns[-1].messages + 1, end=None)
        elif answers:
            self._turns.append(Span(1, self._size, start=self._size))
        self._speaking = answers

    def turn_ends(self, entry: Entry) -> None:
        """What the model would have written of an answer ends here; what follows closes it."""
        if entry.role is Role.ASSISTANT:
            self._turns[-1] = replace(self._turns[-1], until=self._size, end=self._size)

    def answer_starts(self, message: int) -> None:
        """The turn to generate begins here, with its marker."""
        self._mark(BoundaryKind.ANSWER_START, message)

    def _mark(self, kind: BoundaryKind, message: int) -> None:
        self._marks.append(Mark(self._size, kind, message))

    def _write(self, text: str, guarded: str) -> None:
        self._text.append(text)
        self._guarded.append(guarded)
        self._size += len(text)

    def rendered(self) -> Rendered:
        turns = tuple(turn for turn in self._turns if turn.end is not None)
        return Rendered("".join(self._text), "".join(self._guarded), tuple(self._marks), turns)
