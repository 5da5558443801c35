"""Blobs without a slot and a slot count, and back: bytes to bytes.

Rules: a context of n slots writes each cache as n streams, all but the slot's own empty: one zero word each.
The canonical form is that of a context with one slot: one stream, and cells of slot 0. What becomes canonical
is rewritten in place, and the largest stretch, which may be a gigabyte, stays where it is. What a context of
several slots reads must be one block with the zero words in it, so it is copied once.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ds4.engine.llama.snapshot.check import CacheAt, Data
from ds4.engine.llama.snapshot.shape import WORD

Piece = tuple[int, int]


def narrow(data: Data, caches: Sequence[CacheAt], streams: int) -> Data:
    """The canonical form, in the memory of `data`."""
    for cache in caches:
        _set_word(data, cache.streams_at, 1)
        cells_at = cache.count_at + WORD.size
        cells = data[cells_at : cells_at + cache.rows * cache.cell].view("<i4").reshape(cache.rows, -1)
        cells[:, -1] = 0  # the slot
    return data if streams == 1 else _closed(data, _kept(data.size, caches, streams))


def widen(data: Data, caches: Sequence[CacheAt], streams: int) -> Data:
    """A canonical blob as a context of `streams` slots reads it; `data` itself where nothing changes.

    The own stream comes first: llama.cpp reads it into the slot it is told, whatever its place.
    """
    if streams == 1 or not caches:
        return data
    gap = WORD.size * (streams - 1)
    wide = np.empty(data.size + gap * len(caches), dtype=np.uint8)
    edges = [0, *(cache.end for cache in caches), data.size]
    at = 0
    for start, end in pairwise(edges):
        wide[at : at + end - start] = data[start:end]
        at += end - start
        wide[at : at + gap] = 0
        at += gap
    for number, cache in enumerate(caches):
        _set_word(wide, cache.streams_at + number * gap, streams)
    return wide


def _kept(size: int, caches: Sequence[CacheAt], streams: int) -> list[Piece]:
    """Everything but the zero words of the other streams."""
    pieces = []
    start = 0
    for cache in caches:
        first = cache.streams_at + WORD.size
        before = cache.count_at - first
        pieces += [(start, first), (cache.count_at, cache.end)]
        start = cache.end + WORD.size * (streams - 1) - before
    return [*pieces, (start, size)]


def _closed(data: Data, pieces: Sequence[Piece]) -> Data:
    """Moves the pieces against the largest one."""
    pivot = max(range(len(pieces)), key=lambda i: pieces[i][1] - pieces[i][0])
    low, high = pieces[pivot]
    for start, end in reversed(pieces[:pivot]):
        data[low - (end - start) : low] = data[start:end]
        low -= end - start
    for start, end in pieces[pivot + 1 :]:
        data[high : high + end - start] = data[start:end]
        high += end - start
    return data[low:high]


def _set_word(data: Data, at: int, value: int) -> None:
    data[at : at + WORD.size] = np.frombuffer(WORD.pack(value), dtype=np.uint8)
