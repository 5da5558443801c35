"""The index file: how it is made, opened and recognised.

Rules of this file:
- A file that is not ours, or of another schema, is never written to.
- A file that is ours and damaged is put aside, once, and a new one is begun.
- Ours means: the header says so and the `meta` table says so too. When only one does, it is damaged.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from ds4.kv.disk.folder import Folder, Unusable
from ds4.storage.sqlite_file import is_senseless, transaction, write_ahead

APPLICATION = 0x64733476  # "ds4v"
SCHEMA = 1
BUSY_SECONDS = 60.0
SMALLEST_LOG = 64 << 10
LARGEST_LOG = 4 << 20
LOGS_PER_SPACE = 64
PAGE = 4096

_HEADER_BYTES = 100
_APPLICATION_AT = 68
_NAME = "ds4-server kv cache"
_TABLES = (
    "CREATE TABLE meta(name TEXT, schema INTEGER)",
    "CREATE TABLE models(id INTEGER PRIMARY KEY, model TEXT, layout TEXT, chunk INTEGER, any_length INTEGER)",
    "CREATE TABLE segments(id INTEGER PRIMARY KEY AUTOINCREMENT, size INTEGER)",
    "CREATE TABLE extents(id INTEGER PRIMARY KEY AUTOINCREMENT, segment INTEGER, seal BLOB, chunks BLOB)",
    "CREATE TABLE spoiled(id INTEGER PRIMARY KEY AUTOINCREMENT,"
    " segment INTEGER, start INTEGER, length INTEGER)",
    "CREATE TABLE checkpoints(id INTEGER PRIMARY KEY AUTOINCREMENT, hits INTEGER, last_used REAL,"
    " key TEXT, model TEXT, quant TEXT, layout TEXT, namespace TEXT, kind TEXT, row_count INTEGER,"
    " positions INTEGER, reason TEXT, created REAL, parts TEXT, checksum TEXT,"
    " seal BLOB, tokens BLOB, runs BLOB)",
)


class Damaged(Exception):
    """The index cannot be read as what it was."""


def connect(folder: Folder, space: int, *, create: bool) -> sqlite3.Connection:
    """A checked connection. Raises Unusable, Damaged, OSError and sqlite3.Error."""
    if create:
        folder.touch(folder.index)
    elif not folder.index.exists():
        raise Unusable(f"{folder.path} holds no cache of ds4-server")
    link = sqlite3.connect(folder.index, isolation_level=None, check_same_thread=False, timeout=BUSY_SECONDS)
    with ExitStack() as on_failure:
        on_failure.callback(link.close)
        with damage_named():
            _prepare(link, folder.path, create=create)
            _limit_log(link, space)
        on_failure.pop_all()
    return link


@contextmanager
def damage_named() -> Iterator[None]:
    """What sqlite says about a broken file is raised as Damaged. Few of its operational errors are that."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if not is_senseless(error):
            raise
        raise Damaged(str(error)) from None
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        # The second one: sqlite quotes what it cannot read.
        raise Damaged(str(error)) from None


def read_only(index: Path) -> sqlite3.Connection:
    """For one look. Raises sqlite3.Error."""
    link = sqlite3.connect(
        f"{index.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None, timeout=BUSY_SECONDS
    )
    link.text_factory = _text
    return link


def is_ours(index: Path) -> bool:
    """By its header alone, whatever schema it has. Changes nothing."""
    try:
        with index.open("rb") as file:
            header = file.read(_HEADER_BYTES)
    except OSError:
        return False
    return header[_APPLICATION_AT : _APPLICATION_AT + 4] == APPLICATION.to_bytes(4, "big")


def put_aside(folder: Folder) -> None:
    """The damaged index is kept under another name, in case somebody wants to look at it."""
    folder.index.replace(folder.damaged)
    for path in folder.index_logs:
        with suppress(FileNotFoundError):
            path.unlink()


def _prepare(link: sqlite3.Connection, path: Path, *, create: bool) -> None:
    link.text_factory = _text
    link.execute("PRAGMA cell_size_check = ON")
    # All of it of one moment: another process may be making it.
    with transaction(link, "DEFERRED"):
        state = _recognise(link)
    if state == "new" and not create:
        raise Unusable(f"{path} holds no cache of ds4-server")
    if state == "new":
        _make(link)
    elif state != "ours":
        raise Unusable(f"{path}: {state}")
    link.execute("PRAGMA synchronous = NORMAL")
    if link.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
        raise Damaged("its pages do not fit together")


def _limit_log(link: sqlite3.Connection, space: int) -> None:
    """The write-ahead log is folded into the index when it has grown to a small part of the space."""
    size = min(max(space // LOGS_PER_SPACE, SMALLEST_LOG), LARGEST_LOG)
    link.execute(f"PRAGMA journal_size_limit = {size}")
    link.execute(f"PRAGMA wal_autocheckpoint = {size // PAGE}")


def _recognise(link: sqlite3.Connection) -> str:
    """`new`, `ours`, or why it is neither. Raises Damaged."""
    header = (_pragma(link, "application_id"), _pragma(link, "user_version"))
    tables = set(link.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'"))
    if not tables and header == (0, 0):
        return "new"
    named = link.execute("SELECT * FROM meta").fetchone() if "meta" in dict(tables) else None
    if named is None or named[0] != _NAME:
        if header[0] == APPLICATION:
            raise Damaged("it has lost its name")
        return "its index belongs to another program"
    if header != (APPLICATION, named[1]):
        raise Damaged("its header and its name disagree")
    if named[1] != SCHEMA:
        return (
            f"its index has schema {named[1]}, this version of ds4-server reads {SCHEMA}; "
            f"use another directory, or empty this one: ds4-server cache DIR clear"
        )
    if not {sql for _, sql in tables}.issuperset(_TABLES):
        raise Damaged("its tables are not those of its schema")
    return "ours"


def _make(link: sqlite3.Connection) -> None:
    link.execute("PRAGMA auto_vacuum = FULL")
    link.execute("BEGIN IMMEDIATE")
    if _recognise(link) == "new":  # Else another process was quicker.
        for statement in _TABLES:
            link.execute(statement)
        link.execute("INSERT INTO meta VALUES (?, ?)", (_NAME, SCHEMA))
        link.execute(f"PRAGMA application_id = {APPLICATION}")
        link.execute(f"PRAGMA user_version = {SCHEMA}")
    link.execute("COMMIT")
    # Only now: so the file itself says whose it is, and not its log.
    write_ahead(link)


def _pragma(link: sqlite3.Connection, name: str) -> int:
    return int(link.execute(f"PRAGMA {name}").fetchone()[0])


def _text(data: bytes) -> str:
    # A flipped byte must not raise here: the seal finds it, and then it is one row's affair.
    return data.decode("utf-8", "replace")


def stamp_of(path: Path) -> tuple[int, int] | None:
    """Tells one file from another of the same name; None when it is not there."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
