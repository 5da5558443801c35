"""Where the tools stand in the beginning of a text that a template from outside has written.

The beginning is rendered again: with other tools, without any, and with other system text. What was changed
begins where such a render parts from the text: a true common prefix, as in `boundaries.py`.

Rules:
- A template may put tools behind the beginning (into a user turn), or refuse a render: then nothing is said.
- Blank space behind the system text belongs to it, also where it is there only with tools.
- Where the tools are text of ours in the first message (`toolless.py`), their place in it is known.
"""

from dataclasses import dataclass

from ds4.core.plan import BoundaryKind
from ds4.prompt.drafts import Draft, Drafter, TemplateMessages
from ds4.prompt.prefix import common_prefix
from ds4.prompt.rendered import Mark


@dataclass(frozen=True, slots=True)
class _Changes:
    """The places at which the text parts from a render with a change in the tools, without tools, and with a
    change in the system text. None where there is nothing to change."""

    tools: int
    without: int | None
    system: int | None


def find_tools(draft: Draft, system_end: Mark | None, drafter: Drafter) -> list[Mark]:
    """Three renders of the beginning at most; none without tools. `system_end` is the beginning's end."""
    if system_end is None or system_end.message is None or not (draft.values["tools"] or draft.definitions):
        return []
    end, lead = system_end.offset, system_end.message
    look = _Look(draft, drafter, end, lead)
    found = look.at_definitions() if draft.definitions else look.at_list()
    if found is None:
        return []
    first = found.system is not None and found.tools < found.system
    start = _start(draft.text, found, first=first)
    stop = found.system if first and found.system is not None else end
    message = 0 if first else lead
    return [Mark(start, BoundaryKind.TOOLS_START, message), Mark(stop, BoundaryKind.TOOLS_END, message)]


def _start(text: str, found: _Changes, *, first: bool) -> int:
    """What is written only with tools belongs to them, unless it stands before the system text."""
    least = 0 if first or found.system is None else found.system
    if found.without is None or not least <= found.without < found.tools:
        return found.tools
    between = text[found.without : found.tools]
    return found.without + len(between) - len(between.lstrip())


@dataclass(frozen=True, slots=True)
class _Look:
    """Renders of the first `lead` messages, which end at `end` in the text."""

    draft: Draft
    drafter: Drafter
    end: int
    lead: int

    def at_list(self) -> _Changes | None:
        head, content = self._head(), str(self.draft.messages[0]["content"])
        tools = self._parts(head, _renamed(self.draft.values["tools"], self.draft.guard.sentinel))
        speaks = self.lead > 0 and content.strip() != ""
        system = self._cut(content, 0) if speaks else None
        if tools is None or (speaks and system is None):
            return None
        return _Changes(tools, self._parts(head, None), system)

    def at_definitions(self) -> _Changes | None:
        """They are a known part of the first message."""
        content, definitions = str(self.draft.messages[0]["content"]), self.draft.definitions
        at = self.draft.guard.restore(content).find(definitions)
        tools = self._cut(content, at) if at >= 0 else None
        if tools is None:
            return None
        behind = at + len(definitions)
        speaks = content[:at].strip() != "" or content[behind:].strip() != ""
        system = self._cut(content, 0 if at else behind) if speaks else None
        return None if speaks and system is None else _Changes(tools, None, system)

    def _cut(self, content: str, at: int) -> int | None:
        """Where an unused character at this place of the first message shows."""
        first, *others = self._head()
        changed = f"{content[:at]}{self.draft.guard.sentinel}{content[at:]}"
        return self._parts([first | {"content": changed}, *others], self.draft.values["tools"])

    def _head(self) -> TemplateMessages:
        return [*self.draft.messages[: self.lead], {"role": "user", "content": self.draft.guard.sentinel}]

    def _parts(self, messages: TemplateMessages, tools: object) -> int | None:
        other = self.drafter.again(self.draft, messages, tools=tools)
        at = self.end if other is None else common_prefix(self.draft.text, other)
        return at if at < self.end else None


def _renamed(tools: object, sentinel: str) -> object:
    """With another first key and another name in the first tool: templates write one or the other."""
    match tools:
        case [{"function": dict(function), **wrapper}, *others]:
            renamed = {sentinel: "", **function, "name": f"{sentinel}{function.get('name', '')}"}
            return [{**wrapper, "function": renamed}, *others]
        case _:
            return tools
