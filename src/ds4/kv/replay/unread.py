"""What is on disk and not in memory, by its place. Bounded: what came first goes first. Not thread safe."""

from collections import defaultdict

from ds4.kv.replay.database import Entry
from ds4.kv.replay.spots import NOWHERE, SpotArray, Spots, spot_of


class Unread:
    def __init__(self, most: int) -> None:
        """`most` entries."""
        self._most = most
        self._size = 0
        self._places: dict[tuple[str, bytes], list[Entry]] = {}
        self._spots: defaultdict[str, Spots] = defaultdict(Spots)

    def __len__(self) -> int:
        return self._size

    def add(self, entry: Entry) -> None:
        self._places.setdefault((entry.namespace, entry.prefix), []).append(entry)
        self._spots[entry.namespace].add(spot_of(entry.rows, entry.prefix))
        self._size += 1
        while self._size > self._most:
            self.take(*next(iter(self._places)))

    def take(self, namespace: str, prefix: bytes) -> list[Entry]:
        """Those at this place; they are read from now on."""
        entries = self._places.pop((namespace, prefix), [])
        for entry in entries:
            self._spots[namespace].remove(spot_of(entry.rows, prefix))
        self._size -= len(entries)
        return entries

    def spots(self, namespace: str) -> SpotArray:
        found = self._spots.get(namespace)
        return NOWHERE if found is None else found.in_order()
