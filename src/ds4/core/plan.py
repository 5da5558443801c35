"""What a rendered prompt is: segments of rows with boundaries. A row is one KV cache entry."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from ds4.core.usage import Replay

_ID_BITS = 30
_ID_MASK = (1 << _ID_BITS) - 1
_DIGITS = 9
"""So many ids hold a 256-bit hash."""

Ids = NDArray[np.int32]
"""One token id per row. An image row holds a negative id derived from the image's hash."""


class Origin(StrEnum):
    """Where a run of token ids comes from."""

    CONTROL = "control"
    """Written by the template or the renderer, never by client text."""
    PLAIN = "plain"
    """Text, encoded so that no control spelling inside it becomes a control token."""
    REPLAYED = "replayed"
    """The exact ids the model sampled in an earlier turn."""


@dataclass(frozen=True, slots=True)
class Tokens:
    ids: tuple[int, ...]
    origin: Origin


@dataclass(frozen=True, slots=True)
class Image:
    """Embedding rows. `positions` differs from `rows` under M-RoPE."""

    sha: str
    rows: int
    positions: int
    causal: bool

    def row_ids(self) -> list[int]:
        """Negative ids, one a row, that spell the hash: so one comparison of ids finds a common prefix across
        images. Nine rows carry all of a 256-bit hash, and shorter images than that do not exist."""
        digest = int(self.sha, 16)
        return [-1 - ((digest >> (_ID_BITS * (row % _DIGITS))) & _ID_MASK) for row in range(self.rows)]


class BoundaryKind(StrEnum):
    """Tools and leading system text stand at the beginning, in either order. Both ends of the tools are
    given, or neither; what lies between the two parts belongs to the system text."""

    TOOLS_START = "tools_start"
    TOOLS_END = "tools_end"
    SYSTEM_END = "system_end"
    """End of tools and leading system text."""
    TURN_START = "turn_start"
    LAST_USER_START = "last_user_start"
    ANSWER_START = "answer_start"
    """The turn to generate begins here, with its marker. Everything before it is the conversation."""
    PROMPT_END = "prompt_end"


@dataclass(frozen=True, slots=True)
class Boundary:
    """A place where a checkpoint is worth having. `row` counts the rows before it, `message` the messages."""

    row: int
    kind: BoundaryKind
    message: int | None = None


@dataclass(frozen=True, slots=True)
class PastTurn:
    """Where an answer of the history stands: `messages` of the assistant that follow one another.

    It is the rows from `start` to `end`. Where the renderer cannot tell (None), it begins at row `after` or
    behind it, with nothing but markup in between, and its end is the `messages`-th end token behind its
    beginning, if that comes before row `until`.
    """

    messages: int
    until: int
    start: int | None = None
    end: int | None = None
    after: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class PromptPlan:
    """A request as rows. `text` is what the template wrote, also where `replay` put other tokens.

    `namespace` separates callers: reuse never crosses it. `turns` are the answers of the history that are
    complete, in order.
    """

    items: tuple[Tokens | Image, ...]
    boundaries: tuple[Boundary, ...]
    namespace: str
    text: str
    ids: Ids
    turns: tuple[PastTurn, ...] = ()
    replay: Replay = Replay()  # noqa: RUF009  (frozen)

    @property
    def rows(self) -> int:
        return int(self.ids.size)

    @classmethod
    def of(
        cls,
        items: Iterable[Tokens | Image],
        *,
        text: str = "",
        boundaries: Iterable[Boundary] = (),
        namespace: str = "",
        turns: Iterable[PastTurn] = (),
    ) -> "PromptPlan":
        kept = tuple(items)
        flat: list[int] = []
        for item in kept:
            flat.extend(item.ids if isinstance(item, Tokens) else item.row_ids())
        ids = np.asarray(flat, dtype=np.int32)
        ids.setflags(write=False)
        return cls(kept, tuple(boundaries), namespace, text, ids, tuple(turns))

    @property
    def answer_start(self) -> int | None:
        """Where the turn to generate begins, with its marker. None where that is not known."""
        found = (b.row for b in self.boundaries if b.kind is BoundaryKind.ANSWER_START)
        return next(found, None)
