"""Responses in one SQLite file. Every write ends within the bounds; what was used longest ago goes first."""

import sqlite3
from pathlib import Path

from ds4.api.responses import tables
from ds4.api.responses.store import Item, Stored
from ds4.storage.sqlite_file import SqliteFile, transaction


class Database:
    """Bounded by `max_responses` and by `max_bytes` of the file. Not thread safe, and everything may block.

    Methods raise Unusable, sqlite3.Error or OSError, and have changed nothing then.
    """

    def __init__(self, path: Path, max_responses: int, max_bytes: int) -> None:
        self._file = SqliteFile(path, tables.SCHEMA, tables.VERSION)
        self._max_responses = max_responses
        self._max_bytes = max_bytes

    def open(self) -> None:
        with self._file.use():
            pass

    def close(self) -> None:
        self._file.close()

    def put_aside(self) -> Path:
        """Renames the file that was open, unless another one is in its place by now. Returns the new name."""
        return self._file.put_aside()

    def write(self, namespace: str, stored: Stored) -> None:
        """One that is larger than all bounds is not kept."""
        if stored.size > self._max_bytes:
            return
        with self._file.use() as connection, transaction(connection):
            _remove(connection, namespace, stored.id)
            tables.insert(connection, namespace, stored)
            tables.shrink(connection, self._max_responses, self._max_bytes)

    def read(self, namespace: str, response_id: str) -> Stored | None:
        with self._file.use() as connection:
            with transaction(connection, "DEFERRED"):
                found = tables.find(connection, namespace, response_id)
                stored = None if found is None else tables.load(connection, response_id, *found)
            if found is not None:
                tables.touch(connection, found[0])
            return stored

    def item(self, namespace: str, item_id: str) -> Item | None:
        with self._file.use() as connection:
            found = tables.find_item(connection, namespace, item_id)
            if found is None:
                return None
            tables.touch(connection, found[0])
            return found[1]

    def calling(self, namespace: str, call_id: str) -> str | None:
        with self._file.use() as connection:
            return tables.find_call(connection, namespace, call_id)

    def delete(self, namespace: str, response_id: str) -> bool:
        with self._file.use() as connection, transaction(connection):
            return _remove(connection, namespace, response_id)


def _remove(connection: sqlite3.Connection, namespace: str, response_id: str) -> bool:
    found = tables.find(connection, namespace, response_id)
    if found is not None:
        tables.drop(connection, found[0])
    return found is not None
