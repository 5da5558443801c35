"""Making room: which checkpoint goes, and how its bytes are given back.

Rules of this file:
- Bytes of a segment come back only when the whole segment goes. One without users is deleted; one that is
  mostly unused is compacted: what is in use is copied to the end of another, then it goes.
- At most as much is copied as is freed, unless nothing is left that could be evicted instead.
- What is copied is checked on the way. A chunk that is damaged takes its checkpoints with it.
- All this happens inside one index transaction, on the catalog and the index alike. The files of the
  segments that went are removed by the caller after its end.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from ds4.kv.disk.catalog import Catalog
from ds4.kv.disk.damage import Inspector
from ds4.kv.disk.folder import Folder, read_at, size_of
from ds4.kv.disk.index import Index
from ds4.kv.disk.ledger import Segment
from ds4.kv.disk.manifest import Entry, Manifest, Part
from ds4.kv.disk.runs import Offsets, Runs, by_segment, merged, runs
from ds4.kv.disk.tail import Tail, views_of

WORTH_COMPACTING = 0.5
"""A segment of which less than this is in use."""


SPACE = "disk-cache-full"


class DoesNotFit(Exception):
    """Not even alone."""


@dataclass(slots=True, eq=False)
class Made:
    """What it took. Evicted ones with their hits and why, damaged ones with why. `gone` are segments;
    `copied` bytes were written by compacting."""

    evicted: list[tuple[Entry, int, str]] = field(default_factory=list)
    damaged: list[tuple[Entry, str]] = field(default_factory=list)
    gone: list[int] = field(default_factory=list)
    copied: int = 0


class Room:
    """One attempt, inside a transaction of `index` with which `catalog` agrees."""

    def __init__(self, folder: Folder, index: Index, catalog: Catalog, limit: int, now: float) -> None:
        self._folder = folder
        self._index = index
        self._catalog = catalog
        self._limit = limit
        self._now = now
        self.made = Made()

    def make(self, allowed: int) -> None:
        """Until all segments together have `allowed` bytes. Raises DoesNotFit, OSError and sqlite3.Error."""
        while self._catalog.ledger.size > allowed:
            if not (self._compact(WORTH_COMPACTING) or self._evict() or self._compact(1.0)):
                raise DoesNotFit

    def tidy(self) -> None:
        """Gives back what can be had cheaply."""
        while self._compact(WORTH_COMPACTING):
            pass

    def evict(self, entries: list[Entry], why: str) -> None:
        self.made.evicted += [(entry, self._catalog.uses[entry.number][0], why) for entry in entries]
        self._leave_out(entries)

    def _evict(self) -> bool:
        entry = self._catalog.least(self._now)
        if entry is not None:
            self.evict([entry], SPACE)
        return entry is not None

    def _compact(self, below: float) -> bool:
        """Gives back the segment with the smallest part in use, if that is less than `below`."""
        held = self._catalog.ledger.segments
        number = min(held, key=lambda one: held[one].live / max(1, held[one].size), default=0)
        if not number or held[number].live >= below * held[number].size:
            return False
        self._move(number)
        return True

    def _move(self, number: int) -> None:
        self.drop_damaged(Inspector(self._folder, self._catalog.ledger).damaged(number))
        segment = self._catalog.ledger.segments[number]
        if ((segment.users > 0) & segment.sound).any():
            self._rewrite(number, self._copy(number, segment))
        self._index.drop_segment(number)
        self._catalog.sync(self._index, self._now)
        self.made.gone.append(number)

    def drop_damaged(self, pieces: Runs) -> None:
        """These chunks are not used again, and who needs them goes."""
        if not len(pieces):
            return
        lost = self._catalog.users_of(pieces)
        self._leave_out(lost)
        self._index.add_spoiled(pieces)
        self._catalog.ledger.spoil(pieces)
        self.made.damaged += [(entry, "its bytes are damaged") for entry in lost]

    def drop_missing(self, number: int) -> None:
        """The segment's file is gone or cut short: what is not there is damaged."""
        segment = self._catalog.ledger.segments.get(number)
        there = size_of(self._folder.segment(number)) or 0
        if segment is not None:
            gone = segment.starts[1:] > there
            starts, lengths = segment.starts[:-1][gone], segment.chunks.lengths[gone]
            self.drop_damaged(merged(runs(number, starts, lengths)))
        if not there:
            self._index.drop_segment(number)
            self._catalog.ledger.drop(number)

    def quarantine(self, entry: Entry, why: str) -> None:
        """Its damaged chunks go, with all who need them; it goes in any case."""
        inspector = Inspector(self._folder, self._catalog.ledger)
        for number, pieces in by_segment(entry.manifest.runs):
            self.drop_damaged(inspector.damaged(number, pieces))
        if entry.number in self._catalog.entries:
            self._leave_out([entry])
            self.made.damaged.append((entry, why))

    def _copy(self, number: int, segment: Segment) -> Runs:
        """The new place of each chunk of the segment that is in use; of segment 0 for the others."""
        live = np.flatnonzero((segment.users > 0) & segment.sound)
        chunks = segment.chunks[live]
        spans = merged(runs(number, segment.starts[live], chunks.lengths))
        pieces = list(zip(spans["offset"].tolist(), spans["length"].tolist(), strict=True))
        blobs = read_at(self._folder.segment(number), pieces)
        tail = Tail(self._folder, self._index, self._limit, avoid=number)
        placed = runs(0, segment.starts[:-1], segment.chunks.lengths)
        placed[live] = tail.append(chunks, views_of(blobs, chunks.starts()[:-1], chunks.lengths))
        self.made.copied += chunks.size
        return placed

    def _rewrite(self, number: int, placed: Runs) -> None:
        starts = self._catalog.ledger.segments[number].starts
        for entry in self._catalog.in_segment(number):
            hits, last_used = self._catalog.uses[entry.number]
            self._index.remove([entry.number])
            self._index.add(moved(entry.manifest, number, starts, placed), hits, last_used)

    def _leave_out(self, entries: list[Entry]) -> None:
        self._index.remove(entry.number for entry in entries)
        for entry in entries:
            self._catalog.leave_out(entry.number)


def moved(manifest: Manifest, number: int, starts: Offsets, placed: Runs) -> Manifest:
    """With the chunks of segment `number`, which begin at `starts`, in their new places."""
    parts, pieces = [], []
    for part, held in manifest.by_part():
        new = merged(
            np.concatenate([runs(0, [], []), *(_place(run, number, starts, placed) for run in held)])
        )
        parts.append(Part(part.context, part.size, len(new)))
        pieces.append(new)
    return replace(manifest, parts=tuple(parts), runs=np.concatenate(pieces))


def _place(run: Runs, number: int, starts: Offsets, placed: Runs) -> Runs:
    one = runs(run["segment"], [run["offset"]], [run["length"]])
    if run["segment"] != number:
        return one
    begin = int(run["offset"])
    first, last = np.searchsorted(starts, (begin, begin + int(run["length"])))
    return placed[first:last]
