"""One thing a stream says: its name and its JSON members."""

from dataclasses import dataclass

import orjson


@dataclass(frozen=True, slots=True)
class Signal:
    """`name` is without the leading `response.`."""

    name: str
    members: bytes

    @classmethod
    def of(cls, name: str, /, **members: object) -> "Signal":
        return cls(name, orjson.dumps(members)[1:-1])


def event(name: bytes, number: int, members: bytes = b"") -> bytes:
    """A server-sent event. `number` is its place in the stream."""
    head = b'event: %b\ndata: {"type":"%b","sequence_number":%d' % (name, name, number)
    return head + (b"," + members if members else b"") + b"}\n\n"
