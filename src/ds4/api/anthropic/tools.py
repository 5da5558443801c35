"""Tools: what the model sees at once, and what only when a `tool_reference` names it.

Anthropic's own kinds of tools (web search and the like) come without a schema, because their service or
their models know them. Ours do not: they are skipped.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import orjson

from ds4.api.constraints import schema_text
from ds4.core.constraint import Signature
from ds4.core.errors import BadRequest
from ds4.core.messages import Tool


@dataclass(frozen=True, slots=True)
class Toolbox:
    """`signatures` are those of all, by name."""

    offered: tuple[Tool, ...] = ()
    deferred: Mapping[str, Tool] = field(default_factory=dict)
    signatures: Mapping[str, Signature] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Choice:
    """`kind` is auto, none, any or tool, which has a `name`. `one_call`: at most one in an answer."""

    kind: str = "auto"
    one_call: bool = False
    name: str = ""


def choice_of(value: object) -> Choice:
    """Raises BadRequest."""
    if value is None:
        return Choice()
    kind = value.get("type") if isinstance(value, dict) else value
    if not isinstance(kind, str):
        raise BadRequest("tool_choice must be an object with a type", param="tool_choice")
    given = value if isinstance(value, dict) else {}
    name = given.get("name")
    return Choice(kind, given.get("disable_parallel_tool_use") is True, name if isinstance(name, str) else "")


def toolbox(value: object, choice: Choice) -> Toolbox:
    """Raises BadRequest."""
    if value is None or choice.kind == "none":
        return Toolbox()
    if not isinstance(value, list):
        raise BadRequest("tools must be an array", param="tools")
    offered: list[Tool] = []
    deferred: dict[str, Tool] = {}
    signatures: dict[str, Signature] = {}
    for number, item in enumerate(value):
        path = f"tools.{number}"
        if not isinstance(item, dict):
            raise BadRequest(f"{path} must be an object", param=path)
        if item.get("type") not in (None, "custom"):
            continue
        tool = _tool(item, path)
        signatures.setdefault(tool.name, _signature(tool.name, item, path))
        if item.get("defer_loading") is True:
            deferred[tool.name] = tool
        else:
            offered.append(tool)
    return Toolbox(tuple(offered), deferred, signatures)


def _tool(item: Mapping[str, object], path: str) -> Tool:
    name = item.get("name")
    if not isinstance(name, str) or not name:
        raise BadRequest(f"{path}.name must be a string that is not empty", param=f"{path}.name")
    schema = item.get("input_schema")
    if schema is not None and not isinstance(schema, dict):
        raise BadRequest(f"{path}.input_schema must be an object", param=f"{path}.input_schema")
    # The same object that other APIs make of the same tool, so that it becomes the same tokens.
    function = {"name": name, "description": item.get("description"), "parameters": schema}
    given = {key: part for key, part in function.items() if part is not None}
    return Tool(name, orjson.dumps(given).decode())


def _signature(name: str, item: Mapping[str, object], path: str) -> Signature:
    schema = schema_text(item.get("input_schema"))
    return Signature(name, schema, strict=item.get("strict") is True, path=f"{path}.input_schema")
