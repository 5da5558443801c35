"""Moves states between slots and what is kept: exports, loads, copies, rewinds.

Rules:
- An export happens on the engine thread and is a copy of memory; writing it to disk happens elsewhere.
- A failed export loses nothing but the chance to keep; a failed load discards what was kept, for good.
- What is to be loaded is taken in hand before anything is parked: parking may push it out of RAM.
- Whole states are kept with the marks on their rows, so that they can be gone back in after a restart.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ds4.core.errors import EngineError
from ds4.core.ports import Clock, Engine
from ds4.core.step import Snapshot, SnapshotKind, Trim
from ds4.core.usage import Saved, SaveReason, SaveTier
from ds4.kv.checkpoint import Checkpoint, Fetched, Save, checkpoint_key
from ds4.kv.policy import Knobs
from ds4.observe.records import CheckpointHit, Observer, StoreSkipped
from ds4.schedule.place import Base, Kind
from ds4.schedule.rates import Move, Rates
from ds4.schedule.slots import Slot
from ds4.schedule.stock import Stock


class Refused(EngineError):
    """What a request was to begin with cannot be had; another way must be found."""


@dataclass(frozen=True, slots=True)
class Begun:
    """What the beginning took: bytes restored, and the seconds for it, reading from disk included.

    `saved` is what was kept of the slot before.
    """

    restored: int = 0
    seconds: float = 0.0
    saved: tuple[Saved, ...] = ()


@dataclass(frozen=True, slots=True)
class _Taken:
    """A kept state of `rows` rows, to be loaded; `fetched` when it was read from disk for this."""

    key: str
    rows: int
    snapshot: Snapshot | None
    fetched: Fetched | None


class Keeper:
    def __init__(
        self, engine: Engine, stock: Stock, rates: Rates, clock: Clock, knobs: Knobs, observe: Observer
    ) -> None:
        self._engine = engine
        self._stock = stock
        self._rates = rates
        self._clock = clock
        self._knobs = knobs
        self._observe = observe

    def keepable(self, rows: int, size: int) -> bool:
        return self._stock.can_keep(SnapshotKind.FULL, size) or self._for_disk(rows)

    def save(self, slot: Slot, reason: SaveReason, trimmed: int = 0) -> tuple[Saved, ...]:
        """Keeps the whole of a slot that goes on. A new beginning stays in RAM too, for others that share it,
        where no longer state can be cut back to it."""
        ram = reason is SaveReason.COLD and self._engine.caps.trim is not Trim.ANY
        return self._keep_whole(slot, reason, ram=ram, trimmed=trimmed)

    def mark(self, slot: Slot) -> tuple[Saved, ...]:
        """Keeps what is needed to come back to this row; nothing where the memory itself can be cut."""
        if self._engine.caps.trim is Trim.ANY or not self._stock.can_keep(SnapshotKind.PARTIAL, 1):
            return ()
        checkpoint = _checkpoint(slot, SnapshotKind.PARTIAL)
        if self._stock.where(checkpoint.key) is Kind.RAM:
            return ()
        snapshot = self._export(slot, SnapshotKind.PARTIAL, SaveReason.BOUNDARY)
        if snapshot is None or not self._stock.keep(replace(checkpoint, size=snapshot.size), snapshot):
            return ()
        return (Saved(SaveReason.BOUNDARY, SaveTier.RAM, checkpoint.rows, snapshot.size),)

    def begin(self, slot: Slot, base: Base | None, *, park: bool = False) -> Begun:
        """Makes the slot's memory hold what `base` offers; with `park`, keeps first what it holds.

        Raises Refused; the slot is then empty.
        """
        whole = self._take(base.key, base.held) if base and base.key else None
        mark = self._take(base.reuse.mark.key, base.reuse.mark.rows) if base and base.reuse.mark else None
        saved = self._keep_whole(slot, SaveReason.EVICT, ram=True) if park else ()
        if base is None:
            self._engine.clear(slot.index)
            return Begun(saved=saved)
        started = self._clock.now()
        try:
            fetched = self._bring(slot, base, whole)
            size, more = self._rewind(slot, base, mark)
        except EngineError as error:
            self._engine.clear(slot.index)
            raise Refused(error.message) from error
        moved = size + (base.size if base.kind is not Kind.SLOT else 0)
        seconds = self._clock.now() - started + fetched + more
        return Begun(moved, seconds, saved) if moved else Begun(saved=saved)

    def persist(self, slots: Iterable[Slot]) -> None:
        """Writes whatever is not on disk yet, before the process ends."""
        if not self._stock.writes:
            return
        for slot in slots:
            self._keep_whole(slot, SaveReason.SHUTDOWN, ram=False)
        for checkpoint, snapshot in self._stock.parked():
            if self._for_disk(checkpoint.rows) and not self._stock.on_disk(checkpoint.key):
                self._write(checkpoint, snapshot, SaveReason.SHUTDOWN)

    def _for_disk(self, rows: int) -> bool:
        return self._stock.writes and rows >= self._knobs.min_tokens

    def _keep_whole(
        self, slot: Slot, reason: SaveReason, *, ram: bool, trimmed: int = 0
    ) -> tuple[Saved, ...]:
        """On disk, where there is one, and with `ram` in RAM too; nothing where it is kept already."""
        ram = ram and self._stock.can_keep(SnapshotKind.FULL, 1)
        disk = self._for_disk(len(slot.rows))
        if not ram and not disk:
            return ()
        checkpoint = _checkpoint(slot, SnapshotKind.FULL)
        ram = ram and self._stock.where(checkpoint.key) is not Kind.RAM
        disk = disk and not self._stock.on_disk(checkpoint.key)
        if not ram and not disk:
            return ()
        snapshot = self._export(slot, SnapshotKind.FULL, reason)
        if snapshot is None:
            return ()
        checkpoint = replace(checkpoint, size=snapshot.size)
        tiers = []
        if ram and self._stock.keep(checkpoint, snapshot, replaces=self._engine.caps.trim is Trim.ANY):
            tiers.append(SaveTier.RAM)
        if disk and self._write(checkpoint, snapshot, reason, trimmed):
            tiers.append(SaveTier.DISK)
            self._write_marks(checkpoint)
        return tuple(Saved(reason, tier, checkpoint.rows, checkpoint.size) for tier in tiers)

    def _write_marks(self, whole: Checkpoint) -> None:
        for mark in self._stock.find(whole.namespace, whole.ids).within:
            partial = mark.kind is SnapshotKind.PARTIAL
            if partial and self._for_disk(mark.rows) and not self._stock.on_disk(mark.key):
                snapshot = self._stock.snapshot(mark.key)
                if snapshot is not None:
                    self._write(mark, snapshot, SaveReason.BOUNDARY)

    def _write(
        self, checkpoint: Checkpoint, snapshot: Snapshot, reason: SaveReason, trimmed: int = 0
    ) -> bool:
        save = Save(checkpoint, snapshot, reason, trimmed)
        return self._stock.write(save, wait=reason is SaveReason.SHUTDOWN)

    def _export(self, slot: Slot, kind: SnapshotKind, reason: SaveReason) -> Snapshot | None:
        started = self._clock.now()
        try:
            snapshot = self._engine.export(slot.index, kind)
        except EngineError as error:
            self._observe(StoreSkipped(reason, len(slot.rows), error.message))
            return None
        self._rates.moved(Move.EXPORT, snapshot.size, self._clock.now() - started)
        return snapshot

    def _take(self, key: str, rows: int) -> _Taken:
        return _Taken(key, rows, self._stock.snapshot(key), self._stock.fetched(key))

    def _bring(self, slot: Slot, base: Base, whole: _Taken | None) -> float:
        """Puts the whole base into the slot; the seconds that reading it took before."""
        if base.slot == slot.index:
            return 0.0
        started = self._clock.now()
        if base.kind is Kind.SLOT:
            self._engine.copy(base.slot, slot.index)
            self._rates.moved(Move.COPY, base.size, self._clock.now() - started)
            return 0.0
        return self._load(slot, whole)

    def _rewind(self, slot: Slot, base: Base, mark: _Taken | None) -> tuple[int, float]:
        """Cuts the slot to the rows that are reused: bytes of the mark it took, seconds of its read."""
        held, rows = base.held, base.reuse.rows
        if base.reuse.mark is not None:
            return base.reuse.mark.size, self._load(slot, mark)
        if rows < held and not self._engine.trim(slot.index, rows):
            raise EngineError(f"slot {slot.index} could not be cut from {held} to {rows} rows")
        return 0, 0.0

    def _load(self, slot: Slot, taken: _Taken | None) -> float:
        if taken is None or taken.snapshot is None:
            raise EngineError("the kept state is gone")
        snapshot, fetched, size = taken.snapshot, taken.fetched, taken.snapshot.size
        started = self._clock.now()
        try:
            if snapshot.rows != taken.rows:
                raise EngineError(f"a state of {snapshot.rows} rows stands for one of {taken.rows}")
            self._engine.load(slot.index, snapshot)
        except EngineError as error:
            self._stock.discard(taken.key, error.message)
            raise
        seconds = self._clock.now() - started
        self._rates.moved(Move.LOAD, size, seconds)
        if fetched is None:
            return 0.0
        quant = self._stock.other_quant(taken.key) or self._engine.info.identity.quant
        self._observe(CheckpointHit(snapshot.rows, taken.key, quant, fetched.seconds + seconds, size))
        return fetched.seconds


def _checkpoint(slot: Slot, kind: SnapshotKind) -> Checkpoint:
    """Of all the slot's rows; its size is not known yet."""
    ids = slot.rows.copy()
    return Checkpoint(checkpoint_key(slot.namespace, kind, ids), slot.namespace, ids, kind, 0)
