"""An engine that remembers which steps made each slot's memory, and a way to take the same steps again."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ds4.core.ports import Allowed, Logits, Mark, Sampler
from ds4.core.sampling import Sampled, Sampling
from ds4.core.step import Frontier, MemoryUse, ModelInfo, Snapshot, SnapshotKind, StepPlan, StepResult, Work
from ds4.engine.llama import LlamaEngine, LlamaTokenizer

Row = NDArray[np.float32]


class Watched:
    """A sampler that keeps the logits it was shown."""

    def __init__(self, inner: Sampler) -> None:
        self._inner = inner
        self.row: Row = np.empty(0, np.float32)

    def sample(self, logits: Logits, *, greedy: bool = False, allowed: Allowed | None = None) -> Sampled:
        self.row = logits.copy()
        return self._inner.sample(logits, greedy=greedy, allowed=allowed)

    def accept(self, token: int) -> None:
        self._inner.accept(token)

    def mark(self) -> Mark:
        return self._inner.mark()

    def rollback(self, mark: Mark) -> None:
        self._inner.rollback(mark)


@dataclass(frozen=True)
class Ran:
    """Rows of one step, and the logits of the last where they were asked for."""

    rows: NDArray[np.int32]
    logits: Row | None


@dataclass(frozen=True)
class Cut:
    """The slot was trimmed to `rows`."""

    rows: int


History = tuple[Ran | Cut, ...]


class Remembering:
    """Implements core.ports.Engine over a LlamaEngine, with every slot empty. Says that it cannot batch, so
    that it is stepped in order."""

    def __init__(self, engine: LlamaEngine) -> None:
        self._engine = engine
        self.info: ModelInfo = engine.info
        self.caps = replace(engine.caps, native_batch=False)
        self.tokenizer: LlamaTokenizer = engine.tokenizer
        self._now: list[list[Ran | Cut]] = [[] for _ in range(engine.info.n_slots)]
        self._past: list[History] = []
        self._mixed = [False] * engine.info.n_slots
        self._saved: list[tuple[Snapshot, History, bool]] = []
        for slot in range(engine.info.n_slots):
            engine.clear(slot)

    def histories(self) -> list[History]:
        """Of every memory there was, from its first row on."""
        now = zip(self._now, self._mixed, strict=True)
        return [*self._past, *(tuple(events) for events, mixed in now if events and not mixed)]

    def sampler(self, sampling: Sampling, prompt: Sequence[int]) -> Sampler:
        return Watched(self._engine.sampler(sampling, prompt))

    def step(self, plan: StepPlan) -> StepResult:
        result = self._engine.step(plan)
        for work in plan.works:
            logits = work.sampler.row if isinstance(work.sampler, Watched) else None
            self._now[work.slot].append(Ran(np.asarray(work.rows, np.int32), logits))
        return result

    def trim(self, slot: int, rows: int) -> bool:
        done = self._engine.trim(slot, rows)
        if done:
            self._now[slot].append(Cut(rows))
        return done

    def clear(self, slot: int) -> None:
        self._engine.clear(slot)
        self._remember(slot)
        self._now[slot], self._mixed[slot] = [], False

    def copy(self, source: int, target: int) -> None:
        self.clear(target)
        self._engine.copy(source, target)
        self._now[target], self._mixed[target] = list(self._now[source]), self._mixed[source]

    def export(self, slot: int, kind: SnapshotKind) -> Snapshot:
        snapshot = self._engine.export(slot, kind)
        self._saved.append((snapshot, tuple(self._now[slot]), self._mixed[slot]))
        return snapshot

    def load(self, slot: int, snapshot: Snapshot) -> None:
        """From now on the slot's memory is the saved one, whatever was in it.

        But a PARTIAL one only brings what cannot be rolled back. The rest is still the slot's: where that
        was made by other steps, no steps alone make the same memory again.
        """
        self._engine.load(slot, snapshot)
        _, history, mixed = next(saved for saved in self._saved if saved[0] == snapshot)
        if snapshot.kind is SnapshotKind.PARTIAL:
            mixed |= self._mixed[slot] or not _goes_on(history, self._now[slot])
        self._remember(slot)
        self._now[slot], self._mixed[slot] = list(history), mixed

    def _remember(self, slot: int) -> None:
        if self._now[slot] and not self._mixed[slot]:
            self._past.append(tuple(self._now[slot]))

    def frontier(self, slot: int) -> Frontier:
        return self._engine.frontier(slot)

    def memory(self) -> MemoryUse:
        return self._engine.memory()

    def close(self) -> None:
        self._engine.close()


def _goes_on(history: Sequence[Ran | Cut], now: Sequence[Ran | Cut]) -> bool:
    """Whether `now` began with the steps of `history`."""
    return _cuts(now)[: len(history)] == _cuts(history)


def _cuts(history: Sequence[Ran | Cut]) -> list[tuple[bool, int]]:
    return [(True, len(event.rows)) if isinstance(event, Ran) else (False, event.rows) for event in history]


def same_again(engine: LlamaEngine, history: History) -> bool:
    """Whether slot 0 alone, emptied first, gives the same logits bit for bit in the same steps."""
    engine.clear(0)
    return all(_again(engine, event) for event in history)


def _again(engine: LlamaEngine, event: Ran | Cut) -> bool:
    if isinstance(event, Cut):
        return engine.trim(0, event.rows)
    watched = Watched(engine.sampler(Sampling(temperature=0), ()))
    pos = engine.frontier(0).pos_max + 1
    engine.step(StepPlan((Work(0, pos, event.rows, watched),)))
    return event.logits is None or np.array_equal(watched.row, event.logits)
