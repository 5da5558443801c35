"""Where a checkpoint's bytes are: runs of whole chunks in segments. Pure.

A chunk is known by its key, 128 bits of its content. Chunks lie in a segment one behind the other, without
gaps, so a run of bytes is a run of chunks too.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

KEY = np.dtype([("lo", "<u8"), ("hi", "<u8")])
RUN = np.dtype([("segment", "<u4"), ("offset", "<u4"), ("length", "<u4")])
_CHUNK = np.dtype([("key", KEY), ("length", "<u4")])

Keys = NDArray[np.void]
"""Of KEY."""
Runs = NDArray[np.void]
"""Of RUN. Segments count from 1; 0 is nowhere."""
Lengths = NDArray[np.uint32]
Offsets = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Chunks:
    """Chunks in a row."""

    keys: Keys
    lengths: Lengths

    @property
    def size(self) -> int:
        return int(self.lengths.sum(dtype=np.int64))

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, which: "slice | Mask | NDArray[np.intp]") -> "Chunks":
        return Chunks(self.keys[which], self.lengths[which])

    def starts(self) -> Offsets:
        """The offset of each, and the end of the last."""
        ends = np.zeros(len(self) + 1, np.int64)
        np.cumsum(self.lengths, out=ends[1:])
        return ends

    def pack(self) -> bytes:
        table = np.empty(len(self), _CHUNK)
        table["key"], table["length"] = self.keys, self.lengths
        return table.tobytes()


def unpack_chunks(data: bytes) -> Chunks:
    """Raises ValueError when it is not a whole number of entries."""
    table = np.frombuffer(data, _CHUNK)
    return Chunks(np.ascontiguousarray(table["key"]), np.ascontiguousarray(table["length"]))


def joined(parts: Iterable[Chunks]) -> Chunks:
    every = list(parts)
    if not every:
        return Chunks(np.empty(0, KEY), np.empty(0, np.uint32))
    return Chunks(np.concatenate([one.keys for one in every]), np.concatenate([one.lengths for one in every]))


def runs(segment: Any, offset: Any, length: Any) -> Runs:
    """From columns; a single segment number stands for all rows."""
    table = np.empty(len(offset), RUN)
    table["segment"], table["offset"], table["length"] = segment, offset, length
    return table


def merged(pieces: Runs) -> Runs:
    """Neighbours that touch become one run. Order and bytes stay."""
    if not len(pieces):
        return pieces
    ends = pieces["offset"].astype(np.int64) + pieces["length"]
    touches = (pieces["segment"][1:] == pieces["segment"][:-1]) & (pieces["offset"][1:] == ends[:-1])
    first = np.flatnonzero(np.concatenate(([True], ~touches)))
    lengths = np.add.reduceat(pieces["length"].astype(np.int64), first)
    return runs(pieces["segment"][first], pieces["offset"][first], lengths)


def by_segment(pieces: Runs) -> Iterator[tuple[int, Runs]]:
    for number in np.unique(pieces["segment"]).tolist():
        yield number, pieces[pieces["segment"] == number]
