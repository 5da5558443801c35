"""Which strings of a template's variables came from the client.

Types carry the answer: a plain `str` is ours ("role", "function"), a `Client` is theirs. Whoever puts
a client's string into template variables marks it here, and `guard.py` protects exactly what is marked.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from ds4.core.messages import TextPart
from ds4.prompt.json_text import MAX_DEPTH


class Client(str):
    """Text a client sent."""

    __slots__ = ()


class Option(Client):
    """A client's setting, such as an effort name: templates compare these, so they keep their spelling."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class OurText(TextPart):
    """A part of a message's content that we wrote, not the client."""


@dataclass(frozen=True, slots=True)
class Mixed:
    """A string in the making: client strings are marked as such, the others are ours."""

    parts: tuple[str, ...]

    def __str__(self) -> str:
        return "".join(self.parts)


class Arguments(dict[object, object]):
    """A tool call's arguments as a mapping that prints as the client's own JSON text.

    Without this a template that prints or concatenates arguments, expecting text, would show the model
    Python's repr of a dict. The attribute has a leading underscore, which the sandbox hides: an argument
    may have any name.
    """

    def __init__(self, values: dict[object, object], text: str) -> None:
        super().__init__(values)
        self._text = text

    def __str__(self) -> str:
        return self._text

    def __add__(self, other: str) -> str:
        return self._text + other

    def __radd__(self, other: str) -> str:
        return other + self._text


def parse(text: str, kind: type[Client] = Client) -> object:
    """A client's JSON, its strings and keys marked. Raises ValueError, also for too deep a nesting."""
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return mark(value, kind)


def mark(value: object, kind: type[Client] = Client, depth: int = 0) -> object:
    if depth > MAX_DEPTH:
        raise ValueError("nested too deeply")
    if isinstance(value, str):
        return kind(value)
    if isinstance(value, dict):
        return {mark(k, kind, depth + 1): mark(v, kind, depth + 1) for k, v in value.items()}
    if isinstance(value, list):
        return [mark(item, kind, depth + 1) for item in value]
    return value


def strings(value: object) -> Iterator[Client]:
    """Every marked string inside `value`, and our own beside them."""
    if isinstance(value, Client):
        yield value
    elif isinstance(value, Mixed):
        yield from map(Client, value.parts)
    elif isinstance(value, dict):
        if isinstance(value, Arguments):
            yield Client(str(value))
        for key, item in value.items():
            yield from strings(key)
            yield from strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)
