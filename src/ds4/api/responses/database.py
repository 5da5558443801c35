"""Responses in one SQLite file.

Rules:
- Every write ends within the bounds; what was used longest ago goes first.
- The file may be replaced under us (another process put a damaged one aside, somebody removed it): every
  use looks whether it is still the one at the path, and opens it anew if not.
- A file that cannot be what it should be is renamed, not deleted. There is one such name: an older one goes.
- Not thread safe, and everything here may block.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from ds4.api.responses import tables
from ds4.api.responses.store import Item, Stored

BUSY_SECONDS = 5.0
"""How long another process may hold the file before a use of it fails."""
JOURNAL_BYTES = 4 * 1024 * 1024
"""What is left of the write-ahead log once all of it is in the file."""
# The file itself last: whoever opened it without the others would find it damaged, not empty.
_PARTS = ("-wal", "-shm", "")
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


class Unusable(Exception):
    """The file is damaged, or of another version."""


class Database:
    """Bounded by `max_responses` and by `max_bytes` of the file. Methods raise Unusable, sqlite3.Error or
    OSError, and have changed nothing then."""

    def __init__(self, path: Path, max_responses: int, max_bytes: int) -> None:
        self._path = path
        self._max_responses = max_responses
        self._max_bytes = max_bytes
        self._connection: sqlite3.Connection | None = None
        self._identity: tuple[int, int] | None = None

    def open(self) -> None:
        """Makes directory and file if they are missing, for their owner alone."""
        with self._use():
            pass

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def put_aside(self) -> Path:
        """Renames the file that was open, unless another one is in its place by now. Returns the new name."""
        aside = self._path.with_suffix(".damaged")
        same = self._identity is not None and self._identity == _identity(self._path)
        self.close()
        if same:
            for ending in _PARTS:
                part = Path(f"{self._path}{ending}")
                if part.exists():
                    part.replace(f"{aside}{ending}")
        return aside

    def write(self, namespace: str, stored: Stored) -> None:
        """One that is larger than all bounds is not kept."""
        if stored.size > self._max_bytes:
            return
        with self._use() as connection, _transaction(connection):
            _remove(connection, namespace, stored.id)
            tables.insert(connection, namespace, stored)
            tables.shrink(connection, self._max_responses, self._max_bytes)

    def read(self, namespace: str, response_id: str) -> Stored | None:
        with self._use() as connection:
            with _transaction(connection, "DEFERRED"):
                found = tables.find(connection, namespace, response_id)
                stored = None if found is None else tables.load(connection, response_id, *found)
            if found is not None:
                tables.touch(connection, found[0])
            return stored

    def item(self, namespace: str, item_id: str) -> Item | None:
        with self._use() as connection:
            found = tables.find_item(connection, namespace, item_id)
            if found is None:
                return None
            tables.touch(connection, found[0])
            return found[1]

    def delete(self, namespace: str, response_id: str) -> bool:
        with self._use() as connection, _transaction(connection):
            return _remove(connection, namespace, response_id)

    @contextmanager
    def _use(self) -> Iterator[sqlite3.Connection]:
        try:
            yield self._current()
        except sqlite3.DatabaseError as error:
            # The low byte is the kind; above it are details.
            if (getattr(error, "sqlite_errorcode", 0) & 0xFF) in _DAMAGED:
                raise Unusable(str(error)) from error
            raise

    def _current(self) -> sqlite3.Connection:
        if self._connection is not None and self._identity == _identity(self._path):
            return self._connection
        self.close()
        for folder in (self._path.parent.parent, self._path.parent):
            # The mode is that of the last folder only.
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # SQLite gives its other files the mode of this one. One that is there is not opened here: closing it
        # would take the locks of every connection of this process.
        with suppress(FileExistsError):
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        self._path.chmod(0o600)
        self._identity = _identity(self._path)
        connection = sqlite3.connect(
            self._path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        with ExitStack() as unless_prepared:
            unless_prepared.callback(connection.close)
            _prepare(connection)
            unless_prepared.pop_all()
        self._connection = connection
        return connection


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA journal_mode = WAL")
    # Safe against the end of the process; after a power cut the last writes may be missing.
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute(f"PRAGMA journal_size_limit = {JOURNAL_BYTES}")
    version = tables.version(connection)
    if version is None:
        connection.executescript(tables.SCHEMA)
    elif version != tables.VERSION:
        raise Unusable(f"its tables have version {version}, this server's {tables.VERSION}")


def _remove(connection: sqlite3.Connection, namespace: str, response_id: str) -> bool:
    found = tables.find(connection, namespace, response_id)
    if found is not None:
        tables.drop(connection, found[0])
    return found is not None


@contextmanager
def _transaction(connection: sqlite3.Connection, kind: str = "IMMEDIATE") -> Iterator[None]:
    connection.execute(f"BEGIN {kind}")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
