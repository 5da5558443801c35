"""One SQLite file with tables of one version.

Rules:
- The file may be replaced under us (another process put a damaged one aside, somebody removed it): every
  use looks whether it is still the one at the path, and opens it anew if not.
- A file that cannot be what it should be is renamed, not deleted. There is one such name: an older one goes.
- Not thread safe, and everything here may block.
"""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

BUSY_SECONDS = 5.0
"""How long another process may hold the file before a use of it fails."""
SWITCH_TRIES, SWITCH_PAUSE = 100, 0.05
JOURNAL_BYTES = 4 * 1024 * 1024
"""What is left of the write-ahead log once all of it is in the file."""
# The file itself last: whoever opened it without the others would find it damaged, not empty.
_PARTS = ("-wal", "-shm", "")
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


def is_senseless(error: sqlite3.Error) -> bool:
    """Whether SQLite could not make sense of a statement. Ours are right: then the file is not what it was,
    in its header or in the names of its tables, and SQLite does not speak of damage."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_ERROR


class Unusable(Exception):
    """The file is damaged, or of another version."""


class SqliteFile:
    """`schema` makes the tables where there are none, and sets `user_version` to `version`.

    Methods raise Unusable, sqlite3.Error or OSError. `opened` counts how often the file was opened.
    """

    def __init__(self, path: Path, schema: str, version: int) -> None:
        self._path = path
        self._schema = schema
        self._version = version
        self._connection: sqlite3.Connection | None = None
        self._identity: tuple[int, int] | None = None
        self.opened = 0

    @contextmanager
    def use(self) -> Iterator[sqlite3.Connection]:
        """An open connection. Makes directory and file if they are missing, for their owner alone."""
        try:
            yield self._current()
        except sqlite3.DatabaseError as error:
            # The low byte is the kind; above it are details.
            if (getattr(error, "sqlite_errorcode", 0) & 0xFF) in _DAMAGED or is_senseless(error):
                raise Unusable(str(error)) from error
            raise

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def put_aside(self) -> Path:
        """Renames the file that was open, unless another one is in its place by now. Returns the new name."""
        aside = _aside(self._path)
        same = self._identity is not None and self._identity == _identity(self._path)
        self.close()
        if same:
            for ending in _PARTS:
                part = Path(f"{self._path}{ending}")
                if part.exists():
                    part.replace(f"{aside}{ending}")
        return aside

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
            self._prepare(connection)
            unless_prepared.pop_all()
        self._connection = connection
        self.opened += 1
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        _set_up(connection)
        # Both of one moment: another process may be making the tables.
        with transaction(connection, "DEFERRED"):
            tables = number(connection, "SELECT count(*) FROM sqlite_master")
            version = number(connection, "PRAGMA user_version")
        if not version and not tables:
            connection.executescript(self._schema)
        elif version != self._version:
            raise Unusable(f"its tables have version {version}, this server's {self._version}")


def files_of(path: Path) -> list[Path]:
    """What is there of the file at `path`, and of one that was put aside.

    In this order they may be removed, also while a process uses them.
    """
    names = (Path(f"{whose}{ending}") for whose in (path, _aside(path)) for ending in _PARTS)
    return [name for name in names if name.exists()]


@contextmanager
def transaction(connection: sqlite3.Connection, kind: str = "IMMEDIATE") -> Iterator[None]:
    connection.execute(f"BEGIN {kind}")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def write_ahead(connection: sqlite3.Connection) -> None:
    """Switches the file's write-ahead log on.

    SQLite does not wait here for another process that does the same.
    """
    for _ in range(SWITCH_TRIES):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
            time.sleep(SWITCH_PAUSE)
        else:
            return
    connection.execute("PRAGMA journal_mode = WAL")


def number(connection: sqlite3.Connection, query: str) -> int:
    (value,) = connection.execute(query).fetchone()
    return int(value)


def bytes_used(connection: sqlite3.Connection) -> int:
    """In whole pages, without those that are free."""
    pages = number(connection, "PRAGMA page_count") - number(connection, "PRAGMA freelist_count")
    return pages * number(connection, "PRAGMA page_size")


def _set_up(connection: sqlite3.Connection) -> None:
    connection.text_factory = _text
    write_ahead(connection)
    # Safe against the end of the process; after a power cut the last writes may be missing.
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute(f"PRAGMA journal_size_limit = {JOURNAL_BYTES}")


def _aside(path: Path) -> Path:
    return path.with_suffix(".damaged")


def _text(data: bytes) -> str:
    # A flipped byte is one row's affair.
    return data.decode("utf-8", "replace")


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino
