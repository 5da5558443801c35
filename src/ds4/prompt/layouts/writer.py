"""Where layouts write to: our own words and the client's, kept apart as they are written."""

from collections.abc import Iterable

from ds4.core.plan import BoundaryKind
from ds4.formats.preamble import Preamble
from ds4.prompt.layouts.chat import Entry
from ds4.prompt.rendered import Mark, Rendered, encodable

MASK = "\uffff"
"""Stands for each client character in the guarded text. It is no character, so nothing is spelled with it."""


class Writer:
    def __init__(self) -> None:
        self._text: list[str] = []
        self._guarded: list[str] = []
        self._size = 0
        self._marks: list[Mark] = []

    def ours(self, text: str) -> None:
        """What spells a control token in it becomes one."""
        self._write(text, text)

    def client(self, text: str) -> None:
        """Text a client sent, or text made of it: plain, whatever it spells."""
        self._write(encodable(text), MASK * len(text))

    def tools(self, preamble: Preamble, schemas: Iterable[str]) -> None:
        self.ours(preamble.head)
        self.client("\n".join(schemas))
        self.ours(preamble.tail)

    def head_ends(self, message: int) -> None:
        """Tools and leading system text end here; `message` is the first one after them."""
        self._mark(BoundaryKind.SYSTEM_END, message)

    def turn_starts(self, entry: Entry) -> None:
        self._mark(BoundaryKind.TURN_START, entry.index)

    def answer_starts(self, message: int) -> None:
        """The turn to generate begins here, with its marker."""
        self._mark(BoundaryKind.TURN_START, message)

    def _mark(self, kind: BoundaryKind, message: int) -> None:
        self._marks.append(Mark(self._size, kind, message))

    def _write(self, text: str, guarded: str) -> None:
        self._text.append(text)
        self._guarded.append(guarded)
        self._size += len(text)

    def rendered(self) -> Rendered:
        return Rendered("".join(self._text), "".join(self._guarded), tuple(self._marks))
