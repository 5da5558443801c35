"""Reads the shape out of a blob of a few known rows.

Rules: a blob does not say how many sections and tensors it has. What can only be the beginning of a section,
or the end, is looked for first; anything else must be the head of one more tensor. `check` and a round trip
prove the result (see `proof`), so a wrong guess costs portability and nothing else.
"""

import struct

from ds4.engine.llama.snapshot.check import Claim, Data
from ds4.engine.llama.snapshot.look import DSV4_MAGIC, FIXED_HEAD, LAYER_TENSOR, MAX_TYPES, TENSOR, Look
from ds4.engine.llama.snapshot.shape import (
    CELL_RECURRENT,
    POOLED_HEAD,
    POOLED_TAIL,
    START,
    WORD,
    Entry,
    Kind,
    Section,
    Shape,
)

_DSV4_PREFIX = 12
_LAYERS = struct.Struct("<II")
_TRANSPOSED = struct.Struct("<iII")
_SIZE = struct.Struct("<Q")


class _Unknown(Exception):
    """The blob has a part that is not known here."""


def discover(claim: Claim, data: Data) -> Shape | None:
    """None for a blob of a memory that is not known here."""
    try:
        return _Reader(claim, data.tobytes()).shape()
    except (_Unknown, struct.error):  # struct's: the blob ends where a head should be
        return None


class _Reader:
    def __init__(self, claim: Claim, raw: bytes) -> None:
        self._raw = raw
        self._at = START.size
        self._streams = claim.streams
        compressed = self._peek(WORD)[0] == DSV4_MAGIC
        self._prefix = _DSV4_PREFIX if compressed else 0
        self._look = Look(claim, raw, compressed)

    def shape(self) -> Shape:
        prefix = self._take(self._prefix)
        sections = []
        while self._at < len(self._raw):
            sections.append(self._section())
        return Shape(prefix, tuple(sections))

    def _section(self) -> Section:
        at, look = self._at, self._look
        if look.cache(at):
            return self._cache()
        if look.recurrent(at):
            return self._recurrent()
        if look.pooled(at):
            return self._pooled()
        if look.fixed(at):
            return self._fixed()
        raise _Unknown

    def _closes(self, at: int) -> bool:
        """Whether a section ends here: another begins, or nothing follows."""
        return at == len(self._raw) or self._look.starts_section(at)

    def _cache(self) -> Section:
        self._skip(WORD.size)
        own = self._look.own_stream(self._at)
        if own is None:
            raise _Unknown
        self._skip(WORD.size * (own.before + 1) + own.cells * own.cell)
        transposed, layers = self._peek(_LAYERS)
        head = self._take(_LAYERS.size)
        entries = [self._tensor(own.cells) for _ in range(layers)]
        others = WORD.size * (self._streams - 1 - own.before)
        while not self._cache_closes(others):
            entries.append(self._transposed(own.cells) if transposed else self._tensor(own.cells))
        self._skip(others)
        return Section(Kind.CACHE, own.cell, head, tuple(entries))

    def _cache_closes(self, others: int) -> bool:
        end = self._at + others
        return self._raw[self._at : end] == bytes(others) and self._closes(end)

    def _recurrent(self) -> Section:
        self._skip(WORD.size + CELL_RECURRENT)
        head = self._take(_LAYERS.size)
        entries = []
        while not self._closes(self._at):
            entries.append(self._tensor(1) if self._look.tensor(self._at) else self._untyped())
        return Section(Kind.RECURRENT, CELL_RECURRENT, head, tuple(entries))

    def _pooled(self) -> Section:
        version, rows, streams, layers = self._peek(POOLED_HEAD)
        self._skip(POOLED_HEAD.size)
        head = POOLED_HEAD.pack(version, 0, streams, layers)
        return Section(Kind.POOLED, 0, head, tuple(self._pooled_tensor(rows) for _ in range(layers)))

    def _pooled_tensor(self, rows: int) -> Entry:
        width = self._peek(LAYER_TENSOR)[-1]
        head = self._take(LAYER_TENSOR.size)
        self._skip(rows * width)
        return Entry(head[: -POOLED_TAIL.size], width)

    def _fixed(self) -> Section:
        layers = self._peek(FIXED_HEAD)[-1]
        head = self._take(FIXED_HEAD.size)
        entries = []
        for _ in range(layers):
            layer = self._take(WORD.size)  # once for the two tensors of a layer
            entries += [self._fixed_tensor(layer), self._fixed_tensor(b"")]
        return Section(Kind.FIXED, 0, head, tuple(entries))

    def _fixed_tensor(self, layer: bytes) -> Entry:
        head = self._take(LAYER_TENSOR.size - WORD.size)
        rows, size = POOLED_TAIL.unpack_from(head, len(head) - POOLED_TAIL.size)
        self._skip(rows * size)
        return Entry(layer + head, rows * size)

    def _tensor(self, rows: int) -> Entry:
        if not self._look.tensor(self._at):
            raise _Unknown
        width = self._peek(TENSOR)[1]
        head = self._take(TENSOR.size)
        self._skip(rows * width)
        return Entry(head, width)

    def _transposed(self, rows: int) -> Entry:
        kind, element, length = self._peek(_TRANSPOSED)
        if not 0 <= kind < MAX_TYPES or not element * length:
            raise _Unknown
        head = self._take(_TRANSPOSED.size)
        self._skip(rows * element * length)
        return Entry(head, element * length)

    def _untyped(self) -> Entry:
        (width,) = self._peek(_SIZE)
        head = self._take(_SIZE.size)
        self._skip(width)
        return Entry(head, width)

    def _peek(self, layout: struct.Struct) -> tuple[int, ...]:
        return layout.unpack_from(self._raw, self._at)

    def _take(self, size: int) -> bytes:
        start = self._at
        self._skip(size)
        return self._raw[start : self._at]

    def _skip(self, size: int) -> None:
        self._at += size
        if self._at > len(self._raw):
            raise _Unknown
