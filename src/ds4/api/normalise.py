"""What a client sends otherwise than it gets into the prompt: all of it, as one table. Pure.

Rules:
- A row's name is in a request's report where something of this client's was left out or made up, and it would
  otherwise be in the prompt. What is merely another way to write the same prompt is not reported.
- A row has a switch where the other choice gives a prompt, too. With it the prompt is as sent.
- Nothing else is made equal. A tool list in another order, or a schema with other keys in front, is another
  prompt: the report says `tools_changed`.
"""

import operator
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from ds4.core.messages import Message, Role

AsSent = frozenset[str]
"""Names of the rows that are switched off."""
ALL_NORMALISED: AsSent = frozenset()
MARK = "cache_control"


@dataclass(frozen=True, slots=True)
class Normalisation:
    """`apis` are those it is for. `reported` says when its name is in the report, empty for never.

    `unswitched` says why it has no switch, empty where it has one.
    """

    name: str
    does: str
    apis: tuple[str, ...]
    reported: str = ""
    unswitched: str = ""


@dataclass(frozen=True, slots=True)
class Normalised:
    """A request's body without what is left out of it, and the `names` of what was."""

    body: dict[str, object]
    names: tuple[str, ...]


_EVERY = ("Chat", "Responses", "Messages")
BILLING_HEADER = Normalisation(
    "billing_header",
    "Claude Code's `x-anthropic-billing-header:` line at the head of a system block is left out. It differs "
    "between requests of one session, and nothing behind it could be reused",
    ("Messages",),
    reported="there was one",
)
CACHE_CONTROL = Normalisation(
    "cache_control",
    "marks of what to cache are left out of tool definitions; clients move them from turn to turn. Elsewhere "
    "they never reach the prompt",
    ("Chat", "Responses"),
    reported="a tool had one",
)
CONTENT_FORMS = Normalisation(
    "content_forms",
    "a text as a string, as one block or part, or as several, and `null` for none, are the same text",
    _EVERY,
    unswitched="templates take text: both forms are the same tokens",
)
IDS = Normalisation(
    "ids",
    "ids and statuses of messages and items are left out. The id of a call leads its result to it; where one "
    "is missing, the order does",
    _EVERY,
    reported="a call or a result came without one",
    unswitched="prompts have no place for the first, and without the second a result would answer nothing",
)
UNKNOWN_ITEMS = Normalisation(
    "unknown_items",
    "calls without a name, calls of tools that ran at a vendor's, and kinds of items that nobody here knows "
    "are left out of the history",
    _EVERY,
    reported="one was left out",
    unswitched="nothing could be written for them",
)
NORMALISATIONS = (BILLING_HEADER, CACHE_CONTROL, CONTENT_FORMS, IDS, UNKNOWN_ITEMS)
SWITCHES = tuple(row.name for row in NORMALISATIONS if not row.unswitched)


def names(applied: Collection[Normalisation | None]) -> tuple[str, ...]:
    """Of the rows that were applied, in the order of the table."""
    return tuple(row.name for row in NORMALISATIONS if row in applied)


def without_marks(tools: object, as_sent: AsSent = ALL_NORMALISED) -> object:
    """A list of tool definitions without marks; the same object where nothing is left out."""
    return tools if CACHE_CONTROL.name in as_sent else _unmarked(tools)


def lacks_ids(messages: Iterable[Message]) -> bool:
    """Whether a call or a result is without an id."""
    return any(
        not message.tool_call_id if message.role is Role.TOOL else not all(c.id for c in message.tool_calls)
        for message in messages
    )


def _unmarked(tools: object) -> object:
    if not isinstance(tools, list):
        return tools
    cleaned = [_cleaned(tool) for tool in tools]
    return tools if all(map(operator.is_, cleaned, tools)) else cleaned


def _cleaned(tool: object) -> object:
    """Of a wrapper, only the function gets into the prompt."""
    if not isinstance(tool, dict):
        return tool
    inner = tool.get("function")
    if isinstance(inner, dict):
        return {**tool, "function": _bare(inner)} if MARK in inner else tool
    kind = tool.get("type", "function")
    if kind == "namespace":
        tools = _unmarked(tool.get("tools"))
        return tool if tools is tool.get("tools") else {**tool, "tools": tools}
    return _bare(tool) if kind == "function" and MARK in tool else tool


def _bare(function: dict[str, object]) -> dict[str, object]:
    return {key: value for key, value in function.items() if key != MARK}
