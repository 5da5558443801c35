"""The engine, with everything it is asked and says noted on the tape."""

from collections.abc import Callable, Sequence
from typing import TypeVar
from zlib import crc32

import numpy as np

from ds4.core.errors import Ds4Error
from ds4.core.ports import Engine, Sampler, Tokenizer
from ds4.core.sampling import Sampled, Sampling
from ds4.core.step import (
    Caps,
    Frontier,
    MemoryUse,
    ModelInfo,
    Outcome,
    Snapshot,
    SnapshotKind,
    StepPlan,
    StepResult,
    Work,
)
from ds4.observe.trace.values import Json
from ds4.rerun.tape import Tape

T = TypeVar("T")


class NotedEngine:
    """`core.ports.Engine` around another."""

    def __init__(self, engine: Engine, tokenizer: Tokenizer, tape: Tape) -> None:
        self._engine = engine
        self._tokenizer = tokenizer
        self._tape = tape

    @property
    def info(self) -> ModelInfo:
        return self._engine.info

    @property
    def caps(self) -> Caps:
        return self._engine.caps

    @property
    def tokenizer(self) -> Tokenizer:
        return self._tokenizer

    def sampler(self, sampling: Sampling, prompt: Sequence[int]) -> Sampler:
        return self._noted("sampler", [], lambda: self._engine.sampler(sampling, prompt), _nothing)

    def step(self, plan: StepPlan) -> StepResult:
        return self._noted(
            "step", [_work(work) for work in plan.works], lambda: self._engine.step(plan), _result
        )

    def copy(self, source: int, target: int) -> None:
        self._noted("copy", [source, target], lambda: self._engine.copy(source, target), _nothing)

    def trim(self, slot: int, rows: int) -> bool:
        return self._noted("trim", [slot, rows], lambda: self._engine.trim(slot, rows), bool)

    def clear(self, slot: int) -> None:
        self._noted("clear", [slot], lambda: self._engine.clear(slot), _nothing)

    def export(self, slot: int, kind: SnapshotKind) -> Snapshot:
        return self._noted("export", [slot, kind.value], lambda: self._engine.export(slot, kind), _snapshot)

    def load(self, slot: int, snapshot: Snapshot) -> None:
        asked = [slot, *_snapshot(snapshot)]
        self._noted("load", asked, lambda: self._engine.load(slot, snapshot), _nothing)

    def frontier(self, slot: int) -> Frontier:
        return self._noted(
            "frontier",
            [slot],
            lambda: self._engine.frontier(slot),
            lambda found: [found.pos_min, found.pos_max],
        )

    def memory(self) -> MemoryUse:
        return self._engine.memory()

    def close(self) -> None:
        self._engine.close()

    def _noted(
        self, name: str, asked: Sequence[object], do: Callable[[], T], said: Callable[[T], object]
    ) -> T:
        """What an operation gave or raised, and when it ended."""
        op: Json = {"op": name, "asked": asked}
        try:
            given = do()
        except Ds4Error as error:
            op["error"] = [type(error).__name__, error.message]
            raise
        else:
            op["gave"] = said(given)
            return given
        finally:
            op["t"] = self._tape.moment()
            self._tape.note("ops", op)


def _nothing(_given: object) -> None:
    return None


def _work(work: Work) -> list[object]:
    """Slot, position, rows, a sum of their ids, and whether and how the last one is sampled."""
    rows = np.ascontiguousarray(work.rows)
    how = "greedy" if work.greedy else "sampled"
    return [work.slot, work.pos, len(rows), crc32(rows.tobytes()), None if work.sampler is None else how]


def _result(result: StepResult) -> Json:
    return {"seconds": result.seconds, "outcomes": [_outcome(outcome) for outcome in result.outcomes]}


def _outcome(outcome: Outcome) -> Json:
    found: Json = {"kept": outcome.rows_kept, "tokens": [_sampled(token) for token in outcome.tokens]}
    if outcome.error is not None:
        found["error"] = [type(outcome.error).__name__, outcome.error.message]
    return found


def _sampled(token: Sampled) -> object:
    """The id alone, unless more was asked for."""
    if token.logprob is None and not token.top:
        return token.id
    return [token.id, token.logprob, [list(pair) for pair in token.top]]


def _snapshot(snapshot: Snapshot) -> list[object]:
    size = snapshot.size
    return [snapshot.kind.value, snapshot.rows, snapshot.positions, size]
