"""What a request demands of its answer, in no API's own words.

Rules:
- A demanded call outdoes a form: no text will come that could have it.
- Without a demand there is no constraint, and the model is left alone. One call at most is no demand: what
  reads the answer ends it.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import orjson

from ds4.core.constraint import Calls, Constraint, Form, Signature, Syntax
from ds4.core.errors import BadRequest


class Mode(StrEnum):
    AUTO = "auto"
    NONE = "none"
    REQUIRED = "required"


@dataclass(frozen=True, slots=True)
class Pick:
    """A tool that a choice names. `path` is where it does."""

    name: str
    path: str
    namespace: str | None = None


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """`only`: no other tools may be called; None: any may. `field` is where the choice stands."""

    mode: Mode = Mode.AUTO
    only: tuple[Pick, ...] | None = None
    field: str = "tool_choice"

    @property
    def hides(self) -> bool:
        """The model is not to see any tools."""
        return self.mode is Mode.NONE


Find = Callable[[Pick], Iterable[Signature]]
"""The tools that a choice means."""


def constraint_of(
    form: Form | None,
    choice: ToolChoice,
    tools: Sequence[Signature],
    *,
    single: bool = False,
    find: Find | None = None,
) -> Constraint | None:
    """`tools` are those the model can call; `find` looks among them, by their names unless it is given.

    Raises BadRequest for a choice of tools that are not there.
    """
    calls = _calls(choice, _unique(tools), find or _by_name(tools), single=single)
    if calls is None:
        return None if form is None else Constraint(form)
    if calls.required:
        return Constraint(calls=calls)
    if form is not None:
        return Constraint(form, calls)
    demands = choice.only is not None or any(tool.strict or tool.text is not None for tool in calls.tools)
    return Constraint(calls=calls) if demands else None


def schema_form(schema: object, path: str) -> Form:
    """Raises BadRequest."""
    if not isinstance(schema, dict):
        raise BadRequest(f"{path} must be an object", param=path)
    return Form(Syntax.JSON_SCHEMA, schema_text(schema), path)


def schema_text(schema: object) -> str:
    """Of a tool's arguments; empty where the caller gave none."""
    return "" if schema is None else orjson.dumps(schema).decode()


def _calls(choice: ToolChoice, tools: tuple[Signature, ...], find: Find, *, single: bool) -> Calls | None:
    if choice.mode is Mode.NONE:
        return None
    required = choice.mode is Mode.REQUIRED
    if choice.only is not None:
        tools = _unique([tool for pick in choice.only for tool in _found(pick, find)])
    if required and not tools:
        why = "demands a call, and there is no tool to call"
        raise BadRequest(f"{choice.field} {why}", param=choice.field)
    return Calls(tools, required=required, single=single) if tools else None


def _found(pick: Pick, find: Find) -> list[Signature]:
    found = list(find(pick))
    if not found:
        problem = f"{pick.path}: there is no tool {pick.name!r} that the model could call"
        raise BadRequest(problem, param=pick.path)
    return found


def _by_name(tools: Sequence[Signature]) -> Find:
    return lambda pick: [tool for tool in tools if tool.name == pick.name]


def _unique(tools: Iterable[Signature]) -> tuple[Signature, ...]:
    """A tool that is offered twice counts once, where it comes first."""
    first: dict[str, Signature] = {}
    for tool in tools:
        first.setdefault(tool.name, tool)
    return tuple(first.values())
