"""Tool definitions: wrapped in `function`, or flat."""

import orjson

from ds4.core.errors import BadRequest
from ds4.core.messages import Tool


def tools_of(value: object, choice: object, field: str = "tools") -> tuple[Tool, ...]:
    """The tools the model may see; none when the choice says so. `field` is where they stand. Raises
    BadRequest."""
    if value is None or _kind(choice) == "none":
        return ()
    if not isinstance(value, list):
        raise BadRequest(f"{field} must be an array", param=field)
    tools = [_tool(item, f"{field}.{number}") for number, item in enumerate(value)]
    return tuple(tool for tool in tools if tool is not None)


def _kind(choice: object) -> object:
    return choice.get("type") if isinstance(choice, dict) else choice


def _tool(item: object, path: str) -> Tool | None:
    """None for kinds of tools that are not functions: they are skipped, not refused."""
    if not isinstance(item, dict):
        raise BadRequest(f"{path} must be an object", param=path)
    if "function" in item:
        return _function(item["function"], f"{path}.function")
    if item.get("type", "function") == "function":
        return _function(item, path)
    return None


def _function(item: object, path: str) -> Tool:
    if not isinstance(item, dict):
        raise BadRequest(f"{path} must be an object", param=path)
    name = item.get("name")
    if not isinstance(name, str) or not name:
        raise BadRequest(f"{path}.name must be a string that is not empty", param=f"{path}.name")
    return Tool(name, orjson.dumps(item).decode())
