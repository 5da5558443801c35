"""Looking after a directory by hand, while servers may be using it: survey, verify, prune, clear.

Raises OSError, sqlite3.Error and Unusable.
"""

import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ds4.core.step import SnapshotKind
from ds4.kv.disk.damage import Inspector
from ds4.kv.disk.depot import Depot
from ds4.kv.disk.folder import Folder, Unusable
from ds4.kv.disk.schema import is_ours
from ds4.observe.records import Observer

UNUSED = "unused for long"
CLEARED = "cleared by hand"
HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class Row:
    """One checkpoint. `unique` bytes would be free without it; `idle` is seconds since its last use.
    `value` is rows that would be lost without it, per byte."""

    key: str
    model: str
    quant: str
    reason: str
    kind: SnapshotKind
    rows: int
    size: int
    unique: int
    hits: int
    idle: float
    value: float


@dataclass(frozen=True, slots=True)
class Survey:
    """Most valuable first. Bytes: `held` by all checkpoints as if each were alone, `live` after sharing,
    `segments` and `index` on disk."""

    rows: tuple[Row, ...]
    held: int
    live: int
    segments: int
    index: int


def open_depot(directory: Path, observe: Observer, space: int = 0) -> Depot:
    return Depot(Folder(directory), space, time.time, observe, create=False)


def survey(depot: Depot, now: float) -> Survey:
    catalog = depot.catalog
    worths = catalog.worths(now)
    rows = []
    for number, entry in catalog.entries.items():
        manifest, (hits, last_used) = entry.manifest, catalog.uses[number]
        rows.append(
            Row(
                key=manifest.key,
                model=manifest.owner.model,
                quant=manifest.owner.quant,
                reason=manifest.reason,
                kind=manifest.kind,
                rows=manifest.rows,
                size=manifest.size,
                unique=worths[number].freed,
                hits=hits,
                idle=max(0.0, now - last_used),
                value=worths[number].value,
            )
        )
    rows.sort(key=lambda row: (-row.value, row.idle))
    return Survey(
        rows=tuple(rows),
        held=sum(row.size for row in rows),
        live=sum(segment.live for segment in catalog.ledger.segments.values()),
        segments=catalog.ledger.size,
        index=depot.folder.index_bytes,
    )


def verify(depot: Depot) -> int:
    """Reads every chunk in use. What is damaged is put aside and told to the observer; checkpoints lost.

    One transaction per segment: servers go on in between.
    """
    before = len(depot.catalog.entries)
    for number in sorted(depot.catalog.ledger.segments):
        with depot.changing() as room:
            if number in depot.catalog.ledger.segments:
                room.drop_missing(number)
            if number in depot.catalog.ledger.segments:
                room.drop_damaged(Inspector(depot.folder, depot.catalog.ledger).damaged(number))
    return before - len(depot.catalog.entries)


def prune_to(depot: Depot, space: int) -> None:
    """What is worth least goes until the directory has at most `space` bytes."""
    depot.shrink(space)


def prune_unused(depot: Depot, hours: float, now: float) -> None:
    """What was not used for so long goes."""
    with depot.changing() as room:
        entries, uses = depot.catalog.entries, depot.catalog.uses
        old = [entry for number, entry in entries.items() if now - uses[number][1] > hours * HOUR]
        room.evict(old, UNUSED)
        room.tidy()


def clear(directory: Path, observe: Observer) -> None:
    """Everything goes. Raises Unusable and touches nothing where the index is not ours."""
    folder = Folder(directory)
    if not is_ours(folder.index):
        raise Unusable(f"{directory} holds no cache of ds4-server")
    try:
        depot = open_depot(directory, observe)
    except Unusable:
        # Ours, but of another schema or damaged.
        folder.remove_index()
        with suppress(FileNotFoundError):
            folder.remove_segments(folder.segment_files())
        return
    try:
        with depot.changing() as room:
            room.evict(list(depot.catalog.entries.values()), CLEARED)
            room.make(0)
        folder.damaged.unlink(missing_ok=True)
    finally:
        depot.close()
