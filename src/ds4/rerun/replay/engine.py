"""The recorded engine: it gives what the trace says. Nothing is computed, and nothing is held.

A snapshot has its size and no bytes: nobody looks into one but the engine, and this one does not.
"""

from collections.abc import Sequence

import numpy as np

from ds4.core.ports import Allowed, Logits, Mark, Sampler, Tokenizer
from ds4.core.sampling import Sampled, Sampling
from ds4.core.step import (
    Caps,
    Frontier,
    MemoryUse,
    ModelInfo,
    Snapshot,
    SnapshotKind,
    SnapshotPart,
    StepPlan,
    StepResult,
)
from ds4.rerun.head import Head
from ds4.rerun.replay.lines import result
from ds4.rerun.replay.script import Astray, Script


class RecordedEngine:
    """`core.ports.Engine` of a trace."""

    def __init__(self, head: Head, tokenizer: Tokenizer, script: Script) -> None:
        self._model = head.model
        self._tokenizer = tokenizer
        self._script = script

    @property
    def info(self) -> ModelInfo:
        return self._model.info

    @property
    def caps(self) -> Caps:
        return self._model.caps

    @property
    def tokenizer(self) -> Tokenizer:
        return self._tokenizer

    def sampler(self, sampling: Sampling, prompt: Sequence[int]) -> Sampler:  # noqa: ARG002
        self._script.op("sampler")
        return _NoSampler()

    def step(self, plan: StepPlan) -> StepResult:
        given = result(self._script.op("step").gave)
        if len(given.outcomes) != len(plan.works):
            self._script.stray(f"a step of {len(plan.works)} works, in the trace of {len(given.outcomes)}")
            raise Astray(self._script.astray)
        return given

    def copy(self, source: int, target: int) -> None:  # noqa: ARG002
        self._script.op("copy", source)

    def trim(self, slot: int, rows: int) -> bool:  # noqa: ARG002
        return bool(self._script.op("trim", slot).gave)

    def clear(self, slot: int) -> None:
        self._script.op("clear", slot)

    def export(self, slot: int, kind: SnapshotKind) -> Snapshot:  # noqa: ARG002
        return recorded_snapshot(*self._script.op("export", slot).gave)

    def load(self, slot: int, snapshot: Snapshot) -> None:  # noqa: ARG002
        self._script.op("load", slot)

    def frontier(self, slot: int) -> Frontier:
        return Frontier(*self._script.op("frontier", slot).gave)

    def memory(self) -> MemoryUse:
        return self._model.memory

    def close(self) -> None:
        pass


class _NoSampler:
    """What is sampled is known."""

    def sample(self, logits: Logits, *, greedy: bool = False, allowed: Allowed | None = None) -> Sampled:
        raise NotImplementedError

    def accept(self, token: int) -> None:
        pass

    def mark(self) -> Mark:
        return Mark(None)

    def rollback(self, mark: Mark) -> None:
        pass


def recorded_snapshot(kind: str, rows: int, positions: int, size: int) -> Snapshot:
    """`size` bytes that take no memory: one byte, seen `size` times."""
    data = np.broadcast_to(np.zeros(1, np.uint8), (size,)).data
    return Snapshot(SnapshotKind(kind), rows, positions, (SnapshotPart("recorded", data),))
