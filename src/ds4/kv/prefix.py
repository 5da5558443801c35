"""How much of a slot's memory a prompt can reuse. Pure functions.

Rules: reuse is by longest common prefix, cut to what the memory class can be rewound to, and at
least one prompt row is always left to compute, since its logits start the answer.
"""

from dataclasses import dataclass

import numpy as np

from ds4.core.plan import Ids
from ds4.core.step import Caps, Frontier, Trim


@dataclass(frozen=True, slots=True)
class Reuse:
    """`common` rows are equal, `rows` of them can be kept."""

    common: int
    rows: int


def common_prefix(held: Ids, wanted: Ids) -> int:
    """The number of leading rows in which both agree."""
    size = min(held.size, wanted.size)
    differs = held[:size] != wanted[:size]
    first = int(np.argmax(differs)) if size else 0
    return first if size and differs[first] else size


def reusable(held: Ids, wanted: Ids, caps: Caps, frontier: Frontier) -> Reuse:
    common = common_prefix(held, wanted)
    keep = min(common, wanted.size - 1)
    return Reuse(common, keep if _can_keep(keep, held.size, caps, frontier) else 0)


def _can_keep(keep: int, held: int, caps: Caps, frontier: Frontier) -> bool:
    if keep == held:
        return True
    match caps.trim:
        case Trim.ANY:
            return True
        case Trim.WINDOW:
            return frontier.pos_min <= max(0, keep - caps.window)
        case Trim.BOUNDARY:
            return False
