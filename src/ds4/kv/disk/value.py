"""What a checkpoint is worth: the rows that would be lost without it, per byte that would be freed. Pure.

    value = (effective hits + 1) * rows lost / bytes freed

Hits fade (`kv.value`). Where nothing is shared and nothing related is
kept, the rows lost are all its rows and the bytes freed all its bytes.

With related checkpoints, only what goes with this one counts, on both sides. Where the memory cannot be cut
back, whole shorter checkpoints stand in for it. Where it can be cut to any length, the longest common prefix
with any other does, so a checkpoint that is a prefix of a longer one loses nothing. It is still worth a
little: when the longer one has to go, it keeps its part of the conversation for next to no bytes of its own.
And more, if it is asked for: it is quicker to read than the longer one.
"""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

STAND_IN = 0.05
"""What a row counts that a longer checkpoint has too."""
ASKED_FOR = 0.45
"""What it counts more, at most, if it is used nevertheless."""
ID_BYTES = 4


@dataclass(frozen=True, slots=True)
class Loss:
    """Of `rows` rows, no other checkpoint has `lost`, and no shorter one has `beyond`."""

    rows: int
    lost: int
    beyond: int


def value(hits: float, loss: Loss, freed: int) -> float:
    """Rows per byte. `hits` are effective ones."""
    in_reserve = STAND_IN * loss.beyond + ASKED_FOR * hits / (hits + 1) * loss.rows
    return (hits + 1) * max(loss.lost, in_reserve) / max(1, freed)


class Family:
    """The token ids of checkpoints that can stand in for each other, in lexical order of their bytes.

    Beside each member stands what it has in common with the one before it. The longest common prefix
    with any other member is then one of two numbers, and adding or removing one touches its neighbours only.
    """

    def __init__(self) -> None:
        self._ids: list[bytes] = []
        self._numbers: list[int] = []
        self._common: list[int] = []

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, number: int, ids: bytes) -> None:
        at = bisect_left(self._ids, ids)
        before = common_rows(self._ids[at - 1], ids) if at else 0
        if at < len(self._ids):
            self._common[at] = common_rows(ids, self._ids[at])
        self._ids.insert(at, ids)
        self._numbers.insert(at, number)
        self._common.insert(at, before)

    def remove(self, number: int) -> None:
        at = self._numbers.index(number)
        if at + 1 < len(self._ids):
            self._common[at + 1] = min(self._common[at], self._common[at + 1])
        del self._ids[at], self._numbers[at], self._common[at]

    def losses(self, *, any_length: bool) -> Iterator[tuple[int, Loss]]:
        """By number. `any_length`: the memory can be cut to any length."""
        # In this order the prefixes of a member are a stack: each is a prefix of the next.
        shorter: list[int] = []
        after = [*self._common[1:], 0]
        members = zip(self._numbers, self._ids, self._common, after[: len(self)], strict=True)
        for number, ids, before, behind in members:
            while shorter and shorter[-1] > before:
                shorter.pop()
            rows = len(ids) // ID_BYTES
            beyond = rows - (shorter[-1] if shorter else 0)
            shorter.append(rows)
            yield number, Loss(rows, rows - max(before, behind) if any_length else beyond, beyond)


def common_rows(left: bytes, right: bytes) -> int:
    """Leading ids in which both agree."""
    low, high = 0, min(len(left), len(right)) // ID_BYTES
    if left[: high * ID_BYTES] == right[: high * ID_BYTES]:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if left[low * ID_BYTES : middle * ID_BYTES] == right[low * ID_BYTES : middle * ID_BYTES]:
            low = middle
        else:
            high = middle
    return low
