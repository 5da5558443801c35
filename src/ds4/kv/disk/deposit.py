"""One snapshot on its way into the segments: what of it is new, and where the rest already is."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ds4.core.step import Identity
from ds4.kv.checkpoint import Save
from ds4.kv.disk.chunks import Blob, blobs_of, cut, digest
from ds4.kv.disk.ledger import Ledger
from ds4.kv.disk.manifest import Manifest, Part
from ds4.kv.disk.runs import Chunks, Runs, merged
from ds4.kv.disk.tail import Tail, views_of

CHUNK_BYTES = 32


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """A snapshot in chunks."""

    blobs: tuple[Blob, ...]
    chunks: Chunks
    checksum: bytes


@dataclass(frozen=True, slots=True, eq=False)
class Match:
    """`found` has a run per chunk, of segment 0 where it is new. `first` are the distinct new chunks, in
    order, and `again` says for each new chunk which of them it is."""

    found: Runs
    first: NDArray[np.intp]
    again: NDArray[np.intp]
    new_bytes: int

    @property
    def shared(self) -> Runs:
        return merged(self.found[self.found["segment"] > 0])


def cut_snapshot(save: Save, average: int) -> Cut:
    blobs = blobs_of(save.snapshot)
    return Cut(blobs, cut(blobs, average), digest(blobs))


def match(chunks: Chunks, ledger: Ledger) -> Match:
    found = ledger.find(chunks)
    new = np.flatnonzero(found["segment"] == 0)
    _, first, inverse = np.unique(chunks.keys[new], return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), np.intp)
    rank[order] = np.arange(len(order))
    distinct = new[first[order]]
    return Match(found, distinct, rank[inverse], int(chunks.lengths[distinct].sum(dtype=np.int64)))


def index_bytes(save: Save, found: Match) -> int:
    """About what the index grows by, its log included."""
    return 2 * (save.checkpoint.ids.nbytes + CHUNK_BYTES * len(found.first))


def write(cut_: Cut, found: Match, tail: Tail) -> Runs:
    """Appends what is new; where every chunk now is. Raises OSError and sqlite3.Error."""
    chunks = cut_.chunks
    new, begins = chunks[found.first], chunks.starts()[:-1][found.first]
    placed = tail.append(new, views_of(cut_.blobs, begins, new.lengths))
    pieces = found.found.copy()
    pieces[pieces["segment"] == 0] = placed[found.again]
    return pieces


def manifest(save: Save, owner: Identity, cut_: Cut, pieces: Runs, now: float) -> Manifest:
    """`pieces` has one run per chunk."""
    checkpoint, snapshot = save.checkpoint, save.snapshot
    by_part = _by_part(cut_, pieces)
    return Manifest(
        key=checkpoint.key,
        owner=owner,
        namespace=checkpoint.namespace,
        kind=checkpoint.kind,
        rows=checkpoint.rows,
        positions=snapshot.positions,
        reason=str(save.reason),
        created=now,
        checksum=cut_.checksum,
        parts=tuple(
            Part(part.context, len(part.data), len(one))
            for part, one in zip(snapshot.parts, by_part, strict=True)
        ),
        tokens=np.ascontiguousarray(checkpoint.ids, "<i4").tobytes(),
        runs=np.concatenate(by_part) if by_part else pieces,
    )


def _by_part(cut_: Cut, pieces: Runs) -> Sequence[Runs]:
    ends = np.cumsum([len(blob) for blob in cut_.blobs])
    edges = [0, *np.searchsorted(cut_.chunks.starts(), ends).tolist()]
    return [merged(pieces[first:last]) for first, last in pairwise(edges)]
