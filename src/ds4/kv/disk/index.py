"""The index as typed rows: everything that speaks SQL to it. Raises sqlite3.Error.

What changes in it is worked out elsewhere. A row that no longer matches its seal comes back as None.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import xxhash

from ds4.core.step import Identity, SnapshotKind
from ds4.kv.disk.manifest import Entry, Manifest, parts_of, parts_text, seal
from ds4.kv.disk.runs import RUN, Chunks, Runs, runs, unpack_chunks
from ds4.kv.disk.tokens import pack_tokens, unpack_tokens

_COLUMNS = (
    "key, model, quant, layout, namespace, kind, row_count, positions, reason, created, parts, checksum"
)
_ROW = f"SELECT id, hits, last_used, seal, tokens, runs, {_COLUMNS} FROM checkpoints"


@dataclass(frozen=True, slots=True)
class ModelRow:
    """How a model's states are cut, and whether its memory can be cut back to any length."""

    chunk: int
    any_length: bool


@dataclass(frozen=True, slots=True)
class Extent:
    """Chunks that were appended to a segment at once; None when the row is damaged."""

    number: int
    segment: int
    chunks: Chunks | None


class Index:
    def __init__(self, link: sqlite3.Connection) -> None:
        self._link = link

    def close(self) -> None:
        self._link.close()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """All of it or nothing; no other process changes anything meanwhile. Inside another: part of it."""
        if self._is_inside():
            yield
            return
        self._link.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._link.execute("COMMIT")
        finally:
            # Not after a COMMIT; and some errors have ended the transaction by themselves.
            if self._is_inside():
                self._link.execute("ROLLBACK")

    @contextmanager
    def reading(self) -> Iterator[None]:
        """One state of the index, whatever others do. Inside `writing` it is that one."""
        if self._is_inside():
            yield
            return
        self._link.execute("BEGIN")
        try:
            yield
        finally:
            self._link.execute("ROLLBACK")

    def _is_inside(self) -> bool:
        return self._link.in_transaction

    def version(self) -> tuple[int, int]:
        """Moves when this or another connection has changed something."""
        found = self._link.execute("PRAGMA data_version").fetchone()
        return int(found[0]), self._link.total_changes

    def models(self) -> dict[tuple[str, str], ModelRow]:
        """By model and layout."""
        found = self._link.execute("SELECT model, layout, chunk, any_length FROM models")
        return {(model, layout): ModelRow(int(chunk), bool(any_)) for model, layout, chunk, any_ in found}

    def add_model(self, owner: Identity, row: ModelRow) -> None:
        values = (owner.model, owner.layout, row.chunk, row.any_length)
        self._link.execute("INSERT INTO models(model, layout, chunk, any_length) VALUES (?, ?, ?, ?)", values)

    def segments(self) -> dict[int, int]:
        """Sizes by number."""
        return dict(self._link.execute("SELECT id, size FROM segments"))

    def add_segment(self) -> int:
        number = self._link.execute("INSERT INTO segments(size) VALUES (0)").lastrowid
        assert number is not None
        return number

    def drop_segment(self, number: int) -> None:
        self._link.execute("DELETE FROM segments WHERE id = ?", (number,))
        self._link.execute("DELETE FROM extents WHERE segment = ?", (number,))
        self._link.execute("DELETE FROM spoiled WHERE segment = ?", (number,))

    def extents(self, after: int) -> Iterator[Extent]:
        """In the order in which they were written."""
        found = self._link.execute(
            "SELECT id, segment, seal, chunks FROM extents WHERE id > ? ORDER BY id", (after,)
        )
        for number, segment, check, packed in found:
            yield Extent(number, segment, _chunks(packed) if check == _check(segment, packed) else None)

    def add_extent(self, segment: int, chunks: Chunks) -> None:
        packed = chunks.pack()
        self._link.execute(
            "INSERT INTO extents(segment, seal, chunks) VALUES (?, ?, ?)",
            (segment, _check(segment, packed), packed),
        )
        self._link.execute("UPDATE segments SET size = size + ? WHERE id = ?", (chunks.size, segment))

    def spoiled(self, after: int) -> Iterator[tuple[int, Runs]]:
        found = self._link.execute("SELECT id, segment, start, length FROM spoiled WHERE id > ?", (after,))
        for number, segment, start, length in found:
            yield number, runs(segment, [start], [length])

    def add_spoiled(self, pieces: Runs) -> None:
        self._link.executemany(
            "INSERT INTO spoiled(segment, start, length) VALUES (?, ?, ?)", pieces.tolist()
        )

    def numbers(self) -> dict[int, tuple[int, float]]:
        """Hits and last use of every checkpoint."""
        found = self._link.execute("SELECT id, hits, last_used FROM checkpoints")
        return {number: (_whole(hits), _real(last_used)) for number, hits, last_used in found}

    def entry(self, number: int) -> Entry | None:
        return _entry(self._link.execute(f"{_ROW} WHERE id = ?", (number,)).fetchone())

    def find(self, key: str, owner: Identity, *, any_quant: bool) -> tuple[int, Entry | None] | None:
        """The number under which a checkpoint is now, and what is there. Its own quantisation comes first."""
        row = self._link.execute(
            f"{_ROW} WHERE key = ? AND model = ? AND layout = ? AND (quant = ? OR ?)"
            " ORDER BY quant = ? DESC, id DESC",
            (key, owner.model, owner.layout, owner.quant, any_quant, owner.quant),
        ).fetchone()
        return None if row is None else (row[0], _entry(row))

    def add(self, manifest: Manifest, hits: int, last_used: float) -> None:
        columns = _columns(manifest)
        tokens, pieces = pack_tokens(manifest.tokens), manifest.runs.tobytes()
        values = (hits, last_used, seal(columns, tokens, pieces), tokens, pieces, *columns)
        marks = ", ".join("?" * len(values))
        self._link.execute(
            f"INSERT INTO checkpoints(hits, last_used, seal, tokens, runs, {_COLUMNS}) VALUES ({marks})",
            values,
        )

    def remove(self, numbers: Iterable[int]) -> None:
        self._link.executemany("DELETE FROM checkpoints WHERE id = ?", [(number,) for number in numbers])

    def touch(self, number: int, now: float) -> None:
        self._link.execute(
            "UPDATE checkpoints SET hits = hits + 1, last_used = ? WHERE id = ?", (now, number)
        )

    def refresh(self, number: int, now: float) -> None:
        self._link.execute("UPDATE checkpoints SET last_used = ? WHERE id = ?", (now, number))


