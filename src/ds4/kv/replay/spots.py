"""Where a caller's records stand: how many rows are in front of each, and the last of these rows.

Many lengths are known, and to hash up to each of them takes long. One look at the row in front passes over
nearly all that are none of this prompt's.
"""

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from ds4.core.plan import Ids
from ds4.kv.replay.record import last_id

Spot = np.int64
"""Rows in front in the upper half, the last row's id in the lower one."""
SpotArray = NDArray[Spot]
NOWHERE: SpotArray = np.empty(0, Spot)
_BITS = 32
_LOWER = (1 << _BITS) - 1


def spot_of(rows: int, prefix: bytes) -> int:
    return rows << _BITS | last_id(prefix) & _LOWER


def rows_of(spots: SpotArray) -> NDArray[np.int64]:
    return spots >> _BITS


def between(spots: SpotArray, first: int, last: int) -> SpotArray:
    """Those behind `first` rows and more, but fewer than `last`. `spots` are in order."""
    start, end = np.searchsorted(spots, [first << _BITS, last << _BITS])
    return spots[start:end]


def merged(one: SpotArray, other: SpotArray) -> SpotArray:
    """Both are in order. What is in both is there twice."""
    spots = np.concatenate((one, other))
    # This sort finds the two parts and merges them.
    spots.sort(kind="stable")
    spots.setflags(write=False)
    return spots


def fit(spots: SpotArray, in_front: Ids) -> NDArray[np.bool_]:
    """Which have the last row that `in_front` has for each."""
    last: Ids = (spots & _LOWER).astype(np.uint32).view(np.int32)
    return np.equal(last, in_front)


class Spots:
    """Counted. Not thread safe."""

    def __init__(self) -> None:
        self._counts: Counter[int] = Counter()
        self._in_order = NOWHERE
        self._changed: set[int] = set()

    def add(self, spot: int) -> None:
        self._counts[spot] += 1
        self._changed.add(spot)

    def remove(self, spot: int) -> None:
        self._counts[spot] -= 1
        if not self._counts[spot]:
            del self._counts[spot]
        self._changed.add(spot)

    def in_order(self) -> SpotArray:
        """Each once."""
        if self._changed:
            changed = np.fromiter(self._changed, Spot, len(self._changed))
            there = np.array(sorted(self._changed & self._counts.keys()), Spot)
            self._in_order = merged(np.setdiff1d(self._in_order, changed, assume_unique=True), there)
            self._changed.clear()
        return self._in_order
