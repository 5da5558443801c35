"""Saves without end into one directory: memory stays flat, and the index is the directory."""

import gc
import os
import random
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from ds4.core.step import Identity, Snapshot, SnapshotKind, Trim
from ds4.core.usage import SaveReason
from ds4.engine.scripted.state import SlotState, layout_for
from ds4.kv.checkpoint import Checkpoint, Save, checkpoint_key
from ds4.kv.disk.chunks import chunk_size
from ds4.kv.disk.folder import Folder
from ds4.kv.disk.index import ModelRow
from ds4.kv.disk.reading import Reader
from ds4.kv.disk.settings import DiskSettings
from ds4.kv.disk.vault import User, Vault
from ds4.observe.records import CheckpointEvicted, Record, Stored
from ds4.testing.clock import FakeClock
from thorough import THOROUGH

SAVES = int(os.environ.get("SOAK_REQUESTS", "150" if THOROUGH else "80"))
SPACE = 1 << 20
OWNER = Identity("model", "quant", "layout")
LAYOUT = layout_for(Trim.ANY, 0)
FLAT = 1 << 20
"""Bytes by which Python's memory may differ between the half and the end."""


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)


def saves(count: int) -> Iterator[Save]:
    """Conversations that grow, end, and begin anew."""
    dice = random.Random(4)
    slot = SlotState(LAYOUT)
    for _ in range(count):
        if dice.random() < 0.2 or len(slot.ids) > 1500:
            slot.clear()
        slot.append([dice.randrange(1000) for _ in range(dice.randrange(20, 200))])
        ids = np.array(slot.ids, np.int32)
        snapshot = slot.export(SnapshotKind.FULL)
        key = checkpoint_key("", SnapshotKind.FULL, ids)
        checkpoint = Checkpoint(key, "", ids, SnapshotKind.FULL, len(snapshot.parts[0].data))
        yield Save(checkpoint, snapshot, SaveReason.CONTINUED)


def used() -> int:
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


def test_saves_without_end(tmp_path: Path) -> None:
    counts = {Stored: 0, CheckpointEvicted: 0}

    def observe(record: Record) -> None:
        assert type(record) in counts, record
        counts[type(record)] += 1

    settings = DiskSettings(tmp_path / "c", space=SPACE)
    user = User(OWNER, ModelRow(chunk_size(LAYOUT.bytes_per_row), any_length=True))
    vault = Vault(settings, user, FakeClock(), observe)
    tracemalloc.start()
    try:
        at_half = 0
        for done, save in enumerate(saves(SAVES)):
            vault.put(save)
            vault.take_news()
            if done == SAVES // 2:
                at_half = used()
        grown = used() - at_half
    finally:
        tracemalloc.stop()
    assert grown < FLAT
    assert counts[Stored] == SAVES
    catalog, folder = vault.depot.catalog, Folder(tmp_path / "c")
    assert len(catalog.entries) == counts[Stored] - counts[CheckpointEvicted] > 0
    sizes = {number: segment.size for number, segment in catalog.ledger.segments.items()}
    assert folder.segment_files() == sizes
    assert vault.depot.bytes_on_disk <= SPACE
    reader = Reader(folder, OWNER, any_quant=True)
    for entry in catalog.entries.values():
        assert isinstance(reader.read(entry.manifest.key), Snapshot)
    vault.close()
