"""Calls in reasoning that was never closed. Models forget to close it, and an agent would wait for a call
that only stands in the thoughts.

Rules:
- Only a whole answer counts, and only calls of known tools that are whole and at its very end.
- The reasoning has been told by then, markup and all, streamed or not; the calls come after it.
"""

from ds4.core.events import Text, ToolStart
from ds4.formats.markup import TEXT, Content
from ds4.parsing.steps import step
from ds4.parsing.walk import SHOWN, Walk

TRIED = 16
"""So many openings are looked at, the last ones: thoughts may be full of them."""


def recover(walk: Walk) -> None:
    """At the end of an answer: reads the calls with which its open reasoning ends, if it does."""
    if walk.place.content is not Content.REASONING:
        return
    thoughts = "".join(walk.thoughts)
    for start in walk.openings(thoughts)[-TRIED:]:
        if _is_whole(walk.fresh(), thoughts[start:]):
            walk.remark(f"tool call in reasoning that was never closed, made: {thoughts[start:][:SHOWN]!r}")
            walk.go(TEXT)
            _read(walk, thoughts[start:])
            return


def _is_whole(walk: Walk, block: str) -> bool:
    _read(walk, block)
    calls = walk.calls
    texts = [event.text for event in calls.events if isinstance(event, Text)]
    names = {event.name for event in calls.events if isinstance(event, ToolStart)}
    rest = "".join([*texts, walk.held.text])
    return bool(names) and names <= walk.known and calls.ended == calls.started and not rest.strip()


def _read(walk: Walk, block: str) -> None:
    walk.held.add(Text(block))
    while not walk.stopped and step(walk):
        pass
