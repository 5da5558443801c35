"""The engine: slots of one context, stepped by one thread.

Rules: everything that would abort the process, or leave a slot in doubt, is checked before llama.cpp is
called; `capi` checks handles and ranges, this file checks that rows continue their slot. `_rows` counts
what each slot holds; after a failed step it is LOST until the slot is cleared. A slot whose copy is only
noted (see `capi.context`) is settled before it is emptied, overwritten or read.
"""

from collections.abc import Sequence
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from ds4.core.errors import EngineError
from ds4.core.ports import Sampler
from ds4.core.sampling import Sampling
from ds4.core.step import (
    Caps,
    Frontier,
    MemoryUse,
    ModelInfo,
    Outcome,
    Snapshot,
    SnapshotKind,
    SnapshotPart,
    StepPlan,
    StepResult,
    Trim,
    Work,
)
from ds4.engine.llama.capi import Context
from ds4.engine.llama.checks import check_plan
from ds4.engine.llama.load import Loaded, load
from ds4.engine.llama.options import LlamaOptions
from ds4.engine.llama.tokenizer import LlamaTokenizer
from ds4.engine.sampler import NumpySampler

LOST = -1
NOTHING = (-1, -1)
"""The frontier of an empty slot."""

TARGET = "target"
"""The name of the one context in a snapshot."""


