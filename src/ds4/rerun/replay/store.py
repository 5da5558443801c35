"""The recorded checkpoint store, whose checkpoints have numbers instead of keys; and the recorded rates."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ds4.core.plan import Ids
from ds4.core.step import SnapshotKind
from ds4.kv.checkpoint import Appeared, Checkpoint, Fetched, News, Save, Vanished, checkpoint_key
from ds4.rerun.replay.engine import recorded_snapshot
from ds4.rerun.replay.script import Script
from ds4.schedule.rates import Prices, Rates


class RecordedStore:
    """`kv.checkpoint.CheckpointStore` of a trace."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._known: dict[int, Checkpoint] = {}

    def save(self, save: Save) -> bool:
        _, number, *_, taken = self._script.called("save")
        self._known[number] = save.checkpoint
        return bool(taken)

    def fetch(self, key: str) -> None:  # noqa: ARG002
        self._script.called("fetch")

    def news(self) -> Sequence[News]:
        if not self._script.store or self._script.store[0][0] != "news":
            return ()
        return [self._news(*words) for words in self._script.called("news")[1]]

    def on_news(self, wake: Callable[[], None]) -> None:
        """Turns come when the trace says so."""

    def touch(self, key: str) -> None:
        pass

    def discard(self, key: str, why: str) -> None:  # noqa: ARG002
        self._script.called("discard")

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass

    def _news(self, what: str, number: int, *words: Any) -> News:
        match what:
            case "appeared":
                return self._appeared(number, *words)
            case "vanished":
                return Vanished(self._known[number].key)
            case _:
                size, rows, positions, seconds = words
                made = self._known[number]
                state = None if size < 0 else recorded_snapshot(made.kind, rows, positions, size)
                return Fetched(made.key, state, seconds)

    def _appeared(
        self, number: int, caller: str, kind: str, ids: Any, size: int, other_quant: str
    ) -> Appeared:
        if ids is not None:
            rows, of = self._rows(ids), SnapshotKind(kind)
            self._known[number] = Checkpoint(checkpoint_key(caller, of, rows), caller, rows, of, size)
        return Appeared(self._known[number], other_quant)

    def _rows(self, ids: Any) -> Ids:
        """As `record.shared_rows` tells them."""
        match ids:
            case {"like": number, "rows": common, "then": then}:
                return np.concatenate([self._known[number].ids[:common], np.asarray(then, np.int32)])
        return np.asarray(ids, np.int32)


class RecordedRates(Rates):
    """What the decisions were made with. Where a decision asks more often than then, the last ones again."""

    def __init__(self, script: Script) -> None:
        super().__init__()
        self._script = script
        self._last: Prices | None = None

    @property
    def prefill(self) -> float | None:
        return self._script.prefill

    def prices(self) -> Prices:
        if self._script.prices:
            self._last = Prices(*self._script.prices.popleft())
        return self._last or super().prices()
