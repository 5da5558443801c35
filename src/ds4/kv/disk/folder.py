"""The directory: names, permissions, and the segment files in it.

    DIR/ds4-kv.sqlite3        the index, with its -wal and -shm
    DIR/segments/00000001.kv  chunks, one behind the other

Rules of this file:
- Directories that are made here have mode 0700, files 0600, whatever the umask.
- A segment only grows at its end, and its number is never used again. What lies behind the size that the
  index knows is from a write that never ended.
- Only names of these two patterns are ever removed.
"""

import fcntl
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

DIRECTORY_MODE = 0o700
FILE_MODE = 0o600
_SEGMENT = re.compile(r"([0-9]{8,})\.kv")


class Unusable(Exception):
    """The directory cannot be used, and nothing in it was changed."""


class Folder:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.segments = path / "segments"
        self.index = path / "ds4-kv.sqlite3"
        self.damaged = path / "ds4-kv.sqlite3.damaged"
        self.index_logs = (path / "ds4-kv.sqlite3-wal", path / "ds4-kv.sqlite3-shm")

    def make(self) -> None:
        """Raises OSError."""
        for path in (self.path, self.segments):
            if not path.is_dir():
                path.mkdir(DIRECTORY_MODE, parents=True)
                path.chmod(DIRECTORY_MODE)

    def touch(self, path: Path) -> None:
        """An empty private file where there is none; what is there stays. Raises OSError."""
        number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
        try:
            if os.fstat(number).st_size == 0:
                os.fchmod(number, FILE_MODE)
        finally:
            os.close(number)

    @property
    def index_bytes(self) -> int:
        return sum(size_of(path) or 0 for path in (self.index, *self.index_logs))

    def segment(self, number: int) -> Path:
        return self.segments / f"{number:08}.kv"

    def segment_files(self) -> dict[int, int]:
        """Sizes by number. Raises OSError."""
        found = ((_SEGMENT.fullmatch(path.name), path) for path in self.segments.iterdir())
        return {int(match[1]): size_of(path) or 0 for match, path in found if match}

    def remove_segments(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            # What cannot be removed now is found again at the next start.
            with suppress(OSError):
                self.segment(number).unlink()

    def remove_index(self) -> None:
        """Raises OSError."""
        for path in (self.index, *self.index_logs, self.damaged):
            path.unlink(missing_ok=True)

    @contextmanager
    def appending(self, number: int, size: int) -> Iterator[int]:
        """A file descriptor; what is behind `size` is cut off first. Ends with an fsync. Raises OSError."""
        path = self.segment(number)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
        try:
            os.fchmod(descriptor, FILE_MODE)
            os.ftruncate(descriptor, size)
            yield descriptor
            os.fsync(descriptor)
            if size == 0:
                self._sync_names()
        except OSError:
            # A full disk gets back at once what was of no use.
            with suppress(OSError):
                os.ftruncate(descriptor, size)
            raise
        finally:
            os.close(descriptor)

    @contextmanager
    def opening(self) -> Iterator[None]:
        """One process at a time makes, checks or replaces the index. Raises OSError."""
        descriptor = os.open(self.segments, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def _sync_names(self) -> None:
        descriptor = os.open(self.segments, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def size_of(path: Path) -> int | None:
    """None when it cannot be seen."""
    try:
        return path.stat().st_size
    except OSError:
        return None


def write_at(descriptor: int, views: Iterable[memoryview], offset: int) -> int:
    """Writes all of it; the offset behind it. Raises OSError."""
    for view in views:
        while len(view):
            done = os.pwrite(descriptor, view, offset)
            view, offset = view[done:], offset + done
    return offset


def read_at(path: Path, pieces: Iterable[tuple[int, int]]) -> list[bytes]:
    """(offset, length) each, in order; shorter where the file ends. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return [os.pread(descriptor, length, offset) for offset, length in pieces]
    finally:
        os.close(descriptor)