def _columns(manifest: Manifest) -> tuple[object, ...]:
    owner = manifest.owner
    return (
        manifest.key,
        owner.model,
        owner.quant,
        owner.layout,
        manifest.namespace,
        str(manifest.kind),
        manifest.rows,
        manifest.positions,
        manifest.reason,
        manifest.created,
        parts_text(manifest.parts),
        manifest.checksum.hex(),
    )


def _entry(row: tuple[object, ...] | None) -> Entry | None:
    if row is None:
        return None
    number, hits, last_used, mark, tokens, pieces, *columns = row
    if not (isinstance(number, int) and isinstance(tokens, bytes) and isinstance(pieces, bytes)):
        return None
    try:
        if mark != seal(tuple(columns), tokens, pieces):
            return None
        manifest = _manifest(columns, tokens, pieces)
    except (TypeError, ValueError):
        return None
    return Entry(number, manifest, _whole(hits), _real(last_used)) if manifest.is_whole() else None


def _manifest(columns: list[object], tokens: bytes, pieces: bytes) -> Manifest:
    key, model, quant, layout, namespace, kind, rows, positions, reason, created, parts, checksum = columns
    return Manifest(
        key=str(key),
        owner=Identity(str(model), str(quant), str(layout)),
        namespace=str(namespace),
        kind=SnapshotKind(str(kind)),
        rows=_whole(rows),
        positions=_whole(positions),
        reason=str(reason),
        created=_real(created),
        checksum=bytes.fromhex(str(checksum)),
        parts=parts_of(str(parts)),
        tokens=unpack_tokens(tokens),
        runs=np.frombuffer(pieces, RUN),
    )


def _chunks(packed: bytes) -> Chunks | None:
    try:
        return unpack_chunks(packed)
    except ValueError:
        return None


def _check(segment: int, packed: object) -> bytes:
    return xxhash.xxh3_64_digest(b"%d:" % segment + (packed if isinstance(packed, bytes) else b""))


def _whole(number: object) -> int:
    return number if isinstance(number, int) else 0


def _real(number: object) -> float:
    return float(number) if isinstance(number, int | float) else 0.0
