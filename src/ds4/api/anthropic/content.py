"""The content blocks of an answer."""

import json
from collections.abc import Iterable
from typing import NoReturn

import orjson
import pydantic_core

from ds4.api.collect import Call, Stretch
from ds4.api.sealed import seal

Fields = dict[str, object]


def thinking_block(text: str = "", signature: str = "") -> Fields:
    return {"type": "thinking", "thinking": text, "signature": signature}


def text_block(text: str = "") -> Fields:
    return {"type": "text", "text": text, "citations": None}


def tool_block(call_id: str, name: str, arguments: object) -> Fields:
    return {
        "type": "tool_use",
        "id": call_id,
        "name": name,
        "input": arguments,
        "caller": {"type": "direct"},
    }


def content_of(parts: Iterable[Stretch | Call], *, shows_thinking: bool) -> list[Fields]:
    """A whole answer's blocks. It never ends in reasoning: there is always something said."""
    blocks = [_block(part, shows_thinking=shows_thinking) for part in parts]
    if not blocks or blocks[-1]["type"] == "thinking":
        blocks.append(text_block())
    return blocks


def _block(part: Stretch | Call, *, shows_thinking: bool) -> Fields:
    if isinstance(part, Call):
        return tool_block(part.id, part.name, _input("".join(part.arguments)))
    text = "".join(part.pieces)
    if part.is_reasoning:
        return thinking_block(text if shows_thinking else "", seal(text))
    return text_block(text)


def _input(arguments: str) -> object:
    """The JSON object as it stands. Of one that was cut, what a client of the stream would make of it."""
    try:
        whole = isinstance(json.loads(arguments, parse_constant=_refuse), dict)
    except (ValueError, RecursionError):
        whole = False
    return orjson.Fragment(arguments) if whole else _cut(arguments)


def _cut(arguments: str) -> object:
    try:
        value = pydantic_core.from_json(arguments, allow_partial="trailing-strings", allow_inf_nan=False)
    except ValueError:
        return {}
    return orjson.Fragment(json.dumps(value)) if isinstance(value, dict) else {}


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
