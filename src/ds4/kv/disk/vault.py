"""The store without threads: every method does its work, disk included, on the calling thread.

Rules of this file:
- The manifests in the index are the only truth. What is in use, what can be freed and what is worth what
  follows from them; nothing else has to be kept in step with them.
- Bytes are on the disk before the manifest that names them, and go after it. So a process that dies leaves
  at worst bytes that nobody names, and the next write or start cuts them off.
- All changes happen inside index transactions that only one process can have. That is also what lets
  several processes append to the same segment.
- A failure changes nothing but what could be reused: it is told, and the next call tries again.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from ds4.core.ports import Clock
from ds4.core.step import Identity
from ds4.kv.checkpoint import News, Save
from ds4.kv.disk.allowance import Allowance
from ds4.kv.disk.chunks import LARGEST, SMALLEST
from ds4.kv.disk.deposit import Cut, Match, cut_snapshot, index_bytes, manifest, match, write
from ds4.kv.disk.depot import Depot
from ds4.kv.disk.folder import Folder, Unusable, size_of
from ds4.kv.disk.index import ModelRow
from ds4.kv.disk.offer import Offer
from ds4.kv.disk.room import DoesNotFit, Room
from ds4.kv.disk.runs import Runs
from ds4.kv.disk.settings import DiskSettings
from ds4.kv.disk.tail import Tail
from ds4.observe.records import LoadFailed, Notice, Observer, Stored, StoreSkipped
from ds4.storage.sqlite_file import is_senseless

TOO_LARGE = "it is larger than --kv-disk-space-mb"
RATE = "--kv-disk-write-mb-per-hour is used up"
THERE = ""


@dataclass(frozen=True, slots=True)
class User:
    """The model whose states are kept: how they are cut, and whether its memory can be cut to any length."""

    identity: Identity
    row: ModelRow


class Vault:
    """Opening raises Unusable, OSError and sqlite3.Error. The other methods raise none of these."""

    def __init__(self, settings: DiskSettings, user: User, clock: Clock, observe: Observer) -> None:
        self._settings = settings
        self._user = user
        self._clock = clock
        self._observe = observe
        self._allowance = Allowance(settings.write_per_hour, clock.now())
        self._offer = Offer(user.identity, settings.min_rows, any_quant=not settings.reject_other_quant)
        self._news: list[News] = []
        self._told_last = ""
        folder = Folder(settings.directory)
        self.depot = Depot(folder, settings.space, clock.wall, observe, create=True)
        self._look()
        skipped = self._offer.skipped(self.depot.catalog.entries.values())
        if skipped:
            told = ", ".join(f"{count} {why}" for why, count in sorted(skipped.items()))
            observe(Notice(f"checkpoints in the cache that are not used: {told}"))
        self.trim()

    def close(self) -> None:
        self.depot.close()

    def take_news(self) -> Sequence[News]:
        news, self._news = self._news, []
        return news

    def may_write(self) -> bool:
        """The write budget is not used up."""
        return self._allowance.allows(1, self._clock.now())

    def poll(self) -> None:
        """Takes in what others did to the directory."""
        with self._told("the cache cannot be read"):
            self.depot.refresh()

    def put(self, save: Save) -> None:
        """Ends in a Stored or a StoreSkipped, or in neither when it is there already."""
        try:
            with self._mended():
                why = self._put(save)
        except DoesNotFit:
            why = TOO_LARGE
        except OSError as error:
            why = error.strerror or str(error)
        except (sqlite3.Error, Unusable) as error:
            why = str(error)
        if why:
            self._observe(StoreSkipped(save.reason, save.checkpoint.rows, why))

    def touch(self, key: str) -> None:
        entry = self._offer.get(key)
        if entry is None:
            return
        with self._told("a use could not be noted"), self.depot.index.writing():
            self.depot.index.touch(entry.number, self._clock.wall())

    def discard(self, key: str, why: str, number: int = 0) -> None:
        """It could not be read, or the engine did not take it: it is not read again, nor is anything that
        needs the same damaged bytes. `number`: only if it is still that one."""
        with self._told("a damaged checkpoint could not be removed"), self.depot.changing() as room:
            entry = self._offer.get(key)
            entry = self.depot.catalog.entries.get(number or (entry.number if entry else 0))
            if entry is not None:
                room.quarantine(entry, why)

    def withdraw(self, key: str, why: str, number: int) -> None:
        """It cannot be read now, though it may be sound: this process does not offer it any more."""
        self._offer.hide(number)
        self._observe(LoadFailed(key, why, quarantined=False))
        self._look()

    def trim(self) -> None:
        """Down to the space that is allowed."""
        with self._told("no room could be made in the cache"):
            self.depot.shrink(self._settings.space)

    def _put(self, save: Save) -> str:
        """Why it was not written; empty when it is there."""
        started = self._clock.now()
        cut = cut_snapshot(save, self._row().chunk)
        with self.depot.changing() as room:
            if self._is_there(save):
                return THERE
            found = self._match(cut, room)
            why = self._why_not(save, found)
            if why:
                return why
            self._make_room(room, save, found)
        self._allowance.spend(room.made.copied, self._clock.now())
        with self.depot.changing() as room:
            found = self._match(cut, room)
            pieces = write(cut, found, Tail(self.depot.folder, self.depot.index, self.depot.limit))
            self._enter(save, cut, pieces)
        self._allowance.spend(found.new_bytes, self._clock.now())
        checkpoint = save.checkpoint
        seconds = self._clock.now() - started
        self._observe(
            Stored(
                save.reason,
                checkpoint.rows,
                save.trimmed,
                checkpoint.key,
                cut.chunks.size,
                found.new_bytes,
                seconds,
            )
        )
        return THERE

    def _is_there(self, save: Save) -> bool:
        entry = self._offer.get(save.checkpoint.key)
        if entry is None or entry.number not in self.depot.catalog.entries:
            return False
        if entry.manifest.owner.quant != self._user.identity.quant:
            return False
        self.depot.index.refresh(entry.number, self._clock.wall())
        return True

    def _match(self, cut: Cut, room: Room) -> Match:
        """What is there already, and its files with it."""
        ledger = self.depot.catalog.ledger
        found = match(cut.chunks, ledger)
        short = [
            number
            for number in np.unique(found.shared["segment"]).tolist()
            if (size_of(self.depot.folder.segment(number)) or 0) < ledger.segments[number].size
        ]
        for number in short:
            room.drop_missing(number)
        return match(cut.chunks, ledger) if short else found

    def _why_not(self, save: Save, found: Match) -> str:
        ledger = self.depot.catalog.ledger
        shared = sum(
            int(ledger.segments[number].chunks.lengths[which].sum(dtype=np.int64))
            for number, which in ledger.chunks_in(found.shared)
        )
        room = self.depot.room_for_segments(self._settings.space - index_bytes(save, found))
        if found.new_bytes + shared > room:
            return TOO_LARGE
        return "" if self._allowance.allows(found.new_bytes, self._clock.now()) else RATE

    def _make_room(self, room: Room, save: Save, found: Match) -> None:
        needed = found.new_bytes + index_bytes(save, found)
        with self.depot.catalog.pinned(found.shared):
            room.make(self.depot.room_for_segments(self._settings.space - needed))

    def _enter(self, save: Save, cut: Cut, pieces: Runs) -> None:
        index, now, owner = self.depot.index, self._clock.wall(), self._user.identity
        if (owner.model, owner.layout) not in self.depot.catalog.models:
            index.add_model(owner, self._user.row)
        replaced = self._offer.get(save.checkpoint.key)
        if replaced is not None:
            index.remove([replaced.number])
        index.add(manifest(save, owner, cut, pieces, now), 0, now)

    def _row(self) -> ModelRow:
        """The directory's word counts: other chunks would share nothing with those that are there."""
        owner = self._user.identity
        row = self.depot.catalog.models.get((owner.model, owner.layout), self._user.row)
        return row if SMALLEST <= row.chunk <= LARGEST else self._user.row

    def _look(self) -> None:
        self._news += self._offer.update(self.depot.catalog.entries.values())

    @contextmanager
    def _told(self, what: str) -> Iterator[None]:
        """A trouble that lasts is said once."""
        try:
            with self._mended():
                yield
            self._told_last = ""
        except (OSError, sqlite3.Error, Unusable, DoesNotFit) as error:
            text = f"{what}: {error}"
            if text != self._told_last:
                self._observe(Notice(text, "warning"))
            self._told_last = text

    @contextmanager
    def _mended(self) -> Iterator[None]:
        """An index that turns out to be damaged is begun anew. The news are up to date afterwards."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            if is_senseless(error) or not isinstance(error, sqlite3.OperationalError):
                self.depot.start_anew(str(error))
            raise
        finally:
            self._look()
