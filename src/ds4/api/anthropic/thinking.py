"""Whether to reason, how much, and whether to show it."""

from dataclasses import dataclass

from ds4.api.anthropic.bodies import CountBody
from ds4.api.services import ModelCard
from ds4.core.errors import BadRequest
from ds4.core.messages import Thinking

_TYPES = {"enabled": True, "adaptive": True, "between_tools": True, "disabled": False}
_NO_EFFORT = "none"


@dataclass(frozen=True, slots=True)
class Thoughts:
    """`shown`: the caller wants the reasoning's text, not only its signature."""

    asked: Thinking
    shown: bool = True


def thoughts_of(body: CountBody, card: ModelCard) -> Thoughts:
    """A model's name may imply whether to think; `thinking` outweighs it. Budgets mean nothing here.

    Which efforts there are is the model family's affair. Raises BadRequest.
    """
    effort = body.output_config.effort or body.reasoning_effort
    enabled = _switch(body.thinking)
    if enabled is None:
        enabled = card.alias(body.model).thinking
    asked = Thinking(enabled=False if effort == _NO_EFFORT else enabled, effort=effort)
    hidden = isinstance(body.thinking, dict) and body.thinking.get("display") == "omitted"
    return Thoughts(asked, shown=not hidden)


def _switch(value: object) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    if not isinstance(value, dict):
        raise BadRequest("thinking must be an object with a type", param="thinking")
    kind = value.get("type")
    # A kind nobody here knows asks for nothing.
    return _TYPES.get(kind) if isinstance(kind, str) else None
