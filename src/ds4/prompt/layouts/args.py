"""The caller's template arguments that layouts know. Others mean nothing here, as in a template."""

from collections.abc import Mapping
from dataclasses import dataclass

import orjson

from ds4.core.errors import BadRequest
from ds4.core.messages import Conversation, Thinking


@dataclass(frozen=True, slots=True)
class Args:
    """`generates`: the prompt is to end where an answer begins."""

    thinking: Thinking
    generates: bool


def args_of(conversation: Conversation) -> Args:
    """Template arguments win over what the request's own fields say. Raises BadRequest."""
    values = {name: _value(name, text) for name, text in conversation.template_args}
    asked, effort = conversation.thinking, values.get("reasoning_effort")
    enabled = _switch(values, "enable_thinking", asked.enabled)
    thinking = Thinking(
        enabled=_switch(values, "thinking", enabled),
        effort=asked.effort if effort is None else str(effort),
    )
    return Args(thinking, generates=_switch(values, "add_generation_prompt", None) is not False)


def _value(name: str, text: str) -> object:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise BadRequest(f"{name} is not valid JSON: {error}", param="chat_template_kwargs") from error


def _switch(values: Mapping[str, object], name: str, otherwise: bool | None) -> bool | None:
    value = values.get(name)
    if value is None:
        return otherwise
    if not isinstance(value, bool):
        raise BadRequest(f"{name} must be true or false", param="chat_template_kwargs")
    return value
