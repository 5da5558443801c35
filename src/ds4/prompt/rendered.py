"""What every way of rendering gives: a text, which of it is ours, and where its parts begin.

Rules of this file:
- `guarded` is as long as `text`, and equal to it where the template or the layout wrote. Client characters
  that could take part in a control spelling are exchanged in it, so whatever spells one was written by us.
- This is the only way to a control token: `segments.py` looks for spellings in `guarded` and encodes `text`.
"""

import re
from dataclasses import dataclass
from typing import Protocol

from ds4.core.messages import Conversation
from ds4.core.plan import BoundaryKind

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Mark:
    """A boundary by characters; `message` is the index of the client's message that begins there."""

    offset: int
    kind: BoundaryKind
    message: int | None


@dataclass(frozen=True, slots=True)
class Span:
    """Where an answer of the history stands, by characters.

    It is `messages` of the assistant that follow one another. It lies between `after` and `until`; `start`
    and `end` are exact where they are known.
    """

    messages: int
    until: int
    start: int | None = None
    end: int | None = None
    after: int = 0


@dataclass(frozen=True, slots=True)
class Rendered:
    """`turns` are the complete answers of the history, in order."""

    text: str
    guarded: str
    marks: tuple[Mark, ...] = ()
    turns: tuple[Span, ...] = ()


class Source(Protocol):
    """Thread safe."""

    def render(self, conversation: Conversation) -> Rendered:
        """Raises BadRequest on what cannot be rendered, TemplateError on what the template fails at."""


def encodable(text: str) -> str:
    """JSON escapes can smuggle in half a surrogate pair, which no tokenizer takes."""
    return _LONE_SURROGATE.sub("\ufffd", text)
