"""Server-sent events: headers, frames, and chunks that cost one small JSON document each."""

from dataclasses import dataclass

import orjson

from ds4.api.errors import Header

HEADERS: tuple[Header, ...] = (
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache"),
    (b"x-accel-buffering", b"no"),
)
DONE = b"data: [DONE]\n\n"


def frame(data: bytes) -> bytes:
    return b"data: " + data + b"\n\n"


@dataclass(frozen=True, slots=True)
class Head:
    """What stands in front of every chunk and every whole answer. `created` in Unix seconds."""

    id: str
    object: str
    created: int
    model: str

    def open(self) -> bytes:
        """The JSON object without its closing brace, ready for further members."""
        return orjson.dumps(self)[:-1] + b","
