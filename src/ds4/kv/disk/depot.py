"""The directory, its index and the catalog as one thing that is opened, kept in step and mended.

Rules of this file:
- Inside `changing` the catalog agrees with the index, and no other process changes either.
- After `changing`, however it ends, the catalog agrees with the index again.
- An index that is damaged as a whole is put aside; the segments then belong to nobody and go.
- Files that somebody deleted or replaced under a running server are noticed before the next change.
"""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress

from ds4.kv.disk.catalog import Catalog, Faults
from ds4.kv.disk.folder import Folder, Unusable
from ds4.kv.disk.index import Index
from ds4.kv.disk.room import Made, Room
from ds4.kv.disk.schema import Damaged, connect, damage_named, put_aside, stamp_of
from ds4.kv.disk.tail import segment_limit
from ds4.observe.records import CheckpointEvicted, LoadFailed, Notice, Observer

INDEX_MARGIN = 64 << 10
"""What one transaction adds to the index and its log, but for large manifests."""

SHRINK_ATTEMPTS = 3
"""Removing entries makes the index's log grow before it gets smaller."""


class Depot:
    """`create`: a missing or damaged index is made new; else it is Unusable. `wall` gives seconds since
    the epoch.

    Opening raises Unusable, OSError and sqlite3.Error.
    """

    def __init__(
        self, folder: Folder, space: int, wall: Callable[[], float], observe: Observer, *, create: bool
    ) -> None:
        self.folder = folder
        self.catalog = Catalog()
        self.limit = segment_limit(space)
        self._wall = wall
        self._observe = observe
        self._create = create
        self._space = space
        self._gone: set[int] = set()
        self._version = (-1, -1)
        self._open()

    def close(self) -> None:
        self.index.close()

    @property
    def bytes_on_disk(self) -> int:
        return self.catalog.ledger.size + self.folder.index_bytes

    def room_for_segments(self, space: int) -> int:
        """What is left for them when the directory may have `space` bytes, at least 0."""
        return max(0, space - self.folder.index_bytes - INDEX_MARGIN)

    def refresh(self) -> None:
        """Takes in what other processes did, if anything. Raises sqlite3.Error and OSError."""
        if self._is_replaced():
            self._reopen()
        self._sync()

    @contextmanager
    def changing(self) -> Iterator[Room]:
        """One transaction. What it evicted and found damaged is said afterwards. Raises as its body does."""
        if self._is_replaced():
            self._reopen()
        with self._changing() as room:
            yield room

    @contextmanager
    def _changing(self) -> Iterator[Room]:
        done = False
        try:
            with self.index.writing():
                self._sync()
                room = Room(self.folder, self.index, self.catalog, self.limit, self._wall())
                yield room
            self._sync()
            done = True
        finally:
            if not done:
                self._forget()
                with suppress(sqlite3.Error):
                    self._sync()
        self._settle(room.made)

    def shrink(self, space: int) -> None:
        """Evicts until the directory has at most `space` bytes. Raises as `changing`, and DoesNotFit."""
        for _ in range(SHRINK_ATTEMPTS):
            if self.bytes_on_disk <= space:
                return
            with self.changing() as room:
                room.make(self.room_for_segments(space))

    def start_anew(self, why: str) -> None:
        """The index turned out to be damaged. Raises as opening does."""
        self.index.close()
        with self.folder.opening():
            if stamp_of(self.folder.index) == self._stamp:
                self._put_aside(why)
        self._open()

    def _open(self) -> None:
        if self._create:
            self.folder.make()
        elif not self.folder.segments.is_dir():
            raise Unusable(f"{self.folder.path} holds no cache of ds4-server")
        with self.folder.opening():
            try:
                self._begin()
            except Damaged as error:
                if not self._create:
                    raise Unusable(f"{self.folder.path}: its index is damaged: {error}") from None
                self._put_aside(str(error))
                self._begin()

    def _begin(self) -> None:
        """Raises Damaged, too."""
        self.index = Index(connect(self.folder, self._space, create=self._create))
        self._stamp = stamp_of(self.folder.index)
        self._forget()
        with ExitStack() as on_failure:
            on_failure.callback(self.index.close)
            with damage_named(), self._changing() as room:
                self._sweep(room)
            on_failure.pop_all()

    def _put_aside(self, why: str) -> None:
        self._observe(Notice(f"the index of the cache is damaged and was put aside: {why}", "warning"))
        put_aside(self.folder)

    def _is_replaced(self) -> bool:
        there = self.folder.segments.is_dir() and self.folder.index_logs[0].exists()
        return not there or stamp_of(self.folder.index) != self._stamp

    def _reopen(self) -> None:
        self.index.close()
        self._open()

    def _forget(self) -> None:
        self.catalog = Catalog()
        self._version = (-1, -1)

    def _sweep(self, room: Room) -> None:
        """What a process that died has left behind, and what somebody took away."""
        known = self.index.segments()
        files = self.folder.segment_files()
        room.made.gone += files.keys() - known.keys()
        for number, size in known.items():
            if files.get(number, 0) > size:
                os.truncate(self.folder.segment(number), size)
            elif files.get(number, 0) < size:
                room.drop_missing(number)

    def _sync(self) -> None:
        # Looked at before reading: what comes in between is read twice, not missed.
        while (version := self.index.version()) != self._version:
            faults = self.catalog.sync(self.index, self._wall())
            if faults:
                with self.index.writing():
                    self._mend(faults)
            self._version = version

    def _mend(self, faults: Faults) -> None:
        """What the index says wrongly is not said again."""
        for number, why in faults.entries.items():
            self._observe(LoadFailed(f"no. {number}", why, quarantined=True))
        self.index.remove(faults.entries)
        for segment in faults.segments:
            for entry in self.catalog.in_segment(segment):
                self.index.remove([entry.number])
                self._observe(LoadFailed(entry.manifest.key, "its chunks are not known any more", True))
            self.index.drop_segment(segment)
            self._gone.add(segment)

    def _settle(self, made: Made) -> None:
        self.folder.remove_segments(self._gone.union(made.gone))
        self._gone.clear()
        for entry, hits, why in made.evicted:
            manifest = entry.manifest
            self._observe(CheckpointEvicted(why, manifest.rows, hits, manifest.size, manifest.key))
        for entry, why in made.damaged:
            self._observe(LoadFailed(entry.manifest.key, why, quarantined=True))
