"""The rows a slot holds, as a growable array: appended one by one in decode, compared as a whole."""

import numpy as np

from ds4.core.plan import Ids


class RowLog:
    """`len()` rows. Appending is O(1) amortised; `view()` is not a copy and must not be kept."""

    def __init__(self) -> None:
        self._data: Ids = np.empty(256, dtype=np.int32)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def view(self) -> Ids:
        return self._data[: self._size]

    def copy(self) -> Ids:
        """To be kept, and not to be changed."""
        ids = self.view().copy()
        ids.setflags(write=False)
        return ids

    def extend(self, ids: Ids) -> None:
        end = self._size + len(ids)
        if end > self._data.size:
            grown = np.empty(max(end, 2 * self._data.size), dtype=np.int32)
            grown[: self._size] = self.view()
            self._data = grown
        self._data[self._size : end] = ids
        self._size = end

    def become(self, ids: Ids) -> None:
        """Holds `ids` and nothing else."""
        self._size = 0
        self.extend(ids)

    def truncate(self, rows: int) -> None:
        """Keeps the first `rows`; a larger number changes nothing."""
        self._size = min(self._size, rows)