class LlamaEngine:
    """Implements core.ports.Engine over llama.cpp."""

    def __init__(self, loaded: Loaded) -> None:
        self.info: ModelInfo = loaded.info
        self.caps: Caps = loaded.caps
        self.tokenizer: LlamaTokenizer = loaded.tokenizer
        self._memory = loaded.memory
        self._portable = loaded.portable
        self._context: Context = loaded.context
        self._rows = [0] * self.info.n_slots

    @classmethod
    def open(cls, options: LlamaOptions) -> "LlamaEngine":
        """Loads, checks and probes; takes as long as the model is large. Raises StartError."""
        return cls(load(options))

    def sampler(self, sampling: Sampling, prompt: Sequence[int]) -> Sampler:
        return NumpySampler(sampling, prompt, self.info.n_vocab, sorted(self.tokenizer.eog))

    def step(self, plan: StepPlan) -> StepResult:
        check_plan(plan, self._rows, self.info)
        started = perf_counter()
        alone = plan.ordered or not self.caps.native_batch
        groups = [(work,) for work in plan.works] if alone else [plan.works]
        outcomes = [outcome for group in groups for outcome in self._run(group)]
        return StepResult(tuple(outcomes), perf_counter() - started)

    def copy(self, source: int, target: int) -> None:
        rows = self._held(source)
        if source == target:
            return
        self.clear(target)
        if rows:
            self._context.copy(source, target)
        self._rows[target] = rows

    def trim(self, slot: int, rows: int) -> bool:
        held = self._held(slot)
        if not 0 <= rows <= held:
            raise EngineError(f"slot {slot} holds {held} rows and cannot be trimmed to {rows}")
        if rows == held:
            return True
        if rows == 0:
            self.clear(slot)
            return True
        if not self._can_trim(slot, rows) or not self._context.remove_from(slot, rows):
            return False
        self._rows[slot] = rows
        return True

    def clear(self, slot: int) -> None:
        self._settle_before_loss(slot)
        self._context.clear(slot)
        if self._context.frontier(slot) != NOTHING:
            # A damaged snapshot can put rows at negative positions, where clearing a slot does not reach.
            self._context.clear_all()
            self._rows = [LOST if rows else 0 for rows in self._rows]
        self._rows[slot] = 0

    def export(self, slot: int, kind: SnapshotKind) -> Snapshot:
        rows = self._held(slot)
        if rows == 0:
            raise EngineError(f"slot {slot} is empty, there is nothing to export")
        source = self._readable(slot)
        data = self._context.export(source, partial=kind is SnapshotKind.PARTIAL)
        packed = self._portable.pack(data, source, kind, rows)
        return Snapshot(kind, rows, rows, (SnapshotPart(TARGET, packed),))

    def load(self, slot: int, snapshot: Snapshot) -> None:
        """A PARTIAL snapshot goes on top of a slot that still holds at least its rows."""
        partial = snapshot.kind is SnapshotKind.PARTIAL
        try:
            data = self._loadable(slot, snapshot)
            self._settle_before_loss(slot)
            self._put(slot, data, snapshot.rows, partial=partial)
        except EngineError:
            self.clear(slot)
            raise

    def frontier(self, slot: int) -> Frontier:
        low, high = self._context.frontier(slot)
        counted = self._rows[slot]
        if counted not in (LOST, high + 1):
            raise EngineError(f"slot {slot} holds positions up to {high}, but {counted} rows were counted")
        return Frontier(low, high)

    def memory(self) -> MemoryUse:
        """Model: tensor bytes. The others as llama.cpp reported its allocations, to 0.01 MiB each."""
        return self._memory

    def close(self) -> None:
        self._context.close()

    def _run(self, works: Sequence[Work]) -> list[Outcome]:
        """One llama_decode, then sampling. The slots are LOST unless it succeeds."""
        batch = self._context.batch
        batch.clear()
        at = []
        for work in works:
            self._rows[work.slot] = LOST
            wanted = work.sampler is not None
            at.append(batch.add(work.slot, work.pos, np.asarray(work.rows, dtype=np.int32), logits=wanted))
        self._context.decode()
        outcomes = [self._outcome(work, row) for work, row in zip(works, at, strict=True)]
        for work in works:
            self._rows[work.slot] = work.pos + len(work.rows)
        return outcomes

    def _outcome(self, work: Work, row: int) -> Outcome:
        rows = len(work.rows)
        if work.sampler is None:
            return Outcome((), rows)
        try:
            sampled = work.sampler.sample(self._context.logits(row), greedy=work.greedy)
        except EngineError as error:
            return Outcome((), rows, error)
        return Outcome((sampled,), rows)

    def _held(self, slot: int) -> int:
        """Rows of a slot in a known state."""
        self._context.frontier(slot)  # raises on a slot that does not exist
        if self._rows[slot] == LOST:
            raise EngineError(f"slot {slot} was lost in a failed step and must be cleared")
        return self._rows[slot]

    def _can_trim(self, slot: int, rows: int) -> bool:
        """llama.cpp itself says yes where an attention window is already gone."""
        if self.caps.trim is Trim.BOUNDARY:
            return False
        if self.caps.trim is Trim.ANY:
            return True
        return self._context.frontier(slot)[0] <= max(0, rows - self.caps.window)

    def _loadable(self, slot: int, snapshot: Snapshot) -> NDArray[np.uint8]:
        if [part.context for part in snapshot.parts] != [TARGET]:
            raise EngineError("the snapshot does not belong to this engine: other contexts")
        rows = snapshot.rows
        if not 0 < rows == snapshot.positions <= self.info.n_ctx:
            raise EngineError(f"a snapshot of {rows} rows does not fit a context of {self.info.n_ctx}")
        if snapshot.kind is SnapshotKind.PARTIAL and self._held(slot) < rows:
            raise EngineError(f"slot {slot} no longer holds the {rows} rows of a partial snapshot")
        return self._portable.unpack(snapshot.parts[0].data, snapshot.kind, rows)

    def _put(self, slot: int, data: NDArray[np.uint8], rows: int, *, partial: bool) -> None:
        if not self._context.load(slot, data, partial=partial):
            raise EngineError(f"llama.cpp refused a snapshot of {data.size} bytes")
        # The part that can be rolled back still reaches further than the restored one.
        if partial and not self._context.remove_from(slot, rows):
            raise EngineError(f"slot {slot} could not be cut back to the {rows} rows of its snapshot")
        if self._context.frontier(slot)[1] != rows - 1:
            raise EngineError(f"the snapshot does not hold the {rows} rows it claims")
        self._rows[slot] = rows

    def _settle_before_loss(self, slot: int) -> None:
        """For a slot that is about to lose its rows, or those behind a partial snapshot."""
        if self._context.noted(slot) and not self._settled_in_empty_slot():
            self._context.settle(slot, self._context.frontier(slot)[1] + 1)

    def _readable(self, slot: int) -> int:
        """A slot with the memory of `slot` whose data are there."""
        if self._context.origin(slot) == slot or self._settled_in_empty_slot():
            return slot
        if self.caps.trim is Trim.BOUNDARY:
            # Neither side can have been cut, and a step would have made the copy: they are the same.
            return self._context.origin(slot)
        self._context.settle(slot, self._rows[slot])
        self._context.remove_from(slot, self._rows[slot])
        return slot

    def _settled_in_empty_slot(self) -> bool:
        spare = next((slot for slot, rows in enumerate(self._rows) if rows == 0), None)
        if spare is None:
            return False
        self._context.settle(spare, 0)
        self._context.clear(spare)
        return True
