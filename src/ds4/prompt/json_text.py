"""A client's JSON, rewritten in one spelling: its key order and its numbers stay, blanks and escapes do not.

The same arguments always give the same text, however the client's library spells them, and
`1.0` or a number of thirty digits comes out as it came in.
"""

import json
from dataclasses import dataclass
from typing import NoReturn

from ds4.formats.written import Separators

MAX_DEPTH = 100
"""JSON nesting. Far above any real schema, far below Python's recursion limit."""


@dataclass(frozen=True, slots=True)
class Number:
    text: str


def parse(text: str) -> object:
    """Numbers become Number. Raises ValueError, also for too deep a nesting."""
    try:
        value = json.loads(text, parse_int=Number, parse_float=Number, parse_constant=_refuse)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    _check_depth(value, 0)
    return value


def parse_object(text: str) -> dict[str, object] | None:
    """None for what is no JSON object, or too deep a one; blank text is an empty object."""
    try:
        value = parse(text if text.strip() else "{}")
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def dump(value: object, separators: Separators) -> str:
    """`value` is what `parse` gave, or a part of it."""
    if isinstance(value, Number):
        return value.text
    if isinstance(value, dict):
        pairs = (
            f"{json.dumps(key, ensure_ascii=False)}{separators.colon}{dump(item, separators)}"
            for key, item in value.items()
        )
        return f"{{{separators.comma.join(pairs)}}}"
    if isinstance(value, list):
        return f"[{separators.comma.join(dump(item, separators) for item in value)}]"
    return json.dumps(value, ensure_ascii=False)


def _check_depth(value: object, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise ValueError("nested too deeply")
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for item in items:
        _check_depth(item, depth + 1)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
