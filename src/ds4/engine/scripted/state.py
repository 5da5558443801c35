"""What a slot remembers, in bytes that behave like a KV cache's.

Rules of this file:
- A row's bytes depend on every token up to it (a hash chain) and on the layer. Equal prefixes give
  equal bytes, so chunks deduplicate; bytes under the wrong tokens are found out on load.
- Append layers keep all rows. Window layers keep the last ones only: what is out of the window is
  gone, in the slot and in its snapshots.
- A snapshot is laid out layer by layer, as a real cache's is:
    header | FULL only: token ids, append layers | window layers
"""

import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from ds4.core.errors import EngineError
from ds4.core.step import Frontier, Snapshot, SnapshotKind, SnapshotPart, Trim

ROW = 32
"""Bytes per row and layer."""

_HEADER = struct.Struct("<4sBBxxI")
_MAGIC = b"ds4s"
_ID = np.dtype("<i4")


@dataclass(frozen=True, slots=True)
class Layout:
    """`window` rows are needed to go on and are saved; `held` stay in the slot.

    With held > window a slot can be cut back a little; with BOUNDARY, never.
    """

    trim: Trim
    append_layers: int
    window_layers: int = 0
    window: int = 0
    held: int = 0

    @property
    def bytes_per_row(self) -> int:
        """Growth of a FULL snapshot."""
        return _ID.itemsize + self.append_layers * ROW

    def slot_bytes(self, rows: int) -> int:
        return rows * self.bytes_per_row + min(rows, self.held) * self.window_layers * ROW


def layout_for(trim: Trim, window: int) -> Layout:
    if trim is Trim.ANY:
        return Layout(trim, append_layers=4)
    held = 2 * window if trim is Trim.WINDOW else window
    return Layout(trim, append_layers=2, window_layers=2, window=window, held=held)


class SlotState:
    """One slot's memory. The attributes are to be read only, by others."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self.clear()

    def clear(self) -> None:
        self.ids: list[int] = []
        self.chain = bytearray()
        # The window layers' first row. Rows before it count as gone, though the chain has them.
        self.first = 0

    def append(self, ids: Sequence[int]) -> None:
        self.ids.extend(ids)
        self.chain += _chain(ids, bytes(self.chain[-ROW:]))
        if self._layout.window_layers:
            self.first = max(self.first, len(self.ids) - self._layout.held)

    def copy_from(self, other: "SlotState") -> None:
        self.ids = other.ids.copy()
        self.chain = other.chain.copy()
        self.first = other.first

    def trim(self, rows: int) -> bool:
        """False and unchanged where the layout cannot. Raises EngineError for rows it never had."""
        if not 0 <= rows <= len(self.ids):
            raise EngineError(f"cannot keep {rows} of {len(self.ids)} rows")
        if not self._can_keep(rows):
            return False
        self._cut(rows)
        return True

    def frontier(self) -> Frontier:
        last = len(self.ids) - 1
        if last < 0:
            return Frontier(-1, -1)
        first = {Trim.ANY: 0, Trim.WINDOW: self.first, Trim.BOUNDARY: last}
        return Frontier(first[self._layout.trim], last)

    def export(self, kind: SnapshotKind) -> Snapshot:
        rows = len(self.ids)
        data = _HEADER.pack(_MAGIC, kind is SnapshotKind.FULL, self._layout.append_layers, rows)
        data += b"".join(self._sections(kind))
        return Snapshot(kind, rows, rows, (SnapshotPart("target", data),))

    def load(self, snapshot: Snapshot, *, n_ctx: int, n_vocab: int) -> None:
        """FULL replaces everything; PARTIAL cuts the slot back to the snapshot's rows.

        Raises EngineError and leaves the slot empty where the bytes are not whole, or are not those
        of the tokens.
        """
        if 0 <= snapshot.rows <= n_ctx and self._take(snapshot, n_vocab):
            self.first = self._window_start()
            # The state is a function of the tokens: writing it again is the check of every byte.
            if self.export(snapshot.kind) == snapshot:
                return
        self.clear()
        raise EngineError("the snapshot is damaged, or is not this slot's")

    def _take(self, snapshot: Snapshot, n_vocab: int) -> bool:
        if not self._is_whole(snapshot.kind):
            if len(self.ids) < snapshot.rows:
                return False
            self._cut(snapshot.rows)
            return True
        data = b"".join(part.data for part in snapshot.parts)
        tokens = data[_HEADER.size : _HEADER.size + snapshot.rows * _ID.itemsize]
        if len(tokens) % _ID.itemsize:
            return False
        ids = np.frombuffer(tokens, _ID)
        if ids.size and not 0 <= ids.min() <= ids.max() < n_vocab:
            return False
        self.clear()
        self.append(ids.tolist())
        return True

    def _is_whole(self, kind: SnapshotKind) -> bool:
        """Without window layers there is nothing that cannot be rolled back: PARTIAL is all."""
        return kind is SnapshotKind.FULL or not self._layout.window_layers

    def _sections(self, kind: SnapshotKind) -> Iterator[bytes]:
        layout = self._layout
        chain = np.frombuffer(bytes(self.chain), np.uint8).reshape(-1, ROW)
        if self._is_whole(kind):
            yield np.asarray(self.ids, _ID).tobytes()
            for layer in range(layout.append_layers):
                yield (chain ^ _mask(layer)).tobytes()
        kept = chain[self._window_start() :]
        for layer in range(layout.append_layers, layout.append_layers + layout.window_layers):
            yield (kept ^ _mask(layer)).tobytes()

    def _window_start(self, rows: int | None = None) -> int:
        """The first row that a slot of `rows` rows cannot go on without."""
        rows = len(self.ids) if rows is None else rows
        return max(0, rows - self._layout.window)

    def _can_keep(self, rows: int) -> bool:
        if rows in (0, len(self.ids)) or self._layout.trim is Trim.ANY:
            return True
        return self._layout.trim is Trim.WINDOW and self.first <= self._window_start(rows)

    def _cut(self, rows: int) -> None:
        del self.ids[rows:]
        del self.chain[rows * ROW :]
        self.first = min(self.first, rows)


def _chain(ids: Iterable[int], last: bytes) -> bytes:
    rows = []
    for token in ids:
        last = blake2b(last + token.to_bytes(4, "little"), digest_size=ROW).digest()
        rows.append(last)
    return b"".join(rows)


def _mask(layer: int) -> NDArray[np.uint8]:
    """Makes the layers' bytes differ."""
    return np.frombuffer(blake2b(bytes([layer]), digest_size=ROW).digest(), np.uint8)
