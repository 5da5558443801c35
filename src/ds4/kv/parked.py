"""Snapshots in RAM, within a budget. Mutable; belongs to the engine thread.

Rule: a longer state of a conversation inherits the hits of the shorter ones it contains, and they count as
unused from then on. Else what was used once stays, and what was kept last, for the next turn, has to leave.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ds4.core.ports import Clock
from ds4.core.step import Snapshot
from ds4.kv.checkpoint import Checkpoint
from ds4.kv.value import Worth, victims


@dataclass(frozen=True, slots=True)
class _Parked:
    checkpoint: Checkpoint
    snapshot: Snapshot
    worth: Worth


class ParkedStates:
    """`budget` and `used` are bytes of snapshots."""

    def __init__(self, budget: int, clock: Clock) -> None:
        self.budget = budget
        self.used = 0
        self._clock = clock
        self._states: dict[str, _Parked] = {}

    def __len__(self) -> int:
        return len(self._states)

    def __contains__(self, key: str) -> bool:
        return key in self._states

    def checkpoints(self) -> tuple[Checkpoint, ...]:
        return tuple(state.checkpoint for state in self._states.values())

    def fits(self, size: int) -> bool:
        return size <= self.budget

    def put(
        self,
        checkpoint: Checkpoint,
        snapshot: Snapshot,
        contains: Sequence[str] = (),
        *,
        replaces: bool = False,
    ) -> tuple[Checkpoint, ...] | None:
        """Keeps `snapshot` and gives back what had to leave; None when it does not fit at all.

        `contains` are keys of shorter states of the same rows; with `replaces` they leave first.
        """
        if not self.fits(checkpoint.size):
            return None
        self.drop(checkpoint.key)
        hits = max(map(self._bequeath, contains), default=0)
        now = self._clock.now()
        gone = self._take_out(contains) if replaces else ()
        worths = (state.worth for state in self._states.values())
        excess = self.used + checkpoint.size - self.budget
        gone += self._take_out([worth.key for worth in victims(worths, excess, now)])
        worth = Worth(checkpoint.key, checkpoint.rows, checkpoint.size, hits, now)
        self._states[checkpoint.key] = _Parked(checkpoint, snapshot, worth)
        self.used += checkpoint.size
        return gone

    def get(self, key: str) -> Snapshot | None:
        """Counts as a hit."""
        state = self._states.get(key)
        if state is None:
            return None
        worth = replace(state.worth, hits=state.worth.hits + 1, used=self._clock.now())
        self._states[key] = replace(state, worth=worth)
        return state.snapshot

    def peek(self, key: str) -> Snapshot | None:
        state = self._states.get(key)
        return None if state is None else state.snapshot

    def _take_out(self, keys: Iterable[str]) -> tuple[Checkpoint, ...]:
        gone = tuple(self._states[key].checkpoint for key in keys if key in self._states)
        for checkpoint in gone:
            self.drop(checkpoint.key)
        return gone

    def _bequeath(self, key: str) -> int:
        """Gives its hits away. Unknown keys have none."""
        state = self._states.get(key)
        if state is None:
            return 0
        self._states[key] = replace(state, worth=replace(state.worth, hits=0))
        return state.worth.hits

    def drop(self, key: str) -> None:
        state = self._states.pop(key, None)
        if state is not None:
            self.used -= state.checkpoint.size
