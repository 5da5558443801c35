"""Takes lines from any thread and writes them from a thread of its own.

Rules:
- Handing in a line never waits for the file. The queue is bounded, in lines and in bytes that matter.
- What does not fit, or cannot be written, is lost and counted; the trace says so in its place, and the log
  when it begins.
- A line is written whole or not at all: half a line is cut off again.
- The file is the user's alone (0600), also one that was there before; a new run is added behind it.
"""

import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path

from ds4.core.errors import StartError
from ds4.observe.records import Notice, Observer
from ds4.observe.trace.values import Json, written

CAPACITY = 16_384
"""Lines that may wait."""
WEIGHT = 256 << 20
"""Bytes of bodies and characters of prompts that may wait."""

SOUND = 1024
"""Lines that must have been written before the log speaks of a loss again: a full disk takes a short line now
and then."""

Put = Callable[[Json], None]
"""Takes one line. Values are frozen: they are put into words later, on another thread."""


def _same(line: Json) -> Json:
    return line


class TraceWriter:
    """Thread safe. `dress` changes every line before it is written, for redacting."""

    def __init__(
        self,
        path: Path,
        observe: Observer,
        *,
        dress: Callable[[Json], Json] = _same,
        capacity: int = CAPACITY,
        weight: int = WEIGHT,
    ) -> None:
        """Raises StartError when the file cannot be opened."""
        self._path = path
        self._observe = observe
        self._dress = dress
        self._capacity = capacity
        self._room = weight
        self._file = _open(path)
        self._changed = threading.Condition()
        self._waiting: list[Json] = []
        self._lost = 0
        self._sound = SOUND
        self._closed = False
        self._writer = threading.Thread(target=self._write, name="trace", daemon=True)
        self._writer.start()

    def __call__(self, line: Json) -> None:
        with self._changed:
            weight = _weight(line)
            if len(self._waiting) >= self._capacity or weight > self._room:
                self._lose(1)
                return
            if self._lost:
                self._waiting.append({"at": "lost", "lines": self._lost})
                self._lost = 0
            self._room -= weight
            self._waiting.append(line)
            self._changed.notify()

    def close(self, timeout: float = 5.0) -> None:
        """Writes what waits, for at most `timeout` seconds. Later lines are lost."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._writer.join(timeout)

    def _lose(self, lines: int) -> None:
        self._lost += lines
        sound, self._sound = self._sound, 0
        if sound >= SOUND:
            self._observe(Notice(f"trace {self._path}: lines are being lost", "warning"))

    def _write(self) -> None:
        while batch := self._take():
            done = self._put_down([data for line in batch if (data := self._words(line))])
            with self._changed:
                self._room += sum(map(_weight, batch))
                if done < len(batch):
                    self._lose(len(batch) - done)
                else:
                    self._sound += done
        if self._lost:
            self._put_down([written({"at": "lost", "lines": self._lost})])
        os.close(self._file)

    def _take(self) -> list[Json]:
        """All that waits, as soon as there is something; nothing once closed."""
        with self._changed:
            self._changed.wait_for(lambda: bool(self._waiting) or self._closed)
            batch, self._waiting = self._waiting, []
        return batch

    def _words(self, line: Json) -> bytes:
        """Empty for what cannot be written."""
        try:
            return written(self._dress(line))
        except (TypeError, ValueError):
            return b""  # a lone surrogate; everything else is ours

    def _put_down(self, lines: list[bytes]) -> int:
        """All at once, or, when that fails, as many as there is room for. How many."""
        if self._append(b"".join(lines)):
            return len(lines)
        return sum(map(self._append, lines))

    def _append(self, data: bytes) -> bool:
        begin = os.fstat(self._file).st_size
        try:
            _write_all(self._file, data)
        except OSError:
            self._cut(begin)
            return False
        return True

    def _cut(self, size: int) -> None:
        try:
            os.ftruncate(self._file, size)
        except OSError:
            return  # not a regular file; the reader sees half a line and skips it


def _weight(line: Json) -> int:
    return sum(len(value) for value in (line.get("body"), line.get("text")) if isinstance(value, bytes | str))


def _open(path: Path) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
    try:
        number = os.open(path, flags, 0o600)
        if stat.S_ISREG(os.fstat(number).st_mode):
            os.fchmod(number, 0o600)
    except OSError as error:
        raise StartError(f"--trace {path}: {error.strerror}") from None
    return number


def _write_all(number: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(number, view) :]
