"""Runs a real engine with few words."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ds4.core.ports import Allowed, Logits, Mark
from ds4.core.sampling import Sampled
from ds4.core.step import StepPlan, Work
from ds4.engine.llama import LlamaEngine, LlamaOptions


class Recorder:
    """A sampler that keeps the logits it is shown."""

    def __init__(self) -> None:
        self.row: NDArray[np.float32] = np.empty(0, dtype=np.float32)

    def sample(self, logits: Logits, *, greedy: bool = False, allowed: Allowed | None = None) -> Sampled:
        del greedy, allowed
        self.row = logits.copy()
        return Sampled(int(logits.argmax()))

    def accept(self, token: int) -> None: ...

    def mark(self) -> Mark:
        return Mark(None)

    def rollback(self, mark: Mark) -> None: ...


@dataclass
class Driver:
    """Runs an engine with few words."""

    engine: LlamaEngine

    def run(self, slot: int, tokens: Sequence[int], pos: int | None = None) -> NDArray[np.float32]:
        """Steps one slot; gives the logits of the last row."""
        return self.run_all([(slot, tokens)], pos=pos)[0]

    def run_all(
        self, works: Sequence[tuple[int, Sequence[int]]], *, pos: int | None = None, ordered: bool = False
    ) -> list[NDArray[np.float32]]:
        recorders = [Recorder() for _ in works]
        plan = StepPlan(
            tuple(
                Work(
                    slot,
                    self.rows(slot) if pos is None else pos,
                    np.asarray(tokens, np.int32),
                    sampler=recorder,
                )
                for (slot, tokens), recorder in zip(works, recorders, strict=True)
            ),
            ordered=ordered,
        )
        self.engine.step(plan)
        return [recorder.row for recorder in recorders]

    def rows(self, slot: int) -> int:
        return self.engine.frontier(slot).pos_max + 1

    def fresh(self, tokens: Sequence[int], slot: int = 0) -> NDArray[np.float32]:
        self.engine.clear(slot)
        return self.run(slot, tokens)

    def fresh_steps(self, slot: int, *steps: Sequence[int]) -> NDArray[np.float32]:
        """Clears the slot and runs the steps; gives the logits of the last one."""
        self.engine.clear(slot)
        return [self.run(slot, tokens) for tokens in steps][-1]

    def clear(self) -> None:
        for slot in range(self.engine.info.n_slots):
            self.engine.clear(slot)


def small(path: Path) -> LlamaOptions:
    """Three slots, and one thread: two would wait for each other on a busy machine."""
    return LlamaOptions(path, n_ctx=512, n_slots=3, n_batch=64, threads=1, threads_batch=1)
