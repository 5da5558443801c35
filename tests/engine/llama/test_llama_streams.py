"""Blobs made here, of any sections and slots: what is packed in one context is unpacked for another."""

import struct
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ds4.core.errors import EngineError
from ds4.core.step import SnapshotKind
from ds4.engine.llama.snapshot import Portable
from ds4.engine.llama.snapshot.check import MAGIC, Claim, Data, check
from ds4.engine.llama.snapshot.discover import discover
from ds4.engine.llama.snapshot.shape import START, Entry, Kind, Section, Shape

N_VOCAB = 1000
FULL = SnapshotKind.FULL
WIDTHS = st.lists(st.integers(1, 40), min_size=1, max_size=4)


@dataclass(frozen=True)
class Model:
    """Sections as (kind, cell size, widths), and how many rows of theirs a CACHE keeps at most."""

    sections: tuple[tuple[Kind, int, tuple[int, ...]], ...]
    window: int

    def shape(self) -> Shape:
        return Shape(b"", tuple(_section(*section) for section in self.sections))

    def blob(self, slot: int, streams: int, rows: int, noise: bytes) -> Data:
        """As llama.cpp writes it; the tensors' rows are cut from `noise`."""
        out = [START.pack(MAGIC, slot)]
        for section in self.shape().sections:
            count = min(rows, self.window) if section.kind is Kind.CACHE else 1
            if section.kind is Kind.CACHE:
                out += [struct.pack("<I", streams), bytes(4 * slot), struct.pack("<I", count)]
                out += [_cell(pos, slot, section.cell) for pos in range(rows - count, rows)]
            else:
                out.append(struct.pack("<IiI", 1, rows - 1, 0))
            out.append(section.head)
            for entry in section.entries:
                out += [entry.head, _cut(noise, count * entry.width)]
            if section.kind is Kind.CACHE:
                out.append(bytes(4 * (streams - 1 - slot)))
        return np.frombuffer(b"".join(out), np.uint8).copy()


def _section(kind: Kind, cell: int, widths: tuple[int, ...]) -> Section:
    entries = tuple(Entry(struct.pack("<iQ", 1, width), width) for width in widths)
    transposed, layers = 0, len(widths) if kind is Kind.CACHE else 70
    return Section(kind, cell, struct.pack("<II", transposed, layers), entries)


def _cell(pos: int, slot: int, size: int) -> bytes:
    extra = struct.pack("<3i", 0, 0, pos % N_VOCAB) if size == 24 else b""
    return struct.pack("<iI", pos, 1) + extra + struct.pack("<i", slot)


