"""The shape of a state blob: what is the same in every snapshot of one model and context.

A blob of llama.cpp is `magic, slot`, a prefix (DeepSeek V4's own magic, version and mode), then sections,
all of little-endian words and raw rows:
- CACHE: streams; per stream `count`, 0 in all but the slot's own, which has cells, `head` and entries.
- RECURRENT: `count` = 1, one cell, `head`, the entries.
- POOLED: version, rows (0 in `head`), streams = 1, layers, then the entries; each has the rows in its head.
- FIXED: `head`, then entries of a size that never changes.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

START = struct.Struct("<Ii")
"""Magic and slot."""

WORD = struct.Struct("<I")
POOLED_HEAD = struct.Struct("<IIII")
POOLED_TAIL = struct.Struct("<QQ")
"""The end of a POOLED entry's head: rows and row size."""
CELL, CELL_EXT, CELL_RECURRENT = 12, 24, 8
"""Bytes of a cell: position, number of slots, slot. EXT has three more words before the slot (place in an
image, token); a recurrent cell names no slot."""


class Kind(StrEnum):
    CACHE = "cache"
    RECURRENT = "recurrent"
    POOLED = "pooled"
    FIXED = "fixed"


@dataclass(frozen=True, slots=True)
class Entry:
    """One tensor: its head as it stands in the blob, then `width` bytes per row."""

    head: bytes
    width: int


@dataclass(frozen=True, slots=True)
class Section:
    """`cell` is the size of a cell in bytes; `head` stands between the cells and the entries."""

    kind: Kind
    cell: int
    head: bytes
    entries: tuple[Entry, ...]

    def head_of(self, entry: Entry, rows: int) -> bytes:
        """An entry's head in a blob whose section has `rows` rows."""
        if self.kind is not Kind.POOLED:
            return entry.head
        return entry.head + POOLED_TAIL.pack(rows, entry.width)


@dataclass(frozen=True, slots=True)
class Shape:
    """`prefix` stands between the slot and the first section."""

    prefix: bytes
    sections: tuple[Section, ...]

    @property
    def transposed(self) -> bool:
        """Whether a cache keeps V transposed, as without flash attention."""
        caches = (section for section in self.sections if section.kind is Kind.CACHE)
        return any(WORD.unpack_from(section.head)[0] for section in caches)

    def parts(self) -> Iterator[bytes]:
        """Everything in it; different shapes differ."""
        yield self.prefix
        for section in self.sections:
            yield f"{section.kind} {section.cell} {len(section.entries)}".encode()
            yield section.head
            for entry in section.entries:
                yield entry.head
                yield WORD.pack(entry.width)
