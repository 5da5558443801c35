"""Values as JSON text. Whatever the model wrote, what comes out parses."""

import json
import re
from typing import NoReturn

import orjson

from ds4.formats.declared import Types, allows, type_of
from ds4.parsing.balance import Balance

_BLANKS = re.compile(r'("(?:[^"\\]|\\.)*")|\s+')
_HUGE = re.compile(r"\d[eE]\+?\d{2}|\d{200}")
_MISSING = object()


def quoted(text: str) -> str:
    return orjson.dumps(text).decode()


def escaped(text: str) -> str:
    """The inside of a JSON string. Goes character by character, so text can be escaped in pieces."""
    return quoted(text)[1:-1]


def json_or_text(raw: str, types: Types | None, missing: str = "") -> str:
    """`raw` as the JSON value it is, or else as a JSON string of itself.

    `types`: it may as well be a string written plainly, so a JSON value counts only if it has
    another of these types; None: it was meant as JSON. `missing`: closing brackets that would make
    it whole.
    """
    for candidate in dict.fromkeys((raw, raw + missing)):
        value = _loaded(candidate)
        if value is not _MISSING and _is_meant(value, types):
            return minified(candidate)
    return quoted(raw)


def as_far_as_sound(raw: str) -> str:
    """The front of a JSON value that was cut, without its last member if that makes no sense: what goes out
    must be what JSON can begin with, since clients read arguments while they come."""
    for end in (len(raw), raw.rfind(",")):
        front, balance = raw[: max(end, 0)], Balance()
        balance.scan(front)
        if _loaded(front + balance.missing()) is not _MISSING:
            return front
    return ""


def minified(raw: str) -> str:
    """Without whitespace between parts; numbers and strings keep their spelling."""
    return _BLANKS.sub(r"\1", raw)


def _is_meant(value: object, types: Types | None) -> bool:
    return types is None or (not isinstance(value, str) and allows(types, type_of(value)))


def _loaded(raw: str) -> object:
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        return _MISSING if _HUGE.search(raw) is None else _loaded_slowly(raw)


def _loaded_slowly(raw: str) -> object:
    """A number too large for a float is JSON nevertheless."""
    try:
        return json.loads(raw, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return _MISSING


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
