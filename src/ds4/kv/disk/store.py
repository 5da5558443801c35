"""The disk tier as the scheduler sees it: a thin shell of two threads around what does the work.

Rules of this file:
- The engine thread only puts jobs into queues and takes news out of a list. It never waits for a disk.
- One thread writes and keeps the catalog; only it touches the vault. Another one reads, so that a read
  does not wait behind a long write. The reader needs nothing of the vault's.
- What waits to be written is bounded by bytes. One snapshot of any size may always wait.
- Vanished may come twice for one key.
"""

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue

from ds4.core.ports import Clock
from ds4.core.step import Snapshot
from ds4.kv.checkpoint import Fetched, News, Save, Vanished
from ds4.kv.disk.reading import Reader, Unread
from ds4.kv.disk.settings import DiskSettings
from ds4.kv.disk.vault import RATE, Vault
from ds4.observe.records import Observer, StoreSkipped

POLL_SECONDS = 1.0
"""So often others' changes are looked for."""
SHORT = "it is shorter than --kv-cache-min-tokens"
FULL = "too much is waiting to be written already"
CLOSED = "the cache is closed"


@dataclass(frozen=True, slots=True)
class _Touch:
    key: str


@dataclass(frozen=True, slots=True)
class _Bad:
    """`damaged`, or unreadable this time. `number` 0: whatever is offered under the key."""

    key: str
    why: str
    number: int = 0
    damaged: bool = True


_Job = Save | _Touch | _Bad | threading.Event | None
"""An Event is set when its turn comes; None ends the thread."""


class DiskStore:
    """Implements `CheckpointStore`."""

    def __init__(
        self, vault: Vault, reader: Reader, settings: DiskSettings, clock: Clock, observe: Observer
    ) -> None:
        self._vault = vault
        self._reader = reader
        self._settings = settings
        self._clock = clock
        self._observe = observe
        self._lock = threading.Lock()
        self._news: list[News] = list(vault.take_news())
        self._wake: Callable[[], None] | None = None
        self._waiting = 0
        self._closed = False
        self._bad: set[str] = set()
        self._jobs: SimpleQueue[_Job] = SimpleQueue()
        self._asked: SimpleQueue[str | None] = SimpleQueue()
        self._threads = [
            threading.Thread(target=self._write_all, name="ds4-kv-writer", daemon=True),
            threading.Thread(target=self._read_all, name="ds4-kv-reader", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def save(self, save: Save) -> bool:
        """False is followed by no news; why is told to the observer."""
        why = self._admit(save)
        if why:
            self._observe(StoreSkipped(save.reason, save.checkpoint.rows, why))
            return False
        self._jobs.put(save)
        return True

    def fetch(self, key: str) -> None:
        self._asked.put(key)

    def news(self) -> Sequence[News]:
        with self._lock:
            news, self._news = self._news, []
        return news

    def on_news(self, wake: Callable[[], None]) -> None:
        with self._lock:
            self._wake = wake
            waiting = bool(self._news)
        if waiting:
            wake()

    def touch(self, key: str) -> None:
        self._jobs.put(_Touch(key))

    def discard(self, key: str, why: str) -> None:
        """The engine did not take what was fetched: it is put aside."""
        self._jobs.put(_Bad(key, why))

    def flush(self) -> None:
        """Returns when everything that was queued has been written."""
        done = threading.Event()
        self._jobs.put(done)
        while not done.wait(POLL_SECONDS):
            if not self._threads[0].is_alive():
                return

    def close(self) -> None:
        with self._lock:
            self._closed = True
        self._asked.put(None)
        self._jobs.put(None)
        for thread in self._threads:
            thread.join()

    def _admit(self, save: Save) -> str:
        size = save.checkpoint.size
        if save.checkpoint.rows < self._settings.min_rows:
            return SHORT
        if not self._vault.may_write():
            return RATE
        with self._lock:
            if self._closed or not self._threads[0].is_alive():
                return CLOSED
            if self._waiting and self._waiting + size > self._settings.queue:
                return FULL
            self._waiting += size
        return ""

    def _write_all(self) -> None:
        while True:
            try:
                job = self._jobs.get(timeout=POLL_SECONDS)
            except Empty:
                self._vault.poll()
            else:
                if job is None:
                    break
                self._work(job)
            self._publish(self._vault.take_news())
        self._vault.close()

    def _work(self, job: Save | _Touch | _Bad | threading.Event) -> None:
        match job:
            case Save():
                self._vault.put(job)
                with self._lock:
                    self._waiting -= job.checkpoint.size
            case _Touch():
                self._vault.touch(job.key)
            case _Bad():
                self._put_away(job)
            case threading.Event():
                job.set()

    def _put_away(self, job: _Bad) -> None:
        if job.damaged:
            self._vault.discard(job.key, job.why, job.number)
        elif job.number:
            self._vault.withdraw(job.key, job.why, job.number)
        else:
            self._vault.poll()
        self._bad.discard(job.key)

    def _read_all(self) -> None:
        while (key := self._asked.get()) is not None:
            started = self._clock.now()
            result = Unread("it is damaged", damaged=False) if key in self._bad else self._reader.read(key)
            seconds = self._clock.now() - started
            if isinstance(result, Snapshot):
                self._publish([Fetched(key, result, seconds)])
            else:
                # Until the writer has removed it, it is not read again either.
                self._bad.add(key)
                self._jobs.put(_Bad(key, result.why, result.number, result.damaged))
                self._publish([Fetched(key, None, seconds), Vanished(key)])

    def _publish(self, news: Iterable[News]) -> None:
        with self._lock:
            before = len(self._news)
            self._news += news
            wake = self._wake if len(self._news) > before else None
        if wake:
            wake()
