"""Tool definitions of chat: functions, wrapped in `function` or flat, and custom tools."""

from dataclasses import dataclass

import orjson

from ds4.api.constraints import schema_text
from ds4.api.custom_tools import function_of, grammar_of
from ds4.core.constraint import Signature
from ds4.core.errors import BadRequest
from ds4.core.messages import Tool


@dataclass(frozen=True, slots=True)
class Offer:
    """`is_custom`: the caller knows it as a tool that takes raw text."""

    tool: Tool
    signature: Signature
    is_custom: bool = False


def offers_of(value: object, field: str = "tools") -> tuple[Offer, ...]:
    """`field` is where they stand. Raises BadRequest."""
    if value is None:
        return ()
    if not isinstance(value, list):
        raise BadRequest(f"{field} must be an array", param=field)
    offers = [_offer(item, f"{field}.{number}") for number, item in enumerate(value)]
    return tuple(offer for offer in offers if offer is not None)


def _offer(item: object, path: str) -> Offer | None:
    """None for kinds of tools that nobody here can call: they are skipped, not refused."""
    if not isinstance(item, dict):
        raise BadRequest(f"{path} must be an object", param=path)
    if item.get("function") is not None:
        return _function(item["function"], f"{path}.function")
    match item.get("type") or "function":
        case "function":
            return _function(item, path)
        case "custom" if item.get("custom") is not None:
            return _custom(item["custom"], f"{path}.custom")
        case "custom":
            return _custom(item, path)
        case _:
            return None


def _function(item: object, path: str) -> Offer:
    given, name = _named(item, path)
    signature = Signature(
        name,
        schema_text(given.get("parameters")),
        strict=given.get("strict") is True,
        path=f"{path}.parameters",
    )
    return Offer(Tool(name, orjson.dumps(given).decode()), signature)


def _custom(item: object, path: str) -> Offer:
    given, name = _named(item, path)
    text = grammar_of(given.get("format"), f"{path}.format")
    function = function_of(given, text)
    signature = Signature(name, schema_text(function["parameters"]), path=path, text=text)
    return Offer(Tool(name, orjson.dumps({"name": name, **function}).decode()), signature, is_custom=True)


def _named(item: object, path: str) -> tuple[dict[str, object], str]:
    if not isinstance(item, dict):
        raise BadRequest(f"{path} must be an object", param=path)
    name = item.get("name")
    if not isinstance(name, str) or not name:
        raise BadRequest(f"{path}.name must be a string that is not empty", param=f"{path}.name")
    return item, name
