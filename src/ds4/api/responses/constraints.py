"""What a request of Responses demands: calls by `tool_choice` and its tools, a form by `text.format`."""

from collections.abc import Iterator, Mapping

from ds4.api.constraints import Pick, ToolChoice, constraint_of
from ds4.api.openai.forms import json_form
from ds4.api.responses.toolbox import Toolbox
from ds4.core.constraint import Constraint, Form, Signature
from ds4.core.errors import BadRequest

_FORMAT = "text.format"


def demanded(
    text: Mapping[str, object], choice: ToolChoice, tools: Toolbox, *, single: bool
) -> Constraint | None:
    """`text` is the field of that name. Raises BadRequest."""
    every = [named.signature for named in tools.all]
    return constraint_of(
        _form(text.get("format")), choice, every, single=single, find=lambda pick: _meant(pick, tools)
    )


def _meant(pick: Pick, tools: Toolbox) -> Iterator[Signature]:
    """The client's name for a tool, or the model's. Several namespaces may have a tool of that name."""
    for named in tools.all:
        of_client = named.ref.name == pick.name and pick.namespace in (None, named.ref.namespace)
        if of_client or named.tool.name == pick.name:
            yield named.signature


def _form(value: object) -> Form | None:
    if value is None:
        return None
    if not isinstance(value, dict):
        raise BadRequest(f"{_FORMAT} must be an object with a type", param=_FORMAT)
    return json_form(value, _FORMAT)
