"""What a request of Messages demands: calls by `tool_choice` and strict tools, a form by a format."""

from collections.abc import Mapping, Sequence

from ds4.api.anthropic.bodies import MessagesBody
from ds4.api.anthropic.tools import Choice
from ds4.api.constraints import Mode, Pick, ToolChoice, constraint_of, schema_form
from ds4.core.constraint import Constraint, Form, Signature
from ds4.core.errors import BadRequest, Unsupported

_MODES: Mapping[str, Mode] = {
    "auto": Mode.AUTO,
    "none": Mode.NONE,
    "any": Mode.REQUIRED,
    "tool": Mode.REQUIRED,
}


def demanded(body: MessagesBody, choice: Choice, tools: Sequence[Signature]) -> Constraint | None:
    """`tools` are those the model can call. Raises BadRequest."""
    return constraint_of(_form(body), _choice(choice), tools, single=choice.one_call)


def _choice(choice: Choice) -> ToolChoice:
    mode = _MODES.get(choice.kind)
    if mode is None:
        raise Unsupported("tool_choice", f"of type {choice.kind} is not supported by this server")
    if choice.kind != "tool":
        return ToolChoice(mode)
    path = "tool_choice.name"
    if not choice.name:
        raise BadRequest(f"{path} must be a string that is not empty", param=path)
    return ToolChoice(mode, (Pick(choice.name, path),))


def _form(body: MessagesBody) -> Form | None:
    given = {"output_config.format": body.output_config.format, "output_format": body.output_format}
    asked = [(path, value) for path, value in given.items() if value is not None]
    if len(asked) > 1:
        problem = f"{' and '.join(given)} cannot stand together: an answer has one form"
        raise BadRequest(problem, param=asked[1][0])
    for path, value in asked:
        return _schema(value, path)
    return None


def _schema(value: object, path: str) -> Form:
    if not isinstance(value, dict):
        raise BadRequest(f"{path} must be an object with a type", param=path)
    kind = value.get("type")
    if kind != "json_schema":
        raise Unsupported(path, f"of type {kind} is not supported by this server")
    return schema_form(value.get("schema"), f"{path}.schema")
