"""Three ways to ask for reasoning or against it, and one answer."""

from ds4.api.services import ModelCard
from ds4.core.errors import BadRequest
from ds4.core.messages import Thinking

NO_EFFORT = "none"
_TYPES = {"enabled": True, "disabled": False}


def thinking_of(*, thinking: object, think: object, effort: str | int | None, alias: bool | None) -> Thinking:
    """`alias` is what the model's name implies; only `thinking` and `think` outweigh it.

    Which efforts there are is the model family's affair. Raises BadRequest.
    """
    said = None if effort is None else str(effort)
    switches = [_switch(thinking, "thinking"), _switch(think, "think")]
    explicit = [switch for switch in switches if switch is not None]
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
