"""What a request says about reasoning -> what the model is told, as a table per family.

Clients name an effort (`NAMES`); some models take a number instead. What a name means to a model is
the family's table: a word or a number for its prompt. `none` and a disabled switch both turn
reasoning off, and off wins over any effort.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from ds4.core.errors import BadRequest
from ds4.core.messages import Thinking

NONE = "none"
NAMES = (NONE, "minimal", "low", "medium", "high", "xhigh", "max")
THINK_MAX_CTX = 393216
"""DeepSeek's strongest effort writes too much for a smaller context."""

Effort = str | int


@dataclass(frozen=True, slots=True, eq=False)
class Efforts:
    """`meanings`: what each name is to the model; a name without one is passed on as it is.

    `default` stands for no effort at all, `off` is what the model is told when reasoning is off.
    `numbers` are the efforts it takes as numbers. `needs_ctx`: names that count only with a context
    of at least so many rows, and what they count as in a smaller one.
    """

    meanings: Mapping[str, Effort] = field(default_factory=lambda: MappingProxyType({}))
    default: Effort | None = None
    off: Effort | None = None
    numbers: range = range(0)
    needs_ctx: Mapping[str, tuple[int, Effort]] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class Mode:
    """`enabled` None: the caller did not say. `effort` None: nothing to tell the model."""

    enabled: bool | None
    effort: Effort | None


NAMED = Efforts()
"""Names as they are: the template knows them or ignores them."""
DEEPSEEK_V4 = Efforts(
    meanings=dict.fromkeys(("minimal", "low", "medium", "high", "xhigh"), "high") | {"max": "max"},
    needs_ctx={"max": (THINK_MAX_CTX, "high")},
)
DEEPSEEK_V41 = Efforts(
    meanings={"minimal": 50, "low": 50, "medium": 75, "high": 75, "xhigh": 75, "max": 100},
    default=75,
    numbers=range(1, 101),
)
HARMONY = Efforts(meanings={"minimal": "low", "xhigh": "high", "max": "high"}, off="low")
"""gpt-oss knows three levels and cannot be told to stop reasoning."""


def mode(thinking: Thinking, efforts: Efforts, n_ctx: int) -> Mode:
    """Raises BadRequest on an effort that has no meaning."""
    asked = thinking.effort
    effort = None if asked is None else _meaning(asked, efforts, n_ctx)
    if thinking.enabled is False or asked == NONE:
        return Mode(False, efforts.off)
    return Mode(thinking.enabled, effort)


def _meaning(asked: str, efforts: Efforts, n_ctx: int) -> Effort:
    if re.fullmatch("[1-9][0-9]{0,2}", asked) and int(asked) in efforts.numbers:
        return int(asked)
    if asked not in NAMES:
        known = ", ".join(NAMES)
        if efforts.numbers:
            known += f" or a number from {efforts.numbers[0]} to {efforts.numbers[-1]}"
        raise BadRequest(f"reasoning_effort must be one of {known}", param="reasoning_effort")
    needed, instead = efforts.needs_ctx.get(asked, (0, asked))
    return instead if n_ctx < needed else efforts.meanings.get(asked, asked)
