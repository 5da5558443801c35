"""Small states that deduplicate like real ones, and a vault around a directory."""

import dataclasses
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TypeVar

import numpy as np

from ds4.core.step import Identity, Snapshot, SnapshotKind, Trim
from ds4.core.usage import SaveReason
from ds4.engine.scripted.state import SlotState, layout_for
from ds4.kv.checkpoint import Appeared, Checkpoint, News, Save, Vanished, checkpoint_key
from ds4.kv.disk.chunks import chunk_size
from ds4.kv.disk.folder import Folder
from ds4.kv.disk.index import ModelRow
from ds4.kv.disk.reading import Reader, Unread
from ds4.kv.disk.settings import DiskSettings
from ds4.kv.disk.vault import User, Vault
from ds4.observe.records import Record
from ds4.testing.clock import FakeClock

R = TypeVar("R")
OWNER = Identity("model", "q4", "layout")
LAYOUT = layout_for(Trim.ANY, 0)
ROW = LAYOUT.bytes_per_row
MIB = 1 << 20


@cache
def conversation(name: int, rows: int) -> tuple[int, ...]:
    """Token ids; those of another name differ from the first on."""
    return (name, *(7 * name + row % 311 for row in range(rows - 1)))


@cache
def state(ids: tuple[int, ...]) -> Snapshot:
    slot = SlotState(LAYOUT)
    slot.append(ids)
    return slot.export(SnapshotKind.FULL)


@cache
def save_of(ids: tuple[int, ...], namespace: str = "", snapshot: Snapshot | None = None) -> Save:
    snapshot = snapshot or state(ids)
    rows = np.array(ids, np.int32)
    size = snapshot.size
    key = checkpoint_key(namespace, snapshot.kind, rows)
    return Save(Checkpoint(key, namespace, rows, snapshot.kind, size), snapshot, SaveReason.CONTINUED)


@dataclasses.dataclass
class Bench:
    """One process's view of a directory."""

    path: Path
    clock: FakeClock = dataclasses.field(default_factory=FakeClock)
    owner: Identity = OWNER
    space: int = 64 * MIB
    min_rows: int = 1
    reject_other_quant: bool = False
    write_per_hour: int = 0
    trim: Trim = Trim.ANY
    chunk: int = chunk_size(ROW)
    records: list[Record] = dataclasses.field(default_factory=list)

    def __post_init__(self) -> None:
        self.vault = self.open()

    @property
    def settings(self) -> DiskSettings:
        return DiskSettings(
            self.path, self.space, self.min_rows, self.reject_other_quant, self.write_per_hour
        )

    def open(self) -> Vault:
        user = User(self.owner, ModelRow(self.chunk, any_length=self.trim is Trim.ANY))
        return Vault(self.settings, user, self.clock, self.records.append)

    def reopen(self) -> None:
        self.vault.close()
        self.vault = self.open()

    def put(self, save: Save) -> str:
        self.vault.put(save)
        return save.checkpoint.key

    def read(self, key: str) -> Snapshot | Unread:
        reader = Reader(Folder(self.path), self.owner, any_quant=not self.reject_other_quant)
        return reader.read(key)

    def fetch(self, key: str) -> Snapshot | None:
        """As the store does it: what is damaged is discarded."""
        result = self.read(key)
        if isinstance(result, Snapshot):
            return result
        if result.damaged:
            self.vault.discard(key, result.why, result.number)
        else:
            self.vault.poll()
        return None

    def held(self) -> set[str]:
        """Everything in the catalog."""
        return {entry.manifest.key for entry in self.vault.depot.catalog.entries.values()}

    def segments(self) -> list[Path]:
        return sorted((self.path / "segments").iterdir())

    def of(self, kind: type[R]) -> list[R]:
        return [record for record in self.records if isinstance(record, kind)]


def keys(news: Iterable[News]) -> tuple[set[str], set[str]]:
    """What appeared and what vanished."""
    every = list(news)
    return (
        {one.checkpoint.key for one in every if isinstance(one, Appeared)},
        {one.key for one in every if isinstance(one, Vanished)},
    )
