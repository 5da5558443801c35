"""Fields that change the answer and are not implemented: refused by name.

`strict` on a tool is not among them, though nothing enforces it here: frameworks set it on every tool
they have, and could do nothing without.
"""

from collections.abc import Mapping

from ds4.api.openai.refused import Test
from ds4.core.errors import BadRequest, Unsupported


def _true(value: object) -> bool:
    return value is True


def _asked(value: object) -> bool:
    return bool(value)


def _several(value: object) -> bool:
    return value != 1


RESPONSES: Mapping[str, Test] = {
    "background": _true,
    "conversation": _asked,
    "prompt": _asked,
    "n": _several,
}


def refuse_format(text: object) -> None:
    """Raises Unsupported when the answer is to have a form. `text` is the field of that name."""
    form = text.get("format") if isinstance(text, dict) else None
    if form is None:
        return
    kind = form.get("type", "text") if isinstance(form, dict) else form
    if kind != "text":
        raise Unsupported("text.format", f"of type {kind} is not supported by this server")


def allowed_names(choice: object) -> frozenset[str] | None:
    """The names of the tools that may be called, None for all of them. Raises Unsupported on a choice that
    demands a call."""
    kind = choice.get("type") if isinstance(choice, dict) else choice
    if kind in (None, "auto"):
        return None
    if kind == "none":
        return frozenset()
    if isinstance(choice, dict) and kind == "allowed_tools" and choice.get("mode", "auto") == "auto":
        return _names(choice.get("tools"))
    raise Unsupported(
        "tool_choice", "other than auto, none and allowed_tools is not supported by this server"
    )


def _names(tools: object) -> frozenset[str]:
    if not isinstance(tools, list) or not all(isinstance(tool, dict) for tool in tools):
        raise BadRequest("tool_choice.tools must be an array of objects", param="tool_choice.tools")
    return frozenset(str(tool.get("name")) for tool in tools)
