"""How much of a memory a prompt can reuse. Pure functions.

Rules: reuse is by longest common prefix, cut to what the memory class can be rewound to, and at
least one prompt row is always left to compute, since its logits start the answer. Where the memory itself
cannot be cut, a PARTIAL checkpoint (a mark) inside the common rows takes it back to its own row.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ds4.core.plan import Ids
from ds4.core.step import Caps, Trim
from ds4.kv.checkpoint import Checkpoint


@dataclass(frozen=True, slots=True)
class Reuse:
    """`common` rows are equal, `rows` of them can be kept; through `mark` where that is set."""

    common: int
    rows: int
    mark: Checkpoint | None = None


def common_prefix(held: Ids, wanted: Ids) -> int:
    """The number of leading rows in which both agree."""
    size = min(held.size, wanted.size)
    differs = held[:size] != wanted[:size]
    first = int(np.argmax(differs)) if size else 0
    return first if size and differs[first] else size


def reusable(
    held: int, common: int, most: int, caps: Caps, pos_min: int, marks: Sequence[Checkpoint] = ()
) -> Reuse:
    """Of `held` rows, `common` are the prompt's first; at most `most` may be kept.

    `pos_min` is the first position whose window rows are there. `marks` lie on the prompt's own rows.
    """
    keep = min(common, most)
    if keep == held or keep == 0 or _can_cut(keep, caps, pos_min):
        return Reuse(common, keep)
    usable = [mark for mark in marks if mark.rows <= keep]
    best = max(usable, key=lambda mark: mark.rows, default=None)
    return Reuse(common, best.rows if best else 0, best)


def window_start(rows: int, caps: Caps) -> int:
    """`pos_min` of a restored state: its snapshot holds only what is needed to go on."""
    match caps.trim:
        case Trim.ANY:
            return 0
        case Trim.WINDOW:
            return max(0, rows - caps.window)
        case Trim.BOUNDARY:
            return max(0, rows - 1)


def _can_cut(keep: int, caps: Caps, pos_min: int) -> bool:
    match caps.trim:
        case Trim.ANY:
            return True
        case Trim.WINDOW:
            return pos_min <= max(0, keep - caps.window)
        case Trim.BOUNDARY:
            return False
