"""Is a blob whole, and what it claims to be? Asked before llama.cpp reads it.

Rules: llama.cpp believes the positions, tokens and counts in a blob, and rows at impossible positions corrupt
its books for good. So every byte that is not a tensor's must be the one that the shape, the slot and the
number of rows ask for, or lie in the range they allow. Only the slot's number at the start is skipped, as
llama.cpp does. Tensor bytes are not looked at here; `seal` guards them.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ds4.core.errors import EngineError
from ds4.engine.llama.snapshot.shape import POOLED_HEAD, START, WORD, Kind, Section, Shape

MAGIC = 0xAF143CD8

Data = NDArray[np.uint8]


class Damaged(EngineError):
    def __init__(self, what: str) -> None:
        super().__init__(f"the snapshot is damaged, or another model's: {what}")


@dataclass(frozen=True, slots=True)
class Claim:
    """What a blob should be: `rows` rows of `slot` in a context of `streams` slots."""

    slot: int
    streams: int
    rows: int
    n_vocab: int


@dataclass(frozen=True, slots=True)
class CacheAt:
    """Where a CACHE section's parts begin, in bytes: the stream count, the own stream's count of cells, and
    what follows its rows. Its `rows` cells of `cell` bytes stand right behind their count."""

    streams_at: int
    count_at: int
    end: int
    rows: int
    cell: int


def check(shape: Shape, claim: Claim, data: Data) -> tuple[CacheAt, ...]:
    """The places of the CACHE sections, in order. Raises Damaged."""
    walk = _Walk(claim, data)
    walk.expect(WORD.pack(MAGIC), "magic")
    walk.at = START.size
    walk.expect(shape.prefix, "start")
    for section in shape.sections:
        _READERS[section.kind](walk, section)
    if walk.at != data.size:
        raise Damaged(f"{data.size} bytes, {walk.at} expected")
    return tuple(walk.caches)


class _Walk:
    def __init__(self, claim: Claim, data: Data) -> None:
        self._claim = claim
        self._data = data
        self.at = 0
        self.caches: list[CacheAt] = []

    def expect(self, wanted: bytes, what: str) -> None:
        if self._take(len(wanted)).tobytes() != wanted:
            raise Damaged(what)

    def cache(self, section: Section) -> None:
        """The own stream may be anywhere among the streams: it is the one that is not empty."""
        streams_at = self.at
        self.expect(WORD.pack(self._claim.streams), "streams")
        counts = [self._word()]
        while counts[-1] == 0 and len(counts) < self._claim.streams:
            counts.append(self._word())
        count_at = self.at - WORD.size
        self._check_cells(counts[-1], section.cell)
        self._rows(section, counts[-1])
        self.caches.append(CacheAt(streams_at, count_at, self.at, counts[-1], section.cell))
        self.expect(bytes(WORD.size * (self._claim.streams - len(counts))), "streams")

    def recurrent(self, section: Section) -> None:
        self.expect(WORD.pack(1) + START.pack(self._claim.rows - 1, 0), "recurrent cell")
        self._rows(section, 1)

    def pooled(self, section: Section) -> None:
        version, _, streams, layers = POOLED_HEAD.unpack(section.head)
        self.expect(WORD.pack(version), "version")
        rows = self._word()
        self.expect(WORD.pack(streams) + WORD.pack(layers), "layers")
        self._entries(section, rows)

    def fixed(self, section: Section) -> None:
        self._rows(section, 1)

    def _check_cells(self, count: int, size: int) -> None:
        """Rows that end with the last one, each once: all of them, or what a window keeps."""
        rows = self._claim.rows
        if not 0 < count <= rows:
            raise Damaged(f"{count} cells for {rows} rows")
        cells = self._take(count * size).view("<i4").reshape(count, -1)
        held = np.sort(cells[:, 0]) == np.arange(rows - count, rows)
        owned = (cells[:, 1] == 1) & (cells[:, -1] == self._claim.slot)
        token = cells[:, -2]  # in the short cell it is the number of slots: in range as well
        if not (held & owned & (token >= -1) & (token < self._claim.n_vocab)).all():
            raise Damaged("cells")

    def _rows(self, section: Section, rows: int) -> None:
        self.expect(section.head, "layers")
        self._entries(section, rows)

    def _entries(self, section: Section, rows: int) -> None:
        for entry in section.entries:
            self.expect(section.head_of(entry, rows), "tensor head")
            self._take(rows * entry.width)

    def _word(self) -> int:
        return int(self._take(WORD.size).view("<u4")[0])

    def _take(self, size: int) -> Data:
        end = self.at + size
        if end > self._data.size:
            raise Damaged(f"only {self._data.size} bytes")
        taken = self._data[self.at : end]
        self.at = end
        return taken


_READERS: dict[Kind, Callable[[_Walk, Section], None]] = {
    Kind.CACHE: _Walk.cache,
    Kind.RECURRENT: _Walk.recurrent,
    Kind.POOLED: _Walk.pooled,
    Kind.FIXED: _Walk.fixed,
}
