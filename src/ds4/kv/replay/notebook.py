"""What was sampled, by caller: in memory, and on disk what other runs and other processes remember.

Rules:
- `remember` is for the engine thread: it never waits. `of` and what it gives are for workers.
- What lies on disk is read when its place in a conversation is met, and is in memory from then on.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from threading import Lock

from ds4.core.ports import Clock
from ds4.kv.replay.database import Entry
from ds4.kv.replay.disk_copy import Disk
from ds4.kv.replay.memory import Bounds, Memory
from ds4.kv.replay.record import Record
from ds4.kv.replay.spots import SpotArray, merged
from ds4.kv.replay.unread import Unread

USE_SECONDS = 3600.0
"""A use is noted on disk if the last one is so long ago."""
MAX_NOTED = 10_000


@dataclass(frozen=True, slots=True)
class Options:
    """Unless it `keeps_reasoning`, an answer with reasoning is replayed only where the template has that
    reasoning too."""

    bounds: Bounds = Bounds()  # noqa: RUF009  (frozen)
    keeps_reasoning: bool = True


class Notebook:
    """Thread safe. Reads what is on disk, on the calling thread."""

    def __init__(self, options: Options, clock: Clock, disk: Disk | None = None) -> None:
        self.options = options
        self._memory = Memory(options.bounds)
        self._clock = clock
        self._disk = disk
        # While one reads a place, another must not find it empty.
        self._reading = Lock()
        self._unread = Unread(options.bounds.calls)
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
            entries = self._unread.take(namespace, prefix)
            for record in self._disk.read([entry.id for entry in entries]) if entries else ():
                if not self._memory.has(record.key):
                    self._memory.put(record)
        found = self._memory.find(namespace, prefix)
        for record in found:
            self._note_use(record.key, self._disk)
        return found

    def spots(self, namespace: str) -> SpotArray:
        """Where records stand, in order."""
        in_memory = self._memory.spots(namespace)
        with self._reading:
            on_disk = self._unread.spots(namespace)
        return merged(on_disk, in_memory) if on_disk.size else in_memory

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
                if not self._memory.has(entry.key):
                    self._unread.add(entry)

    def _note_use(self, key: bytes, disk: Disk) -> None:
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
        self._spots: SpotArray | None = None

    def spots(self) -> SpotArray:
        if self._spots is None:
            self._spots = self._notebook.spots(self._namespace)
        return self._spots

    def find(self, prefix: bytes) -> Sequence[Record]:
        return self._notebook.find(self._namespace, prefix)
