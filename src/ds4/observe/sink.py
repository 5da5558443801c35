"""Takes records from any thread and shows them on a stream from a thread of its own.

Rules:
- Handing in a record never waits for the stream: a terminal that hangs must not stop the engine.
- The queue is bounded. What does not fit is dropped and counted, and the count is logged in its place.
- A line that cannot be written is lost. Logging never stops the server.
"""

import threading
from contextlib import suppress
from typing import Protocol, TextIO

from rich.console import Console

from ds4.core.ports import Clock
from ds4.observe.cache_log import entries
from ds4.observe.log import line, logged, stamp
from ds4.observe.progress import TerminalView
from ds4.observe.records import Notice, Record

CAPACITY = 1024
"""Records that may wait. Some minutes of a busy server, and far less than a megabyte."""


class View(Protocol):
    """Shows records, with the time they were handed in. Used by one thread at a time."""

    def show(self, wall: float, record: Record) -> None: ...

    def close(self) -> None: ...


class PlainView:
    """Lines without colours."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def show(self, wall: float, record: Record) -> None:
        self._stream.write("".join(f"{stamp(wall)}{line(entry)}\n" for entry in entries(record)))
        self._stream.flush()

    def close(self) -> None:
        pass


def view_on(stream: TextIO) -> View:
    """Bars and colours where the stream is a terminal that can move its cursor, else plain lines."""
    console = Console(file=stream, highlight=False)
    # rich alone would take FORCE_COLOR for a terminal and draw bars into a file.
    return TerminalView(console) if console.is_interactive and stream.isatty() else PlainView(stream)


class LogSink:
    """An Observer. Thread safe."""

    def __init__(self, stream: TextIO, clock: Clock, *, capacity: int = CAPACITY) -> None:
        self._stream = stream
        self._view = view_on(stream)
        self._clock = clock
        self._capacity = capacity
        self._changed = threading.Condition()
        self._waiting: list[tuple[float, Record]] = []
        self._dropped = 0
        self._closed = False
        self._writer = threading.Thread(target=self._write, name="log", daemon=True)
        self._writer.start()

    def __call__(self, record: Record) -> None:
        if not logged(record):
            return
        entry = (self._clock.wall(), record)
        with self._changed:
            if len(self._waiting) >= self._capacity:
                self._dropped += 1
                return
            self._waiting.append(entry)
            self._changed.notify()

    def close(self, timeout: float = 2.0) -> None:
        """Writes what waits, for at most `timeout` seconds. Later records are lost."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._writer.join(timeout)

    def _write(self) -> None:
        while batch := self._take():
            for wall, record in batch:
                self._show(wall, record)
        with suppress(OSError, ValueError):
            self._view.close()

    def _show(self, wall: float, record: Record) -> None:
        try:
            self._view.show(wall, record)
        except (OSError, ValueError):
            # ValueError: closed, or not encodable. A broken view keeps what it failed to write: start anew.
            self._view = view_on(self._stream)

    def _take(self) -> list[tuple[float, Record]]:
        """All that waits, as soon as there is something; nothing once the sink is closed."""
        with self._changed:
            self._changed.wait_for(lambda: bool(self._waiting) or self._closed)
            batch, self._waiting = self._waiting, []
            dropped, self._dropped = self._dropped, 0
        if dropped:
            batch.append((self._clock.wall(), Notice(f"{dropped} log lines dropped", "warning")))
        return batch
