"""What stands at a place of a blob whose slot and rows are known, but whose shape is not."""

import struct
from dataclasses import dataclass

import numpy as np

from ds4.engine.llama.snapshot.check import Claim
from ds4.engine.llama.snapshot.shape import CELL, CELL_EXT, POOLED_HEAD, WORD

TENSOR = struct.Struct("<iQ")
"""Type and row size."""

LAYER_TENSOR = struct.Struct("<IiQQQ")
"""Layer, type, row length, rows, row size."""

FIXED_HEAD = struct.Struct("<IIIIII")
"""Version, ratio, rows, row length, streams, layers."""

DSV4_MAGIC = 0x34565344
MAX_TYPES = 64
_MAX_LAYERS = 1024


@dataclass(frozen=True, slots=True)
class OwnStream:
    """The one stream that is not empty: how many stand before it, its cells, and a cell's size in bytes."""

    before: int
    cells: int
    cell: int


@dataclass(frozen=True, slots=True)
class Look:
    """`compressed` is a blob of DeepSeek V4, the only ones with POOLED and FIXED sections."""

    claim: Claim
    raw: bytes
    compressed: bool

    def starts_section(self, at: int) -> bool:
        return self.cache(at) or self.recurrent(at) or self.pooled(at) or self.fixed(at)

    def cache(self, at: int) -> bool:
        return self._word(at) == self.claim.streams and self.own_stream(at + WORD.size) is not None

    def own_stream(self, at: int) -> OwnStream | None:
        """At the first stream's count."""
        for before in range(self.claim.streams):
            count = self._word(at + WORD.size * before)
            if count:
                cells = at + WORD.size * (before + 1)
                fits = (size for size in (CELL, CELL_EXT) if self._cells(cells, count, size))
                return next((OwnStream(before, count, size) for size in fits), None)
        return None

    def recurrent(self, at: int) -> bool:
        wanted = (1, self.claim.rows - 1, 0, 0)  # cells, position, slots, not transposed
        return tuple(self._word(at + WORD.size * i) for i in range(len(wanted))) == wanted

    def pooled(self, at: int) -> bool:
        if not self.compressed or at + POOLED_HEAD.size > len(self.raw):
            return False
        _, rows, streams, layers = POOLED_HEAD.unpack_from(self.raw, at)
        return rows <= self.claim.rows and self._layers(at + POOLED_HEAD.size, rows, streams, layers)

    def fixed(self, at: int) -> bool:
        if not self.compressed or at + FIXED_HEAD.size > len(self.raw):
            return False
        _, _, rows, _, streams, layers = FIXED_HEAD.unpack_from(self.raw, at)
        return self._layers(at + FIXED_HEAD.size, rows, streams, layers)

    def tensor(self, at: int) -> bool:
        if at + TENSOR.size > len(self.raw):
            return False
        kind, width = TENSOR.unpack_from(self.raw, at)
        return bool(0 <= kind < MAX_TYPES and 0 < width <= len(self.raw) - at)

    def _layers(self, at: int, rows: int, streams: int, layers: int) -> bool:
        if streams != 1 or layers > _MAX_LAYERS:
            return False
        return layers == 0 or self._layer_tensor(at, rows)

    def _layer_tensor(self, at: int, rows: int) -> bool:
        if at + LAYER_TENSOR.size > len(self.raw):
            return False
        layer, kind, length, found, size = LAYER_TENSOR.unpack_from(self.raw, at)
        return bool(layer < _MAX_LAYERS and 0 <= kind < MAX_TYPES and found == rows and length and size)

    def _cells(self, at: int, count: int, size: int) -> bool:
        rows = self.claim.rows
        if count > rows or at + count * size > len(self.raw):
            return False
        cells = np.frombuffer(self.raw, "<i4", count * size // WORD.size, at).reshape(count, -1)
        held = np.sort(cells[:, 0]) == np.arange(rows - count, rows)
        return bool((held & (cells[:, 1] == 1) & (cells[:, -1] == self.claim.slot)).all())

    def _word(self, at: int) -> int:
        """-1 behind the end."""
        inside = at + WORD.size <= len(self.raw)
        return int(WORD.unpack_from(self.raw, at)[0]) if inside else -1
