"""Where in the rendered text a checkpoint is worth having.

Two renders that differ only in what comes after a place agree up to it. So the conversation is rendered
again, cut off at the place and ended by a user turn of one unused character: the common prefix with the
full text ends where that turn's content begins. Whatever a template does with earlier messages, the
result is a true common prefix; at worst it is shorter than it could be.
"""

from collections.abc import Callable

from ds4.core.plan import BoundaryKind
from ds4.prompt.folding import SYSTEM_ROLES
from ds4.prompt.prefix import common_prefix
from ds4.prompt.rendered import Mark

Render = Callable[[list[dict[str, object]]], str | None]
"""Template messages -> text, or None when the template does not take them."""


def find_marks(
    text: str, messages: list[dict[str, object]], has_tools: bool, sentinel: str, render: Render
) -> list[Mark]:
    """At most two extra renders, whatever the length of the conversation."""
    lead = next((i for i, m in enumerate(messages) if m["role"] not in SYSTEM_ROLES), len(messages))
    last = max((i for i, m in enumerate(messages) if m["role"] == "user"), default=None)
    wanted = [(BoundaryKind.SYSTEM_END, lead)] if lead or has_tools else []
    if last is not None:
        wanted.append((BoundaryKind.LAST_USER_START, last))
    offsets = {
        place: _offset(text, messages, place, sentinel, render) for place in {place for _, place in wanted}
    }
    return [Mark(offsets[place], kind, place) for kind, place in wanted if offsets[place]]


def _offset(text: str, messages: list[dict[str, object]], place: int, sentinel: str, render: Render) -> int:
    other = render([*messages[:place], {"role": "user", "content": sentinel}])
    return common_prefix(text, other) if other is not None else 0
