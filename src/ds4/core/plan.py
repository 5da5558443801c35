"""What a rendered prompt is: segments of rows with boundaries. A row is one KV cache entry."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

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
    SYSTEM_END = "system_end"
    """End of tools and leading system text."""
    TURN_START = "turn_start"
    LAST_USER_START = "last_user_start"
    PROMPT_END = "prompt_end"


@dataclass(frozen=True, slots=True)
class Boundary:
    """A place where a checkpoint is worth having. `row` counts the rows before it, `message` the messages."""

    row: int
    kind: BoundaryKind
    message: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PromptPlan:
    """A request as rows. `text` is the rendered text, the second key of the prefix index.

    `namespace` separates callers: reuse never crosses it.
    """

    items: tuple[Tokens | Image, ...]
    boundaries: tuple[Boundary, ...]
    namespace: str
    text: str
    ids: Ids

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
    ) -> "PromptPlan":
        kept = tuple(items)
        flat: list[int] = []
        for item in kept:
            flat.extend(item.ids if isinstance(item, Tokens) else item.row_ids())
        ids = np.asarray(flat, dtype=np.int32)
        ids.setflags(write=False)
        return cls(kept, tuple(boundaries), namespace, text, ids)
