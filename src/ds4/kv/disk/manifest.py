"""What the index says about one checkpoint, and the seal that tells whether it still says so."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import xxhash

from ds4.core.plan import Ids
from ds4.core.step import Identity, SnapshotKind
from ds4.kv.checkpoint import Checkpoint, checkpoint_key
from ds4.kv.disk.runs import Runs


@dataclass(frozen=True, slots=True)
class Part:
    """One context's state: `size` bytes in the next `runs` runs."""

    context: str
    size: int
    runs: int


@dataclass(frozen=True, slots=True, eq=False)
class Manifest:
    """`tokens` are the row ids, little-endian; `checksum` is that of all parts' bytes.

    `reason` is a word, since another version of the server may know others.
    """

    key: str
    owner: Identity
    namespace: str
    kind: SnapshotKind
    rows: int
    positions: int
    reason: str
    created: float
    checksum: bytes
    parts: tuple[Part, ...]
    tokens: bytes
    runs: Runs

    @property
    def size(self) -> int:
        return sum(part.size for part in self.parts)

    @property
    def checkpoint(self) -> Checkpoint:
        return Checkpoint(self.key, self.namespace, self.ids, self.kind, self.size)

    @property
    def ids(self) -> Ids:
        """Not a copy."""
        return np.frombuffer(self.tokens, "<i4")

    def by_part(self) -> Iterator[tuple[Part, Runs]]:
        first = 0
        for part in self.parts:
            yield part, self.runs[first : first + part.runs]
            first += part.runs

    def is_whole(self) -> bool:
        """The numbers agree with each other."""
        lengths = sum(part.size for part in self.parts), sum(part.runs for part in self.parts)
        return (
            lengths == (int(self.runs["length"].sum(dtype=np.int64)), len(self.runs))
            and len(self.tokens) == self.rows * 4
            and self.key == checkpoint_key(self.namespace, self.kind, self.ids)
        )


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """A manifest in the index, under its number. `last_used` is seconds since the epoch."""

    number: int
    manifest: Manifest
    hits: int
    last_used: float


def parts_text(parts: tuple[Part, ...]) -> str:
    return json.dumps([[part.context, part.size, part.runs] for part in parts])


def parts_of(text: str) -> tuple[Part, ...]:
    """Raises ValueError or TypeError."""
    return tuple(Part(str(context), int(size), int(runs)) for context, size, runs in json.loads(text))


def seal(columns: tuple[object, ...], *blobs: bytes) -> bytes:
    """Over everything that never changes."""
    state = xxhash.xxh3_128(json.dumps(columns).encode())
    for blob in blobs:
        state.update(blob)
    return state.digest()
