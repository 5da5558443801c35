"""A small byte-level BPE vocabulary: 256 bytes, the merges' results, a family's special entries."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from ds4.testing.tiny.architecture import Family

# Quantised kernels want row counts that divide by 32.
_ROW_UNIT = 32


class Kind(IntEnum):
    """Token types, as the file format numbers them."""

    NORMAL = 1
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """`tokens` in the byte-level alphabet, by id; `kinds` beside them."""

    tokens: tuple[str, ...]
    kinds: tuple[Kind, ...]
    merges: tuple[str, ...]

    def id(self, spelling: str) -> int:
        return self.tokens.index(spelling)


def byte_alphabet() -> list[str]:
    """One printable character per byte value, the convention of every byte-level BPE.

    Printable Latin-1 bytes stand for themselves; the others count up from U+0100.
    """
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    spare = iter(range(0x100, 0x200))
    return [chr(byte if byte in printable else next(spare)) for byte in range(256)]


def build(family: Family, merges: Sequence[str]) -> Vocabulary:
    """Bytes first, then merged tokens, then the specials, then unused entries up to a multiple of 32."""
    normal = dict.fromkeys(byte_alphabet())
    normal.update(dict.fromkeys(merge.replace(" ", "") for merge in merges))
    controls = ([family.bos] if family.bos else []) + list(family.controls)
    entries = [(token, Kind.NORMAL) for token in normal]
    entries += [(token, Kind.CONTROL) for token in controls]
    entries += [(token, Kind.USER_DEFINED) for token in family.user_defined]
    while len(entries) % _ROW_UNIT:
        entries.append((f"<unused{len(entries)}>", Kind.UNUSED))
    tokens, kinds = zip(*entries, strict=True)
    return Vocabulary(tokens, kinds, tuple(merges))
