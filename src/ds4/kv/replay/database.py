"""Records in one SQLite file.

Rules:
- Token ids mean something to one vocabulary only: each model sees its own records.
- Every write ends within the bounds; what was used longest ago goes first. Freed pages are used again.
- What is read is what was written, or nothing: each row is sealed, and one with a broken seal is deleted.
- Not thread safe, and everything here may block.
"""

import sqlite3
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np
import orjson

from ds4.core.ports import Clock
from ds4.kv.replay.meaning import Call, Meaning
from ds4.kv.replay.memory import Bounds
from ds4.kv.replay.record import DIGEST_BYTES, Record
from ds4.storage.sqlite_file import SqliteFile, bytes_used, number, transaction

FILE = "replay.sqlite3"
VERSION = 2
"""Raise it with every change."""
PURGE = 64
"""Records that go at a time."""
SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS answers (
    id INTEGER PRIMARY KEY AUTOINCREMENT, model TEXT NOT NULL, namespace TEXT NOT NULL, prefix BLOB NOT NULL,
    key BLOB NOT NULL, row_count INTEGER NOT NULL, closed INTEGER NOT NULL,
    calls INTEGER NOT NULL, meaning BLOB NOT NULL, ids BLOB NOT NULL, seal BLOB NOT NULL, used REAL NOT NULL,
    UNIQUE (model, key)
);
CREATE INDEX IF NOT EXISTS by_use ON answers (used, id, calls);
PRAGMA user_version = {VERSION};
COMMIT;
"""
# The plus keeps SQLite from reading all of the model's by the index on its name.
_NEWS = "SELECT id, key, namespace, prefix, row_count FROM answers WHERE +model = ? AND id > ? ORDER BY id"
_READ = """SELECT id, namespace, prefix, row_count, closed, calls, meaning, ids, seal
    FROM answers WHERE model = ? AND id = ?"""
_WRITE = """INSERT INTO answers
    (model, namespace, prefix, key, row_count, closed, calls, meaning, ids, seal, used)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (model, key) DO UPDATE SET used = excluded.used"""


@dataclass(frozen=True, slots=True)
class Entry:
    """That there is a record, and where it belongs."""

    id: int
    key: bytes
    namespace: str
    prefix: bytes
    rows: int


class Database:
    """Methods raise Unusable, sqlite3.Error or OSError, and have changed nothing then."""

    def __init__(self, path: Path, model: str, bounds: Bounds, clock: Clock) -> None:
        self._file = SqliteFile(path, SCHEMA, VERSION)
        self._model = model
        self._bounds = bounds
        self._clock = clock
        self._seen = 0
        self._opened = 0

    def close(self) -> None:
        self._file.close()

    def put_aside(self) -> Path:
        return self._file.put_aside()

    def news(self) -> Sequence[Entry]:
        """What came since the last call, from any process; at first, and from a fresh file, all there is."""
        with self._file.use() as connection:
            if self._opened != self._file.opened:
                self._opened, self._seen = self._file.opened, 0
            found = [Entry(*row) for row in connection.execute(_NEWS, (self._model, self._seen))]
        if found:
            self._seen = found[-1].id
        return found

    def write(self, records: Iterable[Record], used: Iterable[bytes] = ()) -> None:
        """`used` are the keys of older ones that were used."""
        now = self._clock.wall()
        with self._file.use() as connection, transaction(connection):
            connection.executemany(_WRITE, [_row(self._model, record, now) for record in records])
            connection.executemany(
                "UPDATE answers SET used = ? WHERE model = ? AND key = ?",
                [(now, self._model, key) for key in used],
            )
            self._shrink(connection)

    def read(self, ids: Iterable[int]) -> Sequence[Record]:
        """Those that are still there and sound."""
        with self._file.use() as connection:
            rows = [connection.execute(_READ, (self._model, id_)).fetchone() for id_ in ids]
            found = [(row[0], _record(row)) for row in rows if row is not None]
            for id_, record in found:
                if record is None:
                    connection.execute("DELETE FROM answers WHERE id = ?", (id_,))
        return [record for _, record in found if record is not None]

    def _shrink(self, connection: sqlite3.Connection) -> None:
        while self._is_over(connection):
            connection.execute(
                "DELETE FROM answers WHERE id IN (SELECT id FROM answers ORDER BY used, id LIMIT ?)",
                (max(1, min(PURGE, number(connection, "SELECT count(*) FROM answers") // 4)),),
            )

    def _is_over(self, connection: sqlite3.Connection) -> bool:
        calls = number(connection, "SELECT coalesce(sum(calls), 0) FROM answers")
        return calls > self._bounds.calls or (calls > 0 and bytes_used(connection) > self._bounds.size)


def _row(model: str, record: Record, now: float) -> tuple[object, ...]:
    meaning = record.meaning
    written = zlib.compress(
        orjson.dumps(
            [
                [text.encode(errors="surrogatepass").decode(errors="replace") for text in texts]
                for texts in (meaning.text, meaning.reasoning)
            ]
            + [[[call.name, call.arguments.hex()] for call in meaning.calls]]
        )
    )
    ids = zlib.compress(np.ascontiguousarray(record.ids, dtype="<i4").tobytes())
    where = (record.rows, int(record.closed), record.weight)
    seal = _seal(record.namespace, record.prefix, *where, written, ids)
    return (model, record.namespace, record.prefix, record.key, *where, written, ids, seal, now)


def _record(row: Sequence[object]) -> Record | None:
    _, namespace, prefix, rows, closed, calls, written, ids, seal = row
    if not isinstance(written, bytes) or not isinstance(ids, bytes) or not isinstance(prefix, bytes):
        return None
    if seal != _seal(namespace, prefix, rows, closed, calls, written, ids):
        return None
    text, reasoning, named = orjson.loads(zlib.decompress(written))
    meaning = Meaning(
        tuple(text), tuple(Call(name, bytes.fromhex(digest)) for name, digest in named), tuple(reasoning)
    )
    array = np.frombuffer(zlib.decompress(ids), "<i4").astype(np.int32)
    array.setflags(write=False)
    return Record(str(namespace), prefix, int(str(rows)), array, meaning, bool(closed))


def _seal(*parts: object) -> bytes:
    digest = blake2b(digest_size=DIGEST_BYTES)
    for part in parts:
        data = part if isinstance(part, bytes) else str(part).encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.digest()
