"""The second key: rows that differ as tokens and are the same as text. Pure.

A model's own tokens are not always those its text is encoded to. When a client sends that text back, the
two sequences part although nothing was changed. Here both are spelled out from where they part, and the
longest text they share is mapped back to a row on either side.

Rules:
- What is compared is not the text a client could write: control tokens and image rows are spelled in a way
  no text can imitate, so plain text never stands in for a control token.
- Only a place where a row ends on both sides counts. Where all of the held rows are used up in the middle
  of a wanted one, the rest of that one is the `bridge`, to be encoded on its own.
- Rows are spelled only around a difference: where the two meet again, equal rows are skipped as rows.
"""

from bisect import bisect_right
from collections.abc import Callable, Container
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from ds4.core.plan import Ids
from ds4.kv.prefix import common_prefix

Spell = Callable[[int], bytes]
FIRST, LARGEST = 32, 512
"""Rows spelled at a time, at first and at most: most sequences that part do not meet again."""
_ESCAPE = b"\xff"
_LITERAL, _SPECIAL = b"\xff\x01", b"\xff\x00"


@dataclass(frozen=True, slots=True)
class Healed:
    """The first `held` rows of one sequence and the first `wanted` rows of the other spell the same, but
    for the `bridge`, which the wanted ones have more. The first `common` rows are equal."""

    common: int
    held: int
    wanted: int
    bridge: str = ""


def speller(piece: Callable[[int], bytes], special: Container[int]) -> Spell:
    """Remembers what it has spelled. No text is the same as a `special` token."""
    known: dict[int, bytes] = {}

    def spell(row: int) -> bytes:
        found = known.get(row)
        if found is None:
            apart = row < 0 or row in special
            found = _SPECIAL + row.to_bytes(4, "little", signed=True) if apart else _plain(piece(row))
            known[row] = found
        return found

    return spell


def heal(held: Ids, wanted: Ids, common: int, spell: Spell, *, bridges: bool = True) -> Healed | None:
    """`common` leading rows are equal; None where nothing more is the same as text."""
    at_held, at_wanted, size = common, common, FIRST
    while True:
        step = _window(held[at_held : at_held + size], wanted[at_wanted : at_wanted + size], spell)
        at_held += step.held
        at_wanted += step.wanted
        if bridges and step.bridge and at_held + step.open_held == held.size:
            return Healed(common, held.size, at_wanted + step.open_wanted, step.bridge)
        stuck = not step.held and not step.wanted
        ended = held.size == at_held or wanted.size == at_wanted
        if step.apart or ended or (stuck and size == LARGEST):
            gained = at_held > common and at_wanted > common
            return Healed(common, at_held, at_wanted) if gained else None
        equal = 0 if stuck else common_prefix(held[at_held:], wanted[at_wanted:])
        at_held += equal
        at_wanted += equal
        size = FIRST if equal else min(2 * size, LARGEST)


@dataclass(frozen=True, slots=True)
class _Step:
    """`held` and `wanted` rows spell the same. After them the texts are `apart`, or one of them ends.

    Where it is the held one, `open_wanted` rows more spell what `open_held` rows do, and then `bridge`.
    """

    held: int
    wanted: int
    apart: bool
    open_held: int = 0
    open_wanted: int = 0
    bridge: str = ""


def _window(held: Ids, wanted: Ids, spell: Spell) -> _Step:
    left = [spell(row) for row in held.tolist()]
    right = [spell(row) for row in wanted.tolist()]
    ends_left, ends_right = _ends(left), _ends(right)
    text_left, text_right = b"".join(left), b"".join(right)
    same = _same(text_left, text_right)
    cut = max((end for end in set(ends_left).intersection(ends_right) if end <= same), default=0)
    rows_left, rows_right = bisect_right(ends_left, cut), bisect_right(ends_right, cut)
    apart = same < min(len(text_left), len(text_right))
    if not cut < same == len(text_left) < len(text_right):
        return _Step(rows_left, rows_right, apart)
    last = bisect_right(ends_right, same)
    bridge = _text(right[last], len(right[last]) - (ends_right[last] - same))
    return _Step(rows_left, rows_right, apart, len(left) - rows_left, last + 1 - rows_right, bridge)


def _ends(pieces: list[bytes]) -> list[int]:
    return list(accumulate(map(len, pieces)))


def _same(left: bytes, right: bytes) -> int:
    size = min(len(left), len(right))
    if left[:size] == right[:size]:
        return size
    differs = np.frombuffer(left, np.uint8, size) != np.frombuffer(right, np.uint8, size)
    return int(np.argmax(differs))


def _text(spelled: bytes, used: int) -> str:
    """What follows the first `used` bytes of a row, where that is text of its own."""
    if _ESCAPE in spelled:
        return ""
    try:
        return spelled[used:].decode()
    except UnicodeDecodeError:
        return ""


def _plain(piece: bytes) -> bytes:
    return piece.replace(_ESCAPE, _LITERAL)
