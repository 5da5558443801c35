"""Records in memory. Bounded: what was used longest ago goes first.

Rules:
- Thread safe; nobody waits here for a disk or for long.
- Of one place in one conversation the last SIBLINGS answers are kept: a prompt may be asked again for ever.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock

from ds4.kv.replay.record import Record
from ds4.kv.replay.spots import NOWHERE, SpotArray, Spots, spot_of

MAX_CALLS = 100_000
MAX_BYTES = 512 << 20
SIBLINGS = 16


@dataclass(frozen=True, slots=True)
class Bounds:
    """Tool calls (an answer without any counts as one), and bytes."""

    calls: int = MAX_CALLS
    size: int = MAX_BYTES


@dataclass(slots=True)
class _Caller:
    """One namespace. `places` are keys by prefix, the one used last at the end."""

    places: dict[bytes, list[bytes]] = field(default_factory=dict)
    spots: Spots = field(default_factory=Spots)


class Memory:
    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._lock = Lock()
        self._records: OrderedDict[bytes, Record] = OrderedDict()
        self._callers: dict[str, _Caller] = {}
        self._calls = 0
        self._size = 0

    @property
    def calls(self) -> int:
        return self._calls

    @property
    def size(self) -> int:
        return self._size

    def put(self, record: Record) -> None:
        with self._lock:
            if record.key in self._records:
                self._touch(record)
                return
            self._add(record)
            while self._calls > self._bounds.calls or self._size > self._bounds.size:
                self._drop(next(iter(self._records.values())))

    def has(self, key: bytes) -> bool:
        with self._lock:
            return key in self._records

    def find(self, namespace: str, prefix: bytes) -> Sequence[Record]:
        """The one used last first. A look is a use."""
        with self._lock:
            caller = self._callers.get(namespace)
            keys = caller.places.get(prefix, []) if caller else []
            found = [self._records[key] for key in keys]
            for record in found:
                self._records.move_to_end(record.key)
            return found[::-1]

    def spots(self, namespace: str) -> SpotArray:
        """Where records stand, in order."""
        with self._lock:
            caller = self._callers.get(namespace)
            return NOWHERE if caller is None else caller.spots.in_order()

    def _add(self, record: Record) -> None:
        caller = self._callers.setdefault(record.namespace, _Caller())
        keys = caller.places.setdefault(record.prefix, [])
        keys.append(record.key)
        caller.spots.add(spot_of(record.rows, record.prefix))
        self._records[record.key] = record
        self._calls += record.weight
        self._size += record.size
        if len(keys) > SIBLINGS:
            self._drop(self._records[keys[0]])

    def _touch(self, record: Record) -> None:
        self._records.move_to_end(record.key)
        keys = self._callers[record.namespace].places[record.prefix]
        keys.remove(record.key)
        keys.append(record.key)

    def _drop(self, record: Record) -> None:
        del self._records[record.key]
        self._calls -= record.weight
        self._size -= record.size
        caller = self._callers[record.namespace]
        keys = caller.places[record.prefix]
        keys.remove(record.key)
        if not keys:
            del caller.places[record.prefix]
        caller.spots.remove(spot_of(record.rows, record.prefix))
        if not caller.places:
            del self._callers[record.namespace]
