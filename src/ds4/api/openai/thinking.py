"""Five ways to ask for reasoning or against it, and one answer."""

from collections.abc import Mapping
from types import MappingProxyType

from ds4.api.services import ModelCard
from ds4.core.errors import BadRequest
from ds4.core.messages import Thinking

NO_EFFORT = "none"
_TYPES = {"enabled": True, "disabled": False}


def thinking_of(
    *,
    thinking: object,
    think: object,
    effort: object,
    alias: bool | None,
    enable: bool | None = None,
    reasoning: Mapping[str, object] = MappingProxyType({}),
) -> Thinking:
    """`alias` is what the model's name implies; an effort does not outweigh it, the others do.

    Which efforts there are is the model family's affair. Raises BadRequest.
    """
    effort = reasoning.get("effort") if effort is None else effort
    said = str(effort) if isinstance(effort, str | int) else None
    switch = reasoning.get("enabled")
    switches = [_switch(thinking, "thinking"), _switch(think, "think"), enable]
    explicit = [each for each in (*switches, switch) if isinstance(each, bool)]
    enabled = all(explicit) if explicit else alias
    return Thinking(enabled=False if said == NO_EFFORT else enabled, effort=said)


def _switch(value: object, path: str) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    if not isinstance(value, dict):
        raise BadRequest(f"{path} must be true, false or an object with a type", param=path)
    kind = value.get("type")
    # A kind nobody here knows asks for nothing.
    return _TYPES.get(kind) if isinstance(kind, str) else None


def alias_thinking(card: ModelCard, model: str) -> bool | None:
    return card.alias(model).thinking
