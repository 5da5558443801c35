"""Writes calls as events: names, and arguments as one JSON object in pieces.

Rules:
- The arguments of every call that ends are a JSON object, whatever the model wrote.
- What is surely a string goes out while it is produced. Anything else is held until it can be judged.
- Whoever names a thing ends what was open before it. Nothing here asks for a closing.
"""

from collections.abc import Callable
from enum import StrEnum

from ds4.core.events import ParsedEvent, Text, ToolArgs, ToolEnd, ToolStart
from ds4.formats.declared import UNKNOWN, Types
from ds4.parsing.balance import Balance
from ds4.parsing.schemas import Schemas
from ds4.parsing.values import as_far_as_sound, escaped, json_or_text, quoted


class Kind(StrEnum):
    """How the text of a value becomes JSON."""

    RAW = "raw"
    """A string, escaped here."""
    ESCAPED = "escaped"
    """The inside of a JSON string already."""
    JSON = "json"
    OPEN = "open"
    """A string or JSON: its end decides."""


class Calls:
    """Appends to `events`, which whoever reads them empties."""

    def __init__(self, schemas: Schemas, new_id: Callable[[], str]) -> None:
        self.events: list[ParsedEvent] = []
        self.started = 0
        self.ended = 0
        self._schemas = schemas
        self._new_id = new_id
        self._types: dict[str, Types] = {}
        self._stray: list[Text] = []
        self._empty = True  # the innermost object has no member yet
        self._depth = 0
        self._value: _Value | None = None

    def fresh(self) -> "Calls":
        """Others of the same tools. Their ids mean nothing."""
        return Calls(self._schemas, str)

    @property
    def active(self) -> bool:
        return self.started > self.ended

    @property
    def in_structure(self) -> bool:
        """Whether the open value is at a character that its JSON dictates."""
        return self._value is not None and self._value.in_structure

    @property
    def in_json_string(self) -> bool:
        return self._value is not None and self._value.in_json_string

    def start(self, name: str) -> None:
        self.end()
        self.events.append(ToolStart(self.started, self._new_id(), name))
        self.started += 1
        self._types = self._schemas.parameters(name)
        self._empty = True
        self._depth = 1

    def key(self, name: str, kind: Kind | None, unknown: Kind = Kind.OPEN) -> None:
        """Begins a member. `kind` None asks the schema; `unknown` is for when that says nothing."""
        self.end_value()
        # Schemas speak of the arguments' own members only.
        types = self._types.get(name, UNKNOWN) if self._depth == 1 else UNKNOWN
        self._value = _Value(kind or _kind(types, unknown), types)
        self._write(("{" if self._empty else ",") + quoted(name) + ":")
        self._empty = False

    def value(self, text: str) -> None:
        if self._value is not None:
            self._write(self._value.add(text))

    def end_value(self) -> None:
        if self._value is not None:
            value, self._value = self._value, None
            self._write(value.end())

    def nest(self) -> None:
        """The value that has just begun is an object with members of its own."""
        self._value = None
        self._empty = True
        self._depth += 1

    def unnest(self) -> None:
        """Ends the innermost object, unless it is the arguments themselves."""
        if self._depth > 1:
            self.end_value()
            self._write("{}" if self._empty else "}")
            self._empty = False
            self._depth -= 1

    def stray(self, text: Text) -> None:
        """Text inside a call that is no part of it: comes after it."""
        self._stray.append(text)

    def end(self) -> None:
        if not self.active:
            return
        self.end_value()
        self._write(("{}" if self._empty else "}") + "}" * (self._depth - 1))
        self.events.append(ToolEnd(self.started - 1))
        self.ended += 1
        self._release()

    def cut(self) -> None:
        """The answer was cut: what is held goes out, and the arguments stay open."""
        if self._value is not None:
            self._write(self._value.rest())
        self._release()

    def _release(self) -> None:
        self.events += self._stray
        self._stray.clear()

    def _write(self, text: str) -> None:
        if text:
            self.events.append(ToolArgs(self.started - 1, text))


class _Value:
    def __init__(self, kind: Kind, types: Types) -> None:
        self._kind = kind
        self._types = types
        self._opened = False
        self._held: list[str] = []
        self._balance = Balance()

    @property
    def in_structure(self) -> bool:
        return self._kind is Kind.JSON and not self._balance.in_string

    @property
    def in_json_string(self) -> bool:
        """If it is sound: what begins like an object or a list is one, also where it may be text."""
        if self._kind is Kind.OPEN and "".join(self._held).lstrip(" \t\r\n")[:1] not in ("[", "{"):
            return False
        return self._kind in (Kind.JSON, Kind.OPEN) and self._balance.in_string

    def add(self, text: str) -> str:
        """The JSON that can go out now."""
        if self._kind in (Kind.JSON, Kind.OPEN):
            self._balance.scan(text)
            self._held.append(text)
            return ""
        return self._open() + (escaped(text) if self._kind is Kind.RAW else text)

    def end(self) -> str:
        if self._kind in (Kind.JSON, Kind.OPEN):
            types = self._types if self._kind is Kind.OPEN else None
            return json_or_text("".join(self._held), types, self._balance.missing())
        return self._open() + '"'

    def rest(self) -> str:
        held = "".join(self._held)
        if self._kind is Kind.OPEN and held:
            return '"' + escaped(held)
        return as_far_as_sound(held)

    def _open(self) -> str:
        if self._opened:
            return ""
        self._opened = True
        return '"'


def _kind(types: Types, unknown: Kind) -> Kind:
    if not types:
        return unknown
    if "string" not in types:
        return Kind.JSON
    return Kind.RAW if len(types) == 1 else Kind.OPEN
