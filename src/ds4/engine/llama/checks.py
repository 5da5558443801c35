"""Is a step legal? Asked before llama.cpp sees it."""

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from ds4.core.errors import EngineError
from ds4.core.step import ModelInfo, StepKind, StepPlan, Work


def check_plan(plan: StepPlan, rows: Sequence[int], info: ModelInfo) -> None:
    """`rows` are held per slot. Raises EngineError naming the first fault; nothing has run then."""
    if plan.kind is not StepKind.TOKENS:
        raise EngineError("embedding steps are not supported yet")
    if not plan.works:
        raise EngineError("a step without rows")
    if len({work.slot for work in plan.works}) != len(plan.works):
        raise EngineError("a step names a slot twice")
    for work in plan.works:
        _check_work(work, rows, info)
    total = sum(len(work.rows) for work in plan.works)
    if total > info.n_batch:
        raise EngineError(f"a step of {total} rows is larger than the batch of {info.n_batch}")


def _check_work(work: Work, rows: Sequence[int], info: ModelInfo) -> None:
    if not 0 <= work.slot < info.n_slots:
        raise EngineError(f"slot {work.slot} does not exist, there are {info.n_slots}")
    if work.draft:
        raise EngineError("drafts are not supported yet")
    if work.rows.ndim != 1 or work.rows.size == 0 or work.rows.dtype.kind != "i":
        raise EngineError(f"slot {work.slot} needs a row of token ids")
    low, high = _extremes(work.rows)
    if low < 0 or high >= info.n_vocab:
        raise EngineError(f"slot {work.slot} names a token outside the vocabulary of {info.n_vocab}")
    held = rows[work.slot]
    if work.pos != held:
        raise EngineError(f"slot {work.slot} holds {held} rows, position {work.pos} does not continue it")
    if work.pos + work.rows.size > info.n_ctx:
        raise EngineError(f"slot {work.slot} would hold {work.pos + work.rows.size} of {info.n_ctx} rows")


def _extremes(rows: NDArray[Any]) -> tuple[int, int]:
    if rows.size == 1:  # a decode row: numpy's reductions would take longer than all other checks
        return int(rows[0]), int(rows[0])
    return int(rows.min()), int(rows.max())
