"""What a loaded model's memory can do, and whether batching is right on this machine: tried, not assumed.

Rules: everything here starts from and leaves an empty memory. The tokens are arbitrary valid ids; what they
mean does not matter.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ds4.core.errors import EngineError
from ds4.core.step import Trim
from ds4.engine.llama.capi import Context, Model

Row = NDArray[np.float32]

MAX_DEVIATION = 0.5
"""Root mean square difference of two logits rows, in standard deviations of the row. Rounding and a
flipped expert stay well below it; unrelated rows are at 1.4."""

_LENGTHS = (4, 7)


@dataclass(frozen=True, slots=True)
class MemoryClass:
    name: str
    trim: Trim
    window: int


@dataclass(frozen=True, slots=True)
class Batching:
    native: bool
    note: str


def find_memory_class(context: Context, model: Model) -> MemoryClass:
    """Decodes a few rows and tries to take the last ones back."""
    run_rows(context, [(0, probe_tokens(context.n_vocab, 0))])
    trimmed = context.remove_from(0, _LENGTHS[0] - 1)
    context.clear_all()
    return classify(trimmed, model.window, recurrent=model.recurrent, hybrid=model.hybrid)


def classify(trimmed: bool, window: int, *, recurrent: bool, hybrid: bool) -> MemoryClass:
    if trimmed:
        return MemoryClass("swa", Trim.WINDOW, window) if window else MemoryClass("plain", Trim.ANY, 0)
    name = "recurrent" if recurrent else "hybrid" if hybrid else "compressed"
    return MemoryClass(name, Trim.BOUNDARY, window)


def try_batching(context: Context) -> Batching:
    """Two sequences alone and in one batch must give about the same logits."""
    if context.n_slots < 2:
        return Batching(True, "one slot, nothing to batch")
    works = [(slot, probe_tokens(context.n_vocab, slot)) for slot in (0, 1)]
    alone = [row for work in works for row in run_rows(context, [work])]
    context.clear_all()
    together = run_rows(context, works)
    context.clear_all()
    return judge(deviation(alone, together))


def judge(off: float) -> Batching:
    if off <= MAX_DEVIATION:  # false for NaN too
        return Batching(True, "the start-up test passed")
    found = f"two sequences in one batch are off by {off:.2f} standard deviations"
    return Batching(False, f"row by row: the start-up test found that {found}")


def deviation(alone: Sequence[Row], together: Sequence[Row]) -> float:
    """The worst root mean square difference, in standard deviations of the row run alone."""
    pairs = zip(alone, together, strict=True)
    each = [np.sqrt(np.mean((a - b) ** 2)) / max(float(a.std()), 1e-6) for a, b in pairs]
    return float(np.max(each))  # numpy's max, unlike Python's, does not lose a NaN


def probe_tokens(n_vocab: int, slot: int) -> NDArray[np.int32]:
    """A short row of ids spread over the vocabulary, different for each slot."""
    spread = np.arange(_LENGTHS[slot]) * 7919 + slot + 1
    ids: NDArray[np.int32] = (spread % n_vocab).astype(np.int32)
    return ids


def run_rows(context: Context, works: Sequence[tuple[int, NDArray[np.int32]]]) -> list[Row]:
    """Runs the works in one batch in empty slots; gives copies of each last row's logits."""
    context.batch.clear()
    at = [context.batch.add(slot, 0, tokens, logits=True) for slot, tokens in works]
    context.decode()
    rows = [context.logits(row).copy() for row in at]
    if not all(np.isfinite(row).any() for row in rows):
        raise EngineError("the model's logits are not numbers")
    return rows
