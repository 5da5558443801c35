"""Reads one checkpoint whole, or says why not. Needs nothing but the directory, so it can run beside a write.

Rules of this file:
- Every byte that is given out has passed the checksum of the whole.
- The index is asked again when bytes are not where they were: they may have been moved meanwhile.
- No copy holds the interpreter lock: `pread` and the join of large pieces give it back.
"""

import sqlite3
import time
from dataclasses import dataclass

import numpy as np

from ds4.core.step import Identity, Snapshot, SnapshotPart
from ds4.kv.disk.chunks import digest
from ds4.kv.disk.folder import Folder, read_at
from ds4.kv.disk.index import Index
from ds4.kv.disk.manifest import Entry, Manifest
from ds4.kv.disk.runs import Runs, by_segment
from ds4.kv.disk.schema import read_only

ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Unread:
    """`damaged`: it will never be readable; else it is gone, or reading failed this time."""

    why: str
    damaged: bool
    number: int = 0


class Reader:
    """Checkpoints that `owner` can load."""

    def __init__(self, folder: Folder, owner: Identity, *, any_quant: bool) -> None:
        self._folder = folder
        self._owner = owner
        self._any_quant = any_quant

    def read(self, key: str) -> Snapshot | Unread:
        result: Snapshot | Unread = Unread("it is not in the cache any more", damaged=False)
        seen = 0
        for _ in range(ATTEMPTS):
            try:
                found = self._find(key)
            except sqlite3.Error as error:
                return Unread(f"the index cannot be read: {error}", damaged=False)
            if found is None:
                return Unread("it is not in the cache any more", damaged=False)
            number, entry = found
            if number == seen:
                return result
            seen = number
            result = self._read(number, entry)
            if isinstance(result, Snapshot):
                return result
        return result

    def _find(self, key: str) -> tuple[int, Entry | None] | None:
        index = Index(read_only(self._folder.index))
        try:
            return index.find(key, self._owner, any_quant=self._any_quant)
        finally:
            index.close()

    def _read(self, number: int, entry: Entry | None) -> Snapshot | Unread:
        if entry is None:
            return Unread("its index entry is damaged", damaged=True, number=number)
        manifest = entry.manifest
        try:
            blobs = [self._whole(pieces) for _, pieces in manifest.by_part()]
        except FileNotFoundError:
            return Unread("a segment file is missing", damaged=True, number=number)
        except OSError as error:
            return Unread(f"it cannot be read: {error.strerror}", damaged=False, number=number)
        if digest(blobs) != manifest.checksum:
            return Unread("its bytes are damaged", damaged=True, number=number)
        return _snapshot(manifest, blobs)

    def _whole(self, pieces: Runs) -> bytes:
        # File by file, then put back in order.
        order = np.argsort(pieces["segment"], kind="stable")
        read: list[bytes] = []
        for number, part in by_segment(pieces[order]):
            places = zip(part["offset"].tolist(), part["length"].tolist(), strict=True)
            read += read_at(self._folder.segment(number), places)
        placed = [b""] * len(read)
        for piece, at in enumerate(order.tolist()):
            placed[at] = read[piece]
        whole = b"".join(placed)
        read.clear()
        while placed:
            # Giving back a gigabyte at once would hold the interpreter lock for as long.
            placed.pop()
            time.sleep(0)
        return whole


def _snapshot(manifest: Manifest, blobs: list[bytes]) -> Snapshot:
    parts = tuple(SnapshotPart(part.context, data) for part, data in zip(manifest.parts, blobs, strict=True))
    return Snapshot(manifest.kind, manifest.rows, manifest.positions, parts)
