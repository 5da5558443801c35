"""Refuses the plans a real engine would refuse, before anything changes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ds4.core.errors import EngineError
from ds4.core.step import StepKind, StepPlan, Work


@dataclass(frozen=True, slots=True)
class Limits:
    """`n_ctx` rows per slot, `n_batch` rows per batch."""

    n_ctx: int
    n_batch: int
    n_vocab: int


def check_step(plan: StepPlan, limits: Limits, lengths: Sequence[int], *, ordered: bool) -> None:
    """`lengths` are the rows in each slot; `ordered` works have a batch each. Raises EngineError."""
    if plan.kind is not StepKind.TOKENS:
        raise EngineError("the scripted engine takes token rows only")
    if len({work.slot for work in plan.works}) < len(plan.works):
        raise EngineError("a step may name a slot only once")
    for work in plan.works:
        check_slot(work.slot, len(lengths))
        _check_work(work, limits, lengths[work.slot])
    sizes = [len(work.rows) for work in plan.works]
    batch = max(sizes, default=0) if ordered else sum(sizes)
    if batch > limits.n_batch:
        raise EngineError(f"{batch} rows do not fit into a batch of {limits.n_batch}")


def check_slot(slot: int, n_slots: int) -> None:
    if not 0 <= slot < n_slots:
        raise EngineError(f"slot {slot} is not one of 0..{n_slots - 1}")


def _check_work(work: Work, limits: Limits, length: int) -> None:
    rows = np.asarray(work.rows)
    if rows.ndim != 1 or rows.size == 0 or not np.issubdtype(rows.dtype, np.integer):
        raise EngineError(f"slot {work.slot}: rows must be a non-empty vector of token ids")
    if work.pos != length:
        raise EngineError(f"slot {work.slot}: rows start at {work.pos}, but the slot holds {length} rows")
    if length + rows.size > limits.n_ctx:
        raise EngineError(f"slot {work.slot}: {length + rows.size} rows do not fit into {limits.n_ctx}")
    if not 0 <= rows.min() <= rows.max() < limits.n_vocab:
        raise EngineError(f"slot {work.slot}: a token id is outside the vocabulary of {limits.n_vocab}")
