"""Input items -> messages: one reader for each kind of item.

Ids and statuses mean nothing here; clients drop and rewrite them. Kinds nobody here knows are skipped.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import orjson

from ds4.api.body import JsonObject
from ds4.api.responses.content import message_text, output_text
from ds4.api.responses.toolbox import Toolbox
from ds4.api.responses.tools import SEARCH
from ds4.api.responses.turns import Turns, content_of
from ds4.api.sealed import Seals
from ds4.core.constraint import INPUT
from ds4.core.errors import BadRequest
from ds4.core.messages import Message, Role, TextPart, Tool

SUMMARY_HEAD = "Summary of the conversation so far, which it replaces:\n\n"
NOTHING_FOUND = "No tools were found."
_ROLES = {role.value: role for role in (Role.USER, Role.ASSISTANT, Role.SYSTEM, Role.DEVELOPER)}
_OWN_TOOLS = {"local_shell_call": "action", "shell_call": "action", "apply_patch_call": "operation"}
"""Calls of tools that some clients run themselves, and the field that holds the arguments."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """An item and where it stands. `brings` are the tools it makes known, `seals` opens its text."""

    item: JsonObject
    path: str
    tools: Toolbox
    brings: tuple[Tool, ...]
    seals: Seals

    @property
    def kind(self) -> str:
        return kind_of(self.item)

    @property
    def call_id(self) -> str | None:
        return call_id_of(self.item)

    def unsealed(self) -> str | None:
        sealed = self.item.get("encrypted_content")
        return self.seals.open(sealed) if isinstance(sealed, str) else None


def messages_of(items: Sequence[JsonObject], tools: Toolbox, seals: Seals) -> tuple[Message, ...]:
    """`seals` are those of the request. Raises BadRequest."""
    turns = Turns()
    for number, item in enumerate(items):
        read = _READERS.get(kind_of(item))
        if read is not None:
            brings = tuple(named.tool for named in tools.late.get(number, ()))
            read(turns, _Entry(item, f"input.{number}", tools, brings, seals))
    return turns.messages()


def kind_of(item: JsonObject) -> str:
    """Messages and references may come without a type."""
    kind = item.get("type")
    if isinstance(kind, str) and kind:
        return kind
    return "item_reference" if "id" in item and "role" not in item else "message"


def call_id_of(item: JsonObject) -> str | None:
    """The ids of local shell calls' outputs stand in `id`."""
    own = item.get("id") if kind_of(item) == "local_shell_call_output" else None
    found = (value for value in (item.get("call_id"), own) if isinstance(value, str) and value)
    return next(found, None)


def is_known(item: JsonObject) -> bool:
    """Whether it has a place in a prompt."""
    return kind_of(item) in _READERS


def is_call(item: JsonObject) -> bool:
    """Whether it is a call or its output."""
    return _READERS.get(kind_of(item)) in _CALLING


def _message(turns: Turns, entry: _Entry) -> None:
    name = entry.item.get("role", "user")
    role = _ROLES.get(name) if isinstance(name, str) else None
    if role is None:
        raise BadRequest(f"{entry.path}.role must be one of {', '.join(_ROLES)}", param=f"{entry.path}.role")
    where = f"{entry.path}.content"
    texts = message_text(entry.item.get("content"), where, images=role is not Role.USER)
    if role is Role.ASSISTANT:
        turns.answer("".join(texts))
    else:
        turns.say(Message(role, tuple(map(TextPart, texts))))


def _reasoning(turns: Turns, entry: _Entry) -> None:
    """The text itself where it came from here, else what the client was shown of it."""
    text = entry.unsealed()
    if text is None:
        shown = entry.item.get("content") or entry.item.get("summary")
        text = "".join(message_text(shown, entry.path, images=True))
    turns.think(text)


def _function_call(turns: Turns, entry: _Entry) -> None:
    given = entry.item.get("arguments")
    turns.call(entry.call_id, _spoken(entry), given if isinstance(given, str) else _json(given or {}))


def _custom_call(turns: Turns, entry: _Entry) -> None:
    given = output_text(entry.item.get("input"), f"{entry.path}.input")
    turns.call(entry.call_id, _spoken(entry), _json({INPUT: given}))


def _search_call(turns: Turns, entry: _Entry) -> None:
    name = entry.tools.spoken(SEARCH, None)
    turns.call(entry.call_id, name, _json(entry.item.get("arguments") or {}))


def _own_call(turns: Turns, entry: _Entry) -> None:
    arguments = entry.item.get(_OWN_TOOLS[entry.kind]) or {}
    turns.call(entry.call_id, entry.kind.removesuffix("_call"), _json(arguments))


def _output(turns: Turns, entry: _Entry) -> None:
    given = entry.item.get("output")
    said = entry.item.get("status") if given is None else given
    turns.result(entry.call_id, output_text(said, f"{entry.path}.output"), entry.path)


def _search_output(turns: Turns, entry: _Entry) -> None:
    """A search that found nothing, or only what is known already, still has its answer."""
    found = entry.item.get("tools")
    names = [tool.get("name") for tool in found if isinstance(tool, dict)] if isinstance(found, list) else []
    text = f"Found: {', '.join(map(str, names))}" if names else NOTHING_FOUND
    turns.result(entry.call_id, "" if entry.brings else text, entry.path, entry.brings)


def _more_tools(turns: Turns, entry: _Entry) -> None:
    if entry.brings:
        turns.say(Message(Role.DEVELOPER, tools=entry.brings))


def _compaction(turns: Turns, entry: _Entry) -> None:
    text = entry.unsealed()
    if text is not None:
        turns.say(Message(Role.USER, content_of(SUMMARY_HEAD + text)))


def _spoken(entry: _Entry) -> str:
    name, namespace = entry.item.get("name"), entry.item.get("namespace")
    if not isinstance(name, str) or not name:
        path = f"{entry.path}.name"
        raise BadRequest(f"{path} must be a string that is not empty", param=path)
    return entry.tools.spoken(name, namespace if isinstance(namespace, str) else None)


def _json(value: object) -> str:
    return orjson.dumps(value).decode()


_READERS: Mapping[str, Callable[[Turns, _Entry], None]] = MappingProxyType(
    {
        "message": _message,
        "reasoning": _reasoning,
        "function_call": _function_call,
        "function_call_output": _output,
        "custom_tool_call": _custom_call,
        "custom_tool_call_output": _output,
        "tool_search_call": _search_call,
        "tool_search_output": _search_output,
        "additional_tools": _more_tools,
        "compaction": _compaction,
        "compaction_summary": _compaction,
        **dict.fromkeys(_OWN_TOOLS, _own_call),
        **dict.fromkeys((f"{kind}_output" for kind in _OWN_TOOLS), _output),
    }
)
_CALLING = (_function_call, _custom_call, _search_call, _own_call, _output, _search_output)