def _cut(noise: bytes, size: int) -> bytes:
    return (noise * (size // len(noise) + 1))[:size]


caches = st.tuples(st.just(Kind.CACHE), st.sampled_from((12, 24)), WIDTHS.map(tuple))
recurrent = st.tuples(st.just(Kind.RECURRENT), st.just(8), WIDTHS.map(tuple))
models = st.builds(
    Model,
    st.one_of(
        st.lists(caches, min_size=1, max_size=3).map(tuple),
        st.tuples(caches, recurrent),
        st.tuples(caches, recurrent, caches),
        st.tuples(recurrent),
    ),
    st.integers(1, 20),
)
noises = st.binary(min_size=1, max_size=64)


@given(model=models, rows=st.integers(1, 30), noise=noises, draw=st.data())
def test_packed_is_the_blob_of_a_single_slot_and_unpacked_that_of_the_first(
    model: Model, rows: int, noise: bytes, draw: st.DataObject
) -> None:
    streams, target = (draw.draw(st.integers(1, 6)) for _ in range(2))
    slot = draw.draw(st.integers(0, streams - 1))
    packed = _portable(model, streams).pack(model.blob(slot, streams, rows, noise), slot, FULL, rows)
    assert _unmarked(packed) == model.blob(0, 1, rows, noise).tobytes()
    unpacked = _portable(model, target).unpack(packed, FULL, rows)
    assert _unmarked(unpacked.data) == model.blob(0, target, rows, noise).tobytes()


@given(model=models, rows=st.integers(1, 30), noise=noises, streams=st.integers(1, 6), draw=st.data())
def test_every_changed_bit_is_seen(
    model: Model, rows: int, noise: bytes, streams: int, draw: st.DataObject
) -> None:
    portable = _portable(model, streams)
    packed = portable.pack(model.blob(0, streams, rows, noise), 0, FULL, rows)
    changed = bytearray(packed)
    changed[draw.draw(st.integers(0, len(changed) - 1))] ^= 1 << draw.draw(st.integers(0, 7))
    with pytest.raises(EngineError, match="damaged"):
        portable.unpack(bytes(changed), FULL, rows)


@given(model=models, rows=st.integers(4, 30), noise=noises, streams=st.integers(1, 6), draw=st.data())
def test_a_shape_read_from_one_blob_fits_another_slots(
    model: Model, rows: int, noise: bytes, streams: int, draw: st.DataObject
) -> None:
    """A wrong guess is possible, and must then be one that no other blob passes."""
    slot = draw.draw(st.integers(0, streams - 1))
    found = discover(Claim(slot, streams, rows, N_VOCAB), model.blob(slot, streams, rows, noise))
    if found is not None and found != model.shape():
        with pytest.raises(EngineError):
            check(found, Claim(0, streams, rows + 1, N_VOCAB), model.blob(0, streams, rows + 1, noise[::-1]))


@pytest.mark.parametrize(
    ("claim", "why"),
    [
        (Claim(1, 2, 9, N_VOCAB), "cells"),
        (Claim(0, 2, 8, N_VOCAB), "cells"),
        (Claim(0, 2, 10, N_VOCAB), "cells"),
        (Claim(0, 3, 9, N_VOCAB), "streams"),
        (Claim(0, 2, 9, 5), "cells"),
    ],
)
def test_a_blob_of_other_slots_rows_or_tokens_is_refused(claim: Claim, why: str) -> None:
    model = Model(((Kind.CACHE, 24, (8, 8)),), window=20)
    blob = model.blob(0, 2, 9, b"noise")
    check(model.shape(), Claim(0, 2, 9, N_VOCAB), blob)
    with pytest.raises(EngineError, match=why):
        check(model.shape(), claim, blob)


def test_a_blob_with_more_behind_it_is_refused() -> None:
    model = Model(((Kind.CACHE, 12, (8, 8)),), window=20)
    blob = model.blob(0, 1, 9, b"noise")
    with pytest.raises(EngineError, match="expected"):
        check(model.shape(), Claim(0, 1, 9, N_VOCAB), np.append(blob, np.uint8(0)))


def test_the_largest_part_is_not_moved() -> None:
    model = Model(((Kind.CACHE, 12, (4,)), (Kind.CACHE, 12, (4000,)), (Kind.CACHE, 12, (4,))), window=20)
    blob = model.blob(1, 3, 9, b"noise")
    at = blob.ctypes.data + blob.tobytes().index(b"noise" * 100)
    packed = np.frombuffer(_portable(model, 3).pack(blob, 1, FULL, 9), np.uint8)
    assert packed.ctypes.data + packed.tobytes().index(b"noise" * 100) == at


def test_a_blob_of_an_unknown_memory_keeps_its_form() -> None:
    portable = Portable({}, 2, N_VOCAB)
    blob = np.frombuffer(START.pack(MAGIC, 1) + b"something", np.uint8).copy()
    packed = portable.pack(blob, 1, FULL, 9)
    assert portable.unpack(packed, FULL, 9).tobytes() == packed.tobytes()
    with pytest.raises(EngineError, match="damaged"):
        portable.unpack(packed[:-1], FULL, 9)


def _portable(model: Model, streams: int) -> Portable:
    return Portable({FULL: model.shape()}, streams, N_VOCAB)


def _unmarked(blob: memoryview) -> bytes:
    """Without the word that holds the sum in one form and the slot's number in the other."""
    data = bytearray(blob)
    data[4:8] = bytes(4)
    return bytes(data)
