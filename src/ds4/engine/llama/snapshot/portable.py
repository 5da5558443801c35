"""A slot's state as every slot of every context with the same layout can load it."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ds4.core.step import SnapshotKind
from ds4.engine.llama.snapshot.check import Claim, Data, check
from ds4.engine.llama.snapshot.seal import check_seal, seal
from ds4.engine.llama.snapshot.shape import Shape
from ds4.engine.llama.snapshot.streams import narrow, widen

_SLOT, _STREAMS = 0, 1
"""Of the canonical form."""


@dataclass(frozen=True, slots=True)
class Portable:
    """For a context of `streams` slots. Without `shapes`, blobs of an unknown memory keep their form."""

    shapes: Mapping[SnapshotKind, Shape]
    streams: int
    n_vocab: int

    def pack(self, data: Data, slot: int, kind: SnapshotKind, rows: int) -> memoryview:
        """What is kept of a blob just written for `slot`; takes over the memory of `data`. Raises Damaged."""
        if shape := self.shapes.get(kind):
            caches = check(shape, Claim(slot, self.streams, rows, self.n_vocab), data)
            data = narrow(data, caches, self.streams)
        seal(data)
        data.flags.writeable = False
        return data.data

    def unpack(self, kept: bytes | memoryview, kind: SnapshotKind, rows: int) -> Data:
        """The blob to load. Raises Damaged for what is not a whole blob of `rows` rows, as it was packed."""
        data = np.frombuffer(kept, dtype=np.uint8)
        check_seal(data)
        shape = self.shapes.get(kind)
        if shape is None:
            return data
        caches = check(shape, Claim(_SLOT, _STREAMS, rows, self.n_vocab), data)
        return widen(data, caches, self.streams)
