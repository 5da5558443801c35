"""`tool_choice` as Chat and Responses word it, nested or flat."""

from collections.abc import Mapping

from ds4.api.body import JsonObject
from ds4.api.constraints import Mode, Pick, ToolChoice
from ds4.core.errors import BadRequest, Unsupported

FIELD = "tool_choice"
_MODES: Mapping[object, Mode] = {mode.value: mode for mode in Mode}
_NAMED = ("function", "custom")
"""Kinds of tools that can be called here, and where chat has their names."""


def choice_of(value: object) -> ToolChoice:
    """Raises BadRequest."""
    kind = _kind(value) if isinstance(value, dict) else value
    if value is None:
        return ToolChoice()
    if isinstance(kind, str) and kind in _MODES:
        return ToolChoice(_MODES[kind])
    if not isinstance(value, dict):
        problem = f"{FIELD} must be one of {', '.join(map(str, _MODES))}, or an object that names a tool"
        raise BadRequest(problem, param=FIELD)
    if kind in _NAMED:
        return ToolChoice(Mode.REQUIRED, (_pick(value, FIELD),))
    if kind == "allowed_tools":
        return _allowed(value)
    raise Unsupported(FIELD, f"of type {kind} is not supported by this server")


def function_choice(value: object) -> ToolChoice:
    """`function_call`, from before tools. Raises BadRequest."""
    field = "function_call"
    if value is None:
        return ToolChoice(field=field)
    if isinstance(value, dict):
        return ToolChoice(Mode.REQUIRED, (_named(value, field),), field)
    if isinstance(value, str) and value in (Mode.AUTO, Mode.NONE):
        return ToolChoice(Mode(value), field=field)
    raise BadRequest(f"{field} must be auto, none or an object with a name", param=field)


def _allowed(value: JsonObject) -> ToolChoice:
    """Tools of kinds that nobody here offers may stand in the list: they were left out before."""
    given, path = _inside(value, "allowed_tools", FIELD)
    mode, tools = given.get("mode") or Mode.AUTO.value, given.get("tools")
    if mode not in (Mode.AUTO, Mode.REQUIRED):
        raise BadRequest(f"{path}.mode must be auto or required", param=f"{path}.mode")
    if not isinstance(tools, list) or not all(isinstance(tool, dict) for tool in tools):
        raise BadRequest(f"{path}.tools must be an array of objects", param=f"{path}.tools")
    only = tuple(
        _pick(tool, f"{path}.tools.{number}") for number, tool in enumerate(tools) if _kind(tool) in _NAMED
    )
    if not only and mode == Mode.AUTO:
        return ToolChoice(Mode.NONE)
    return ToolChoice(Mode(str(mode)), only)


def _kind(value: JsonObject) -> object:
    return value.get("type") or "function"


def _pick(value: JsonObject, path: str) -> Pick:
    return _named(*_inside(value, str(_kind(value)), path))


def _inside(value: JsonObject, name: str, path: str) -> tuple[JsonObject, str]:
    """What chat nests, and Responses does not; with its path."""
    nested = value.get(name)
    return (nested, f"{path}.{name}") if isinstance(nested, dict) else (value, path)


def _named(value: JsonObject, path: str) -> Pick:
    name, namespace = value.get("name"), value.get("namespace")
    if not isinstance(name, str) or not name:
        raise BadRequest(f"{path}.name must be a string that is not empty", param=f"{path}.name")
    return Pick(name, f"{path}.name", namespace if isinstance(namespace, str) else None)
