"""Memories, slots and prices for tests of decisions. A row's state takes ROW bytes."""

import numpy as np

from ds4.core.plan import Boundary, PromptPlan
from ds4.core.step import SnapshotKind
from ds4.kv.checkpoint import Checkpoint
from ds4.kv.prefix import Reuse
from ds4.schedule.place import Base, Kind, Placement, Target, Wait, place
from ds4.schedule.rates import Prices

ROW = 1000
QUICK = Prices(copy=1e-6, export=1e-6, load=2e-6, fetch=1e-5)
"""Moving a row costs a hundredth of computing it, at most."""
SLOW = Prices(copy=1e-2, export=1e-2, load=1e-2, fetch=1e-2)
"""Moving a row costs ten times as much as computing it."""


def prices(**changes: float) -> Prices:
    known = {"copy": QUICK.copy, "export": QUICK.export, "load": QUICK.load, "fetch": QUICK.fetch}
    return Prices(**{**known, **changes})


def target(
    slot: int, rows: int = 0, *, prompt: int | None = None, idle: float = 1.0, keepable: bool = False
) -> Target:
    return Target(slot, rows, rows if prompt is None else prompt, idle, rows * ROW, keepable)


def base(
    kind: Kind,
    held: int,
    common: int,
    *,
    reuse: int | None = None,
    slot: int = -1,
    mark: int = 0,
    mark_fetch: int = 0,
    growing_to: int = 0,
    healed: PromptPlan | None = None,
    ids: list[int] | None = None,
) -> Base:
    """`reuse` rows where that is less than `common`; with `mark` bytes, through a mark."""
    rows = common if reuse is None else reuse
    return Base(
        kind,
        held,
        Reuse(common, rows, mark_of(rows, mark) if mark else None),
        size=held * ROW,
        slot=slot,
        key="" if kind is Kind.SLOT else f"{kind}{held}",
        healed=healed,
        mark_fetch=mark_fetch,
        growing_to=growing_to,
        ids=np.array(ids or [], np.int32),
    )


def in_slot(slot: int, held: int, common: int, **more: int) -> Base:
    return base(Kind.SLOT, held, common, slot=slot, **more)  # type: ignore[arg-type]


def in_ram(held: int, common: int, **more: int) -> Base:
    return base(Kind.RAM, held, common, **more)  # type: ignore[arg-type]


def on_disk(held: int, common: int, **more: int) -> Base:
    return base(Kind.DISK, held, common, **more)  # type: ignore[arg-type]


def mark_of(rows: int, size: int) -> Checkpoint:
    return Checkpoint(f"mark{rows}", "", np.zeros(rows, np.int32), SnapshotKind.PARTIAL, size)


def plan_of(ids: list[int], *boundaries: Boundary) -> PromptPlan:
    return PromptPlan((), boundaries, "", "", np.array(ids, np.int32))


def placed(targets: list[Target], bases: list[Base], prompt: int, at: Prices = QUICK) -> Placement:
    chosen = place(targets, bases, prompt, at)
    assert isinstance(chosen, Placement)
    return chosen


def awaited(targets: list[Target], bases: list[Base], prompt: int, at: Prices = QUICK) -> Wait | None:
    chosen = place(targets, bases, prompt, at)
    return chosen if isinstance(chosen, Wait) else None
