"""Where a request runs and what it begins with. Pure.

Everything is counted in rows that could be computed in the same time. A place costs what must be computed
there, plus moving what it begins with, plus what the conversation that is displaced there loses: the part
of its last prompt that the new one does not share. (What follows that prompt is an answer; when its own
next turn comes back with the answer told otherwise, nothing is lost.)

A loss that is kept elsewhere costs bringing it back. One that is gone counts RETURNS times over, since two
agents that take each other's slot pay at every turn; a slot untouched for HALF_LIFE seconds is worth half.
To begin with nothing is always among the choices, so nothing slower than computing is ever chosen.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from ds4.core.plan import Ids, PromptPlan
from ds4.core.usage import MissReason
from ds4.kv.prefix import Reuse
from ds4.schedule.rates import Prices

HALF_LIFE = 600.0
RETURNS = 4.0
PATIENCE = 0.5
"""A row that another request computes meanwhile costs that much: it is not computed twice, but waited for."""
PARK_ROWS = 64
"""Fewer rows are computed again rather than kept."""
WORTH_WAITING = 64
"""Fewer rows than these are computed twice rather than waited for."""


class Kind(StrEnum):
    SLOT = "slot"
    RAM = "ram"
    DISK = "disk"


@dataclass(frozen=True, slots=True, eq=False)
class Base:
    """A memory of `held` rows, `ids`, that begins like the prompt. `size` is its state in bytes.

    `mark_fetch` is bytes of a mark that must be read from disk first. `healed` is the prompt with this
    memory's tokens, where they are the same as text. A slot that still prefills will have `growing_to` rows
    in common. `ids` may be a view of a slot's rows, good until the slot changes.
    """

    kind: Kind
    held: int
    reuse: Reuse
    size: int = 0
    slot: int = -1
    key: str = ""
    healed: PromptPlan | None = None
    mark_fetch: int = 0
    growing_to: int = 0
    ids: Ids = field(default_factory=lambda: np.empty(0, np.int32))


@dataclass(frozen=True, slots=True)
class Target:
    """A free slot, idle for `idle` seconds. Of the `rows` it holds, the first `prompt` were a prompt.

    `size` is its state in bytes; `keepable`: it can be kept elsewhere.
    """

    slot: int
    rows: int
    prompt: int
    idle: float
    size: int = 0
    keepable: bool = False


@dataclass(frozen=True, slots=True)
class Placement:
    """Run in `slot`, beginning with `base` (None: with nothing). `lost` rows of the prompt there go; `park`:
    they are worth keeping."""

    slot: int
    base: Base | None
    lost: int
    cost: float
    park: bool = False


@dataclass(frozen=True, slots=True)
class Wait:
    """Until the request in `slot` has `rows` rows."""

    slot: int
    rows: int


def place(
    targets: Sequence[Target], bases: Sequence[Base], prompt_rows: int, prices: Prices
) -> Placement | Wait:
    """The cheapest way; of equal ones, into the slot idle longest. `targets`: at least one."""
    idle = {target.slot: target.idle for target in targets}
    ways = _ways(targets, bases, prompt_rows, prices)
    chosen = min(ways, key=lambda way: (way.cost, -idle[way.slot], way.slot))
    return _wait(chosen, bases, prompt_rows, prices) or chosen


def reason(chosen: Placement, bases: Iterable[Base], prompt_rows: int) -> MissReason:
    """Why less than all of the longest known prefix is reused."""
    best = longest(bases)
    if best is None:
        return MissReason.NONE
    wanted = _rows(best, prompt_rows)
    reused = chosen.base.reuse.rows if chosen.base else 0
    if reused < min(best.reuse.common, wanted - 1):
        reachable = max(base.reuse.rows for base in bases)
        return MissReason.NOT_WORTH_IT if reused < reachable else MissReason.CANNOT_REWIND
    return MissReason.EDITED if best.reuse.common < min(best.held, wanted) else MissReason.NONE


def longest(bases: Iterable[Base]) -> Base | None:
    """The memory that agrees longest with the prompt."""
    return max(
        (b for b in bases if b.reuse.common), key=lambda b: (b.reuse.common, b.reuse.rows), default=None
    )


def _ways(
    targets: Sequence[Target], bases: Sequence[Base], prompt_rows: int, prices: Prices
) -> Iterator[Placement]:
    for target in targets:
        yield _way(target, None, prompt_rows, prices)
        for base in bases:
            if base.reuse.rows:
                yield _way(target, base, prompt_rows, prices)


def _way(target: Target, base: Base | None, prompt_rows: int, prices: Prices) -> Placement:
    here = base is not None and base.slot == target.slot
    lost = max(0, target.prompt - (base.reuse.common if base and here else 0))
    gone, kept = _gone(target, lost), _kept(target, prices)
    park = kept < gone and lost >= PARK_ROWS
    cost = _work(base, prompt_rows, here=here, prices=prices) + (kept if park else gone)
    return Placement(target.slot, base, lost, cost, park)


def _work(base: Base | None, prompt_rows: int, *, here: bool, prices: Prices) -> float:
    """What is computed and moved."""
    if base is None:
        return prompt_rows
    return _rows(base, prompt_rows) - base.reuse.rows + _moving(base, here=here, prices=prices)


def _rows(base: Base, prompt_rows: int) -> int:
    """The prompt's rows, told in this memory's tokens."""
    return base.healed.rows if base.healed else prompt_rows


def _moving(base: Base, *, here: bool, prices: Prices) -> float:
    by_kind = {Kind.SLOT: prices.copy, Kind.RAM: prices.load, Kind.DISK: prices.load + prices.fetch}
    cost = 0.0 if here else base.size * by_kind[base.kind]
    if base.reuse.mark is not None:
        cost += base.reuse.mark.size * prices.load + base.mark_fetch * prices.fetch
    return cost


def _gone(target: Target, lost: int) -> float:
    """What losing the rows costs."""
    return RETURNS * lost * math.exp2(-target.idle / HALF_LIFE)


def _kept(target: Target, prices: Prices) -> float:
    """What keeping them costs, and bringing them back."""
    return target.size * (prices.export + RETURNS * prices.load) if target.keepable else math.inf


def _wait(chosen: Placement, bases: Sequence[Base], prompt_rows: int, prices: Prices) -> Wait | None:
    here = chosen.base is not None and chosen.base.slot == chosen.slot
    work = _work(chosen.base, prompt_rows, here=here, prices=prices)
    # Told in a memory's tokens a prompt can be more work than it has rows: that alone is no one to wait for.
    growing = [
        base for base in bases if base.growing_to and prompt_rows - base.growing_to + WORTH_WAITING <= work
    ]
    best = max(growing, key=lambda base: base.growing_to, default=None)
    if best is None:
        return None
    rows = best.growing_to
    copying = best.size * rows / max(best.held, 1) * prices.copy
    cost = PATIENCE * (rows - best.held) + copying + prompt_rows - rows
    return Wait(best.slot, rows) if cost < work else None
