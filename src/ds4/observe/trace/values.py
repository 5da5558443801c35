"""Values as JSON, and JSON as bytes again. Pure.

Rules:
- A frozen dataclass becomes an object of its fields; with `kinds`, also of its class's name.
- Bytes that are UTF-8 become a text, others {"b64": ...}: `packed` and `unpacked` are each other's inverse.
"""

import base64
from dataclasses import fields, is_dataclass
from enum import Enum

import numpy as np
import orjson

Json = dict[str, object]


def plain(value: object, *, kinds: bool = False) -> object:
    """`value` as what orjson writes: no tuples, enums, arrays or dataclasses."""
    match value:
        case Enum():
            return value.value
        case bytes():
            return packed(value)
        case np.ndarray():
            return value.tolist()
        case dict():
            return {str(key): plain(item, kinds=kinds) for key, item in value.items()}
        case tuple() | list() | frozenset():
            return [plain(item, kinds=kinds) for item in _ordered(value)]
        case _ if is_dataclass(value) and not isinstance(value, type):
            found = {field.name: plain(getattr(value, field.name), kinds=kinds) for field in fields(value)}
            return {"kind": type(value).__name__, **found} if kinds else found
    return value


def written(line: Json) -> bytes:
    """`plain` of a line as JSON, without making it first. Raises TypeError for a lone surrogate."""
    return orjson.dumps(line, default=_rest, option=_LINE)


_LINE = orjson.OPT_APPEND_NEWLINE | orjson.OPT_SERIALIZE_NUMPY


def _rest(value: object) -> object:
    """What orjson does not write by itself."""
    if isinstance(value, bytes | frozenset | np.ndarray):
        return plain(value)
    raise TypeError(f"{type(value).__name__} has no place in a trace")


def packed(data: bytes) -> object:
    """Text where it is one."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"b64": base64.b64encode(data).decode()}


def unpacked(value: object) -> bytes:
    """Raises ValueError for what `packed` never gives."""
    match value:
        case str():
            return value.encode()
        case {"b64": str(text)}:
            return base64.b64decode(text, validate=True)
    raise ValueError(f"neither a text nor base64: {value!r}"[:80])


def _ordered(value: tuple[object, ...] | list[object] | frozenset[object]) -> list[object]:
    """A set has no order of its own: two traces of one thing must be equal."""
    return sorted(value, key=str) if isinstance(value, frozenset) else list(value)
