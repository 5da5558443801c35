"""Appends chunks to segments, and tells the index. Inside an index transaction only."""

from collections.abc import Callable, Iterable

import numpy as np

from ds4.kv.disk.folder import Folder, size_of, write_at
from ds4.kv.disk.index import Index
from ds4.kv.disk.runs import Chunks, Lengths, Offsets, Runs, runs

Views = Callable[[int, int], Iterable[memoryview]]
"""The bytes of chunks number `first` up to `last`, in pieces."""

SMALLEST_SEGMENT = 256 << 10
LARGEST_SEGMENT = 64 << 20
SEGMENTS_PER_SPACE = 64


def segment_limit(space: int) -> int:
    """A segment is full at this size: small against the whole, or freeing one byte would move too many."""
    return min(max(space // SEGMENTS_PER_SPACE, SMALLEST_SEGMENT), LARGEST_SEGMENT)


class Tail:
    """`avoid` is a segment that is about to go."""

    def __init__(self, folder: Folder, index: Index, limit: int, avoid: int = 0) -> None:
        self._folder = folder
        self._index = index
        self._limit = limit
        self._avoid = avoid

    def append(self, chunks: Chunks, views: Views) -> Runs:
        """One run per chunk. Raises OSError and sqlite3.Error; what was written then is cut off later."""
        placed = [runs(0, [], [])]
        starts = chunks.starts()
        first = 0
        while first < len(chunks):
            number, size = self._open_segment()
            room = starts[first] + self._limit - size
            last = max(first + 1, int(np.searchsorted(starts, room, side="right")) - 1)
            with self._folder.appending(number, size) as descriptor:
                write_at(descriptor, views(first, last), size)
            part = chunks[first:last]
            self._index.add_extent(number, part)
            placed.append(runs(number, size + part.starts()[:-1], part.lengths))
            first = last
        return np.concatenate(placed)

    def _open_segment(self) -> tuple[int, int]:
        """The last segment, if it is whole and has room; else a new one. Number and size."""
        segments = self._index.segments()
        number = max(segments, default=0)
        if number and number != self._avoid and segments[number] < self._limit:
            there = size_of(self._folder.segment(number))
            if there is not None and there >= segments[number]:
                return number, segments[number]
        return self._index.add_segment(), 0


def views_of(blobs: Iterable[bytes | memoryview], begins: Offsets, lengths: Lengths) -> Views:
    """Of chunks that begin at `begins` in `blobs` laid end to end. Neighbours come in one piece."""
    whole = [memoryview(blob) for blob in blobs]
    ends = np.cumsum([len(blob) for blob in whole])
    stops = begins + lengths

    def views(first: int, last: int) -> Iterable[memoryview]:
        new = np.flatnonzero(begins[first + 1 : last] != stops[first : last - 1]) + first + 1
        heads, tails = [first, *new.tolist()], [*new.tolist(), last]
        for head, tail in zip(heads, tails, strict=True):
            yield from _between(whole, ends, int(begins[head]), int(stops[tail - 1]))

    return views


def _between(whole: list[memoryview], ends: Offsets, begin: int, stop: int) -> Iterable[memoryview]:
    while begin < stop:
        at = int(np.searchsorted(ends, begin, side="right"))
        base = int(ends[at]) - len(whole[at])
        upto = min(stop, int(ends[at]))
        yield whole[at][begin - base : upto - base]
        begin = upto
