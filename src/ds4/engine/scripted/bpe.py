"""A small byte-level BPE. Lossless for any text.

Ids 0..255 are the bytes; id 256 + n is the n-th merge. Text is cut into short words first and the
cut of each word is remembered, so that long texts encode in linear time.
"""

import re
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise

Merges = tuple[tuple[int, int], ...]

# Every character is in exactly one class (letter, digit, blank, other), so the words join to the
# text. The bounds keep merging cheap whatever the text is.
_WORD = re.compile(r" ?[^\W\d_]{1,24}| ?\d{1,3}| ?(?:[^\s\w]|_){1,8}|\s{1,24}(?!\S)|\s{1,24}")
_CACHED_WORDS = 1 << 16


def words(text: str) -> list[str]:
    return _WORD.findall(text)


def as_bytes(text: str) -> bytes:
    """UTF-8; a lone surrogate keeps its three bytes instead of raising."""
    return text.encode("utf-8", "surrogatepass")


def packaged_merges() -> Merges:
    """The merges made by scripts/train_bpe.py."""
    lines = files(__package__).joinpath("merges.txt").read_text("ascii").splitlines()
    return tuple((int(left), int(right)) for left, right in (line.split() for line in lines))


def merge(ids: list[int], pair: tuple[int, int], merged: int) -> list[int]:
    """`ids` with every `pair` replaced by `merged`, from the left."""
    out: list[int] = []
    for token in ids:
        if out and (out[-1], token) == pair:
            out[-1] = merged
        else:
            out.append(token)
    return out


class Bpe:
    """Thread safe. `pieces[id]` are the bytes of a token."""

    def __init__(self, merges: Merges) -> None:
        self._merged = {pair: 256 + rank for rank, pair in enumerate(merges)}
        self.pieces = _pieces(merges)
        self._encode_word = lru_cache(_CACHED_WORDS)(self._merge_word)

    def encode(self, text: str) -> list[int]:
        ids: list[int] = []
        for word in words(text):
            ids.extend(self._encode_word(word))
        return ids

    def _merge_word(self, word: str) -> tuple[int, ...]:
        ids = list(as_bytes(word))
        while mergeable := self._mergeable(ids):
            merged, pair = min(mergeable)
            ids = merge(ids, pair, merged)
        return tuple(ids)

    def _mergeable(self, ids: list[int]) -> list[tuple[int, tuple[int, int]]]:
        return [(self._merged[pair], pair) for pair in pairwise(ids) if pair in self._merged]


@cache
def packaged_bpe() -> Bpe:
    """One for all: it is the same for every engine, and what one has encoded another need not."""
    return Bpe(packaged_merges())


def _pieces(merges: Merges) -> tuple[bytes, ...]:
    pieces = [bytes([byte]) for byte in range(256)]
    for left, right in merges:
        pieces.append(pieces[left] + pieces[right])
    return tuple(pieces)
