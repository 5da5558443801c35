"""What is in the segments and who uses it: chunk by chunk, in arrays. Pure.

Rules of this file:
- Users are numbers. `hold` and `release` come in pairs, with the same runs.
- A chunk's `users` counts distinct users. `sole` is the exclusive or of their numbers, so that where there is
  one user it is that one: what each would free by leaving is then one sum over all chunks.
- A spoiled chunk is never found again, but stays in use until its users are gone.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ds4.kv.disk.runs import RUN, Chunks, Mask, Runs, by_segment, joined, runs

_PLACE = np.dtype([("hi", "<u8"), ("run", RUN)])
Indices = NDArray[np.intp]


@dataclass(slots=True, eq=False)
class Segment:
    """Chunks of one file. `users`, `sole` and `sound` have one entry per chunk."""

    chunks: Chunks = field(default_factory=lambda: joined([]))
    users: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    sole: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    sound: Mask = field(default_factory=lambda: np.empty(0, np.bool_))
    starts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(1, np.int64))

    @property
    def size(self) -> int:
        return int(self.starts[-1])

    @property
    def live(self) -> int:
        return int(self.chunks.lengths[self.users > 0].sum(dtype=np.int64))

    def extend(self, more: Chunks) -> None:
        grown = len(more)
        self.chunks = joined((self.chunks, more))
        self.users = np.concatenate((self.users, np.zeros(grown, np.int32)))
        self.sole = np.concatenate((self.sole, np.zeros(grown, np.int64)))
        self.sound = np.concatenate((self.sound, np.ones(grown, np.bool_)))
        self.starts = self.chunks.starts()

    def within(self, pieces: Runs) -> Mask:
        """The chunks that lie in any of the runs."""
        begin = pieces["offset"].astype(np.int64)
        steps = np.zeros(len(self.chunks) + 1, np.int32)
        np.add.at(steps, np.searchsorted(self.starts, begin), 1)
        np.add.at(steps, np.searchsorted(self.starts, begin + pieces["length"]), -1)
        covered: Mask = np.cumsum(steps[:-1]) > 0
        return covered

    def fits(self, pieces: Runs) -> bool:
        """Every run begins and ends with a chunk, and all of them are sound."""
        begin = pieces["offset"].astype(np.int64)
        edges = np.concatenate((begin, begin + pieces["length"]))
        at = np.searchsorted(self.starts, edges)
        if (at >= len(self.starts)).any() or (self.starts[at] != edges).any():
            return False
        return bool(self.sound[self.within(pieces)].all())


class Ledger:
    def __init__(self) -> None:
        self.segments: dict[int, Segment] = {}
        # What can be found, sorted by the low half of the key.
        self._lo = np.empty(0, np.uint64)
        self._place = np.empty(0, _PLACE)

    @property
    def size(self) -> int:
        return sum(segment.size for segment in self.segments.values())

    def extend(self, number: int, chunks: Chunks) -> None:
        """Chunks were appended to a segment."""
        segment = self.segments.setdefault(number, Segment())
        place = np.empty(len(chunks), _PLACE)
        place["hi"] = chunks.keys["hi"]
        place["run"] = runs(number, segment.size + chunks.starts()[:-1], chunks.lengths)
        segment.extend(chunks)
        order = np.argsort(chunks.keys["lo"])
        lo = chunks.keys["lo"][order]
        where = np.searchsorted(self._lo, lo)
        self._lo = np.insert(self._lo, where, lo)
        self._place = np.insert(self._place, where, place[order])

    def drop(self, number: int) -> None:
        """The segment is gone."""
        self.segments.pop(number, None)
        self._forget(self._place["run"]["segment"] == number)

    def spoil(self, piece: Runs) -> None:
        """The chunks in these runs are damaged."""
        for number, part in by_segment(piece):
            if segment := self.segments.get(number):
                segment.sound &= ~segment.within(part)
                offsets = segment.starts[:-1][~segment.sound]
                run = self._place["run"]
                self._forget((run["segment"] == number) & np.isin(run["offset"], offsets))

    def find(self, chunks: Chunks) -> Runs:
        """One run per chunk; of segment 0 where there is none."""
        found = np.zeros(len(chunks), RUN)
        if not len(self._lo):
            return found
        at = np.minimum(np.searchsorted(self._lo, chunks.keys["lo"]), len(self._lo) - 1)
        place = self._place[at]
        same = (self._lo[at] == chunks.keys["lo"]) & (place["hi"] == chunks.keys["hi"])
        same &= place["run"]["length"] == chunks.lengths
        found[same] = place["run"][same]
        return found

    def fits(self, pieces: Runs) -> bool:
        """All of it is there."""
        known = self.segments
        return all(number in known and known[number].fits(part) for number, part in by_segment(pieces))

    def hold(self, user: int, pieces: Runs) -> None:
        self._count(user, pieces, 1)

    def release(self, user: int, pieces: Runs) -> None:
        """Segments that have gone meanwhile are passed over."""
        self._count(user, pieces, -1)

    def freed(self) -> dict[int, int]:
        """Bytes that would have no user if this one left, by user."""
        totals: dict[int, int] = {}
        for segment in self.segments.values():
            alone = segment.users == 1
            users, at = np.unique(segment.sole[alone], return_inverse=True)
            sums = np.bincount(at, weights=segment.chunks.lengths[alone], minlength=len(users))
            for user, size in zip(users.tolist(), sums.tolist(), strict=True):
                totals[user] = totals.get(user, 0) + int(size)
        return totals

    def chunks_in(self, pieces: Runs) -> Iterator[tuple[int, Indices]]:
        """By segment, the distinct chunks of these runs."""
        for number, part in by_segment(pieces):
            if segment := self.segments.get(number):
                yield number, np.flatnonzero(segment.within(part))

    def _count(self, user: int, pieces: Runs, step: int) -> None:
        for number, part in by_segment(pieces):
            if segment := self.segments.get(number):
                used = segment.within(part)
                segment.users[used] += step
                segment.sole[used] ^= user

    def _forget(self, gone: Mask) -> None:
        self._lo, self._place = self._lo[~gone], self._place[~gone]
