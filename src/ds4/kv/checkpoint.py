"""Kept states: what a checkpoint is, and the seam to where checkpoints outlive the process."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Protocol

import numpy as np

from ds4.core.plan import Ids
from ds4.core.step import Snapshot, SnapshotKind
from ds4.core.usage import SaveReason

KEY_BYTES = 16


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """A state of `ids.size` rows that is kept somewhere; `size` is its snapshot's bytes.

    A PARTIAL one goes on top of any memory that holds at least its rows.
    """

    key: str
    namespace: str
    ids: Ids
    kind: SnapshotKind
    size: int

    @property
    def rows(self) -> int:
        return int(self.ids.size)


def checkpoint_key(namespace: str, kind: SnapshotKind, ids: Ids) -> str:
    """The same rows of the same caller have the same key, in every run."""
    digest = blake2b(f"{namespace}\0{kind}\0".encode(), digest_size=KEY_BYTES)
    digest.update(np.ascontiguousarray(ids, dtype="<i4").tobytes())
    return digest.hexdigest()


@dataclass(frozen=True, slots=True, eq=False)
class Save:
    """A snapshot to be written. `trimmed` rows of the prompt behind it are not in it."""

    checkpoint: Checkpoint
    snapshot: Snapshot
    reason: SaveReason
    trimmed: int = 0


@dataclass(frozen=True, slots=True)
class Appeared:
    """A checkpoint can be fetched from now on: written by this process or another.

    `other_quant` names its quantisation where that is not this model's.
    """

    checkpoint: Checkpoint
    other_quant: str = ""


@dataclass(frozen=True, slots=True)
class Vanished:
    """Evicted, quarantined or deleted."""

    key: str


@dataclass(frozen=True, slots=True)
class Fetched:
    """`snapshot` is None when it could not be read whole; then Vanished comes too."""

    key: str
    snapshot: Snapshot | None
    seconds: float


News = Appeared | Vanished | Fetched


class CheckpointStore(Protocol):
    """Checkpoints that outlive the process. Called by the engine thread; no method waits for a disk."""

    def save(self, save: Save) -> bool:
        """Queues a write; False when there is no room in the queue or in the write budget."""

    def fetch(self, key: str) -> None:
        """Starts a read, which ends in a Fetched."""

    def news(self) -> Sequence[News]:
        """What happened since the last call, in order. The first call gives all that is there."""

    def on_news(self, wake: Callable[[], None]) -> None:
        """`wake` is called, from any thread, when there is something to read in `news`."""

    def touch(self, key: str) -> None:
        """Notes a use."""

    def discard(self, key: str, why: str) -> None:
        """What was read could not be loaded: it is put aside and never offered again."""

    def flush(self) -> None:
        """Waits until what is queued is written. For the end of the process."""

    def close(self) -> None:
        """Writes what is queued, then stops. This one waits."""
