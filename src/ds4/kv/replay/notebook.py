"""What was sampled, by caller: in memory, and on disk what other runs and other processes remember.

Rules:
- `remember` is for the engine thread: it never waits. `of` and what it gives are for workers.
- What lies on disk is read when its place in a conversation is met, and is in memory from then on.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from threading import Lock

from ds4.core.ports import Clock
from ds4.kv.replay.database import Entry
from ds4.kv.replay.disk_copy import DiskCopy
from ds4.kv.replay.memory import Bounds, Memory
from ds4.kv.replay.record import Record

USE_SECONDS = 3600.0
"""A use is noted on disk if the last one is so long ago."""
MAX_NOTED = 10_000

Place = tuple[str, bytes]
"""A namespace and the digest of the rows in front."""


@dataclass(frozen=True, slots=True)
class Options:
    """Unless it `keeps_reasoning`, an answer with reasoning is replayed only where the template has that
    reasoning too."""

    bounds: Bounds = Bounds()  # noqa: RUF009  (frozen)
    keeps_reasoning: bool = True


class Notebook:
    """Thread safe. Reads what is on disk, on the calling thread."""

    def __init__(self, options: Options, clock: Clock, disk: DiskCopy | None = None) -> None:
        self.options = options
        self._memory = Memory(options.bounds)
        self._clock = clock
        self._disk = disk
        # While one reads a place, another must not find it empty.
        self._reading = Lock()
        self._unread: dict[Place, list[Entry]] = {}
        self._rows: defaultdict[str, set[int]] = defaultdict(set)
        self._noted: dict[bytes, float] = {}
        if disk is not None:
            self._learn(disk.news(wait=True))

    def remember(self, record: Record) -> None:
        self._memory.put(record)
        if self._disk is not None:
            self._disk.write(record)

    def of(self, namespace: str) -> "Pages":
        """One caller's records, for one request."""
        if self._disk is not None:
            self._learn(self._disk.news(wait=False))
        return Pages(self, namespace)

    def find(self, namespace: str, prefix: bytes) -> Sequence[Record]:
        """Those behind the rows with this digest, the one used last first."""
        if self._disk is None:
            return self._memory.find(namespace, prefix)
        with self._reading:
            entries = self._unread.pop((namespace, prefix), [])
            for record in self._disk.read([entry.id for entry in entries]) if entries else ():
                if not self._memory.has(record.key):
                    self._memory.put(record)
        found = self._memory.find(namespace, prefix)
        for record in found:
            self._note_use(record.key, self._disk)
        return found

    def rows(self, namespace: str) -> Sequence[int]:
        """How many rows stand in front of a record, each number once, in order."""
        in_memory = self._memory.rows(namespace)
        with self._reading:
            on_disk = self._rows.get(namespace)
            return sorted(on_disk.union(in_memory)) if on_disk else in_memory

    def flush(self) -> None:
        """Waits until what is remembered is on disk."""
        if self._disk is not None:
            self._disk.flush()

    def close(self) -> None:
        if self._disk is not None:
            self._disk.close()

    def _learn(self, entries: Iterable[Entry]) -> None:
        with self._reading:
            for entry in entries:
                if self._memory.has(entry.key):
                    continue
                self._unread.setdefault((entry.namespace, entry.prefix), []).append(entry)
                self._rows[entry.namespace].add(entry.rows)

    def _note_use(self, key: bytes, disk: DiskCopy) -> None:
        now = self._clock.now()
        if now - self._noted.get(key, now - USE_SECONDS) >= USE_SECONDS:
            if len(self._noted) >= MAX_NOTED:
                self._noted.clear()
            self._noted[key] = now
            disk.touch(key)


class Pages:
    """Implements `splice.Known`."""

    def __init__(self, notebook: Notebook, namespace: str) -> None:
        self._notebook = notebook
        self._namespace = namespace
        self._rows: Sequence[int] | None = None

    def rows(self) -> Sequence[int]:
        if self._rows is None:
            self._rows = self._notebook.rows(self._namespace)
        return self._rows

    def find(self, prefix: bytes) -> Sequence[Record]:
        return self._notebook.find(self._namespace, prefix)
