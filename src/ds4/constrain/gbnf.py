"""llama.cpp's grammar language, in the constraint library's Lark.

Rules:
- Piece by piece, each rule on a line of its own. Nothing here looks into brackets: none can be too deep.
- Whatever leads to no other rule again and again is a terminal, which the library reads far faster.
- Names become numbers: GBNF knows more of them than Lark, and tells apart what Lark does not.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from graphlib import CycleError, TopologicalSorter
from types import MappingProxyType

from ds4.constrain.lark import literal, plain, regex
from ds4.core.errors import BadRequest


class _Kind(StrEnum):
    BLANK = "blank"
    DEFINED = "defined"
    NAME = "name"
    TEXT = "text"
    CLASS = "class"
    ANY = "any"
    OTHER = "other"


_CHARACTER = r"(?:\\x[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\U[0-9a-fA-F]{8}|\\[^xuU]|[^\\])"
_PIECE = re.compile(
    rf"""(?P<{_Kind.BLANK}>\s+|\#[^\n]*)
    |(?P<{_Kind.DEFINED}>[\w-]+\s*::=)
    |(?P<{_Kind.NAME}>[\w-]+)
    |(?P<{_Kind.TEXT}>"(?:(?!["\n]){_CHARACTER})*")
    |(?P<{_Kind.CLASS}>\[(?:(?!\]){_CHARACTER})+\])
    |(?P<{_Kind.ANY}>\.)
    |(?P<{_Kind.OTHER}>[|()*+?]|\{{\s*[0-9]{{1,9}}\s*(?:,\s*(?:[0-9]{{1,9}}\s*)?)?\}})""",
    re.VERBOSE | re.DOTALL,
)
_CHARACTERS = re.compile(_CHARACTER, re.DOTALL)
_ITEM = re.compile(rf"({_CHARACTER})(?:-({_CHARACTER}))?", re.DOTALL)
_ESCAPES: Mapping[str, str] = MappingProxyType({"n": "\n", "r": "\r", "t": "\t"})
_NOTHING = '""'
_SHOWN = 20
"""Characters around a fault."""


@dataclass(frozen=True, slots=True)
class _Piece:
    kind: _Kind
    text: str


def from_gbnf(text: str, path: str) -> str:
    """Raises BadRequest that names `path`."""
    try:
        rules = _rules(list(_pieces(text)))
        return "".join(f"{line}\n" for line in _lines(rules))
    except ValueError as error:
        raise BadRequest(f"{path} is no GBNF: {error}", param=path) from error


_Rules = Mapping[str, Sequence[_Piece]]


def _pieces(text: str) -> Iterator[_Piece]:
    place = 0
    while place < len(text):
        found = _PIECE.match(text, place)
        if found is None:
            line = text.count("\n", 0, place) + 1
            raise ValueError(f"line {line} cannot be read at {text[place : place + _SHOWN]!r}")
        kind = _Kind(str(found.lastgroup))
        if kind is not _Kind.BLANK:
            yield _Piece(kind, found[0])
        place = found.end()


def _rules(pieces: Iterable[_Piece]) -> _Rules:
    rules: dict[str, list[_Piece]] = {}
    body: list[_Piece] | None = None
    for piece in pieces:
        if piece.kind is _Kind.DEFINED:
            # The last one counts, as in llama.cpp.
            body = rules[piece.text.removesuffix("::=").strip()] = []
        elif body is None:
            raise ValueError(f"it must begin with a rule, not with {piece.text[:_SHOWN]!r}")
        else:
            body.append(piece)
    for name in ("root", *(name for body in rules.values() for name in _used(body))):
        if name not in rules:
            raise ValueError(f"there is no rule {name!r}")
    return rules


def _lines(rules: _Rules) -> Iterator[str]:
    terminals = _terminals(rules)
    names = {name: f"{'R' if name in terminals else 'r'}{number}" for number, name in enumerate(rules)}
    names["root"] = "start"
    for name, body in rules.items():
        written = " ".join(_written(piece, names) for piece in body)
        yield f"{names[name]}: {written or _NOTHING}"


def _terminals(rules: _Rules) -> frozenset[str]:
    """Those that lead to terminals alone. The root is always a rule."""
    order = TopologicalSorter({name: _used(body) for name, body in rules.items()})
    with suppress(CycleError):  # what is in no cycle, and leads to none, comes all the same
        order.prepare()
    found: set[str] = set()
    while ready := [name for name in order.get_ready() if name != "root"]:
        order.done(*ready)
        found.update(ready)
    return frozenset(found)


def _used(body: Iterable[_Piece]) -> list[str]:
    return [piece.text for piece in body if piece.kind is _Kind.NAME]


def _written(piece: _Piece, names: Mapping[str, str]) -> str:
    match piece.kind:
        case _Kind.NAME:
            return names[piece.text]
        case _Kind.TEXT:
            return literal("".join(_read(char[0]) for char in _CHARACTERS.finditer(piece.text[1:-1])))
        case _Kind.CLASS:
            return regex(_class(piece.text[1:-1]))
        case _Kind.ANY:
            return regex("(?s:.)")
    return "".join(piece.text.split())


def _class(text: str) -> str:
    negated = text.startswith("^") and len(text) > 1
    members = _ITEM.finditer(text, negated)
    ranges = ("-".join(plain(_read(end)) for end in found.groups() if end) for found in members)
    return f"[{'^' if negated else ''}{''.join(ranges)}]"


def _read(char: str) -> str:
    """Raises ValueError."""
    if not char.startswith("\\"):
        return char
    if char[1] not in "xuU":
        return _ESCAPES.get(char[1], char[1])
    code = int(f"0x{char[2:]}", 16)
    if code > sys.maxunicode or 0xD800 <= code < 0xE000:
        raise ValueError(f"{char} is no character")
    return chr(code)
