"""The copy on disk of what is remembered: a database, and a thread that writes to it.

Rules:
- `write` and `touch` are for any thread, the engine's too: they never wait.
- A disk that fails costs nothing but what outlives the process. Each trouble is told once, and so is its end.
"""

import sqlite3
from collections.abc import Callable, Sequence
from functools import partial
from queue import SimpleQueue
from threading import Event, Lock, Thread
from typing import Protocol, TypeVar

from ds4.kv.replay.database import Database, Entry
from ds4.kv.replay.record import Record
from ds4.observe.records import Notice, Observer
from ds4.storage.sqlite_file import Unusable

T = TypeVar("T")
_READING, _WRITING = "reading", "writing"
MAX_WAITING = 4096
"""What may wait for the disk; more is not written."""


class Disk(Protocol):
    """Where records outlive the process. For any thread; `write` and `touch` never wait."""

    def write(self, record: Record) -> None: ...

    def touch(self, key: bytes) -> None:
        """Notes a use."""

    def news(self, *, wait: bool) -> Sequence[Entry]:
        """What came from any process; nothing while the disk is in use, unless it is to `wait`."""

    def read(self, ids: Sequence[int]) -> Sequence[Record]:
        """Those that are still there and sound."""

    def flush(self) -> None:
        """Waits until what was handed in is written."""

    def close(self) -> None: ...


class DiskCopy:
    """A Disk. Starts its thread. `observe` is called from any thread."""

    def __init__(self, database: Database, observe: Observer) -> None:
        self._database = database
        self._observe = observe
        self._using = Lock()
        self._troubles: dict[str, str] = {}
        self._queue: SimpleQueue[Record | bytes | Event | None] = SimpleQueue()
        self._thread = Thread(target=self._write_all, name="replay", daemon=True)
        self._thread.start()

    def write(self, record: Record) -> None:
        if self._queue.qsize() < MAX_WAITING:
            self._queue.put(record)

    def touch(self, key: bytes) -> None:
        """Notes a use."""
        if self._queue.qsize() < MAX_WAITING:
            self._queue.put(key)

    def news(self, *, wait: bool) -> Sequence[Entry]:
        """What came from any process; nothing while the file is in use, unless it is to `wait`."""
        if not self._using.acquire(blocking=wait):
            return ()
        try:
            return self._on_disk(_READING, self._database.news, ())
        finally:
            self._using.release()

    def read(self, ids: Sequence[int]) -> Sequence[Record]:
        with self._using:
            return self._on_disk(_READING, partial(self._database.read, ids), ())

    def flush(self) -> None:
        """Waits until what is queued is written."""
        if self._thread.is_alive():
            written = Event()
            self._queue.put(written)
            written.wait()

    def close(self) -> None:
        """Writes what is queued, then stops."""
        self._queue.put(None)
        self._thread.join()
        with self._using:
            self._database.close()

    def _write_all(self) -> None:
        ended = False
        while not ended:
            batch = [self._queue.get()]
            while not self._queue.empty():
                batch.append(self._queue.get())
            records = [entry for entry in batch if isinstance(entry, Record)]
            used = [entry for entry in batch if isinstance(entry, bytes)]
            if records or used:
                with self._using:
                    self._on_disk(_WRITING, partial(self._database.write, records, used), None)
            for entry in batch:
                if isinstance(entry, Event):
                    entry.set()
            ended = None in batch

    def _on_disk(self, what: str, use: Callable[[], T], otherwise: T) -> T:
        """What `use` gives, with a fresh file if the old one is unusable; `otherwise` when the disk fails."""
        try:
            found = self._with_sound_file(use)
        except (Unusable, sqlite3.Error, OSError) as error:
            self._trouble_is(what, str(error))
            return otherwise
        self._trouble_is(what, "")
        return found

    def _with_sound_file(self, use: Callable[[], T]) -> T:
        try:
            return use()
        except Unusable as error:
            aside = self._database.put_aside()
            self._tell(f"the file of remembered answers is put aside as {aside}: {error}")
            return use()

    def _trouble_is(self, what: str, trouble: str) -> None:
        """A disk that takes no more can still be read."""
        before = self._troubles.get(what, "")
        if trouble == before:
            return
        known = trouble in self._troubles.values()
        self._troubles[what] = trouble
        if trouble and not known:
            self._tell(f"answers are remembered in memory only, the disk fails: {trouble}")
        elif not any(self._troubles.values()):
            self._observe(Notice("answers are remembered on disk again"))

    def _tell(self, text: str) -> None:
        self._observe(Notice(text, "warning"))
