"""Feeds decoders in every way that matters. Used by all tests of this folder.

A case written once runs whole, one byte at a time, and with more output behind it:

    @every_way
    def test_it(way: Way) -> None:
        assert way.read(text_reader(), "in") == Answer("out" + way.trailing)
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import pytest

from ds4.core.events import Fed, ParsedEvent, Stop, Text
from ds4.core.ports import Piece, Reader

TRAILING = " and more"


@dataclass(frozen=True)
class Answer:
    """What a reader made of an output: the visible text and why it wants to stop."""

    text: str
    stop: Stop | None = None


def plain(data: bytes, token: int = 0) -> Piece:
    return Piece(data, token, control=False)


def control(spelling: str, token: int = 1) -> Piece:
    return Piece(spelling.encode(), token, control=True)


def text_of(events: Iterable[ParsedEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, Text))


def answer(feds: Sequence[Fed]) -> Answer:
    return Answer("".join(text_of(fed.events) for fed in feds), feds[-1].hint.stop)


def read(reader: Reader, pieces: Iterable[Piece]) -> Answer:
    return answer([*(reader.feed(piece) for piece in pieces), reader.flush()])


@dataclass(frozen=True)
class Way:
    name: str
    cut: Callable[[bytes], list[bytes]]
    trailing: str = ""

    def read(self, reader: Reader, output: str | bytes) -> Answer:
        data = output.encode() if isinstance(output, str) else output
        return read(reader, map(plain, self.cut(data + self.trailing.encode())))


def whole(data: bytes) -> list[bytes]:
    return [data]


def bytewise(data: bytes) -> list[bytes]:
    return [data[at : at + 1] for at in range(len(data))]


WAYS = (
    Way("whole", whole),
    Way("bytewise", bytewise),
    Way("whole, more behind", whole, TRAILING),
    Way("bytewise, more behind", bytewise, TRAILING),
)

every_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
