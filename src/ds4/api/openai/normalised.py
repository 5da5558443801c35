"""A chat body as it gets into the prompt (`ds4.api.normalise`). What is malformed is left to the parser."""

from collections.abc import Mapping

from ds4.api.body import JsonObject
from ds4.api.normalise import CACHE_CONTROL, IDS, UNKNOWN_ITEMS, AsSent, Normalised, names, without_marks

_TOOLS = ("tools", "functions")


def normalised(raw: JsonObject, as_sent: AsSent) -> Normalised:
    cleaned = {field: without_marks(raw.get(field), as_sent) for field in _TOOLS}
    changed = {field: tools for field, tools in cleaned.items() if tools is not raw.get(field)}
    found = raw.get("messages")
    messages = [m for m in found if isinstance(m, dict)] if isinstance(found, list) else []
    applied = (
        CACHE_CONTROL if changed and not _hides(raw) else None,
        IDS if any(map(_lacks_ids, messages)) else None,
        UNKNOWN_ITEMS if any(not _name(call) for message in messages for call in _calls(message)) else None,
    )
    return Normalised({**raw, **changed} if changed else raw, names(applied))


def _hides(raw: JsonObject) -> bool:
    """The model sees no tools at all."""
    return "none" in (raw.get("tool_choice"), raw.get("function_call"))


def _lacks_ids(message: Mapping[str, object]) -> bool:
    if message.get("role") in ("tool", "function"):
        return not message.get("tool_call_id")
    return bool(message.get("function_call")) or not all(call.get("id") for call in _calls(message))


def _calls(message: Mapping[str, object]) -> list[Mapping[str, object]]:
    found = message.get("tool_calls")
    return [call for call in found if isinstance(call, dict)] if isinstance(found, list) else []


def _name(call: Mapping[str, object]) -> object:
    tools = (call.get(kind) for kind in ("function", "custom"))
    return next((tool["name"] for tool in tools if isinstance(tool, dict) and tool.get("name")), None)
