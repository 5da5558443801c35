"""Rows that are told once, though many checkpoints begin with them.

A conversation is kept at many places, and a cache directory holds hundreds of states: told one by one, most
of their ids would be told again and again.
"""

from bisect import bisect_left

from ds4.core.plan import Ids
from ds4.kv.prefix import common_prefix
from ds4.observe.trace.values import Json

LEAST = 8
"""So many common rows are worth a reference."""


class SharedRows:
    """Those that were told, in the order of their ids: the neighbours begin most alike."""

    def __init__(self) -> None:
        self._told: list[_Told] = []

    def tell(self, number: int, ids: Ids) -> Json | Ids:
        """All `ids`, or how many of them those of another number begin with, and those `then`."""
        new = _Told(number, ids)
        place = bisect_left(self._told, new)
        around = self._told[max(0, place - 1) : place + 1]
        self._told.insert(place, new)
        common, like = max(((common_prefix(one.ids, ids), one.number) for one in around), default=(0, 0))
        return {"like": like, "rows": common, "then": ids[common:]} if common >= LEAST else ids

    def forget(self, number: int) -> None:
        self._told = [one for one in self._told if one.number != number]


class _Told:
    __slots__ = ("ids", "number")

    def __init__(self, number: int, ids: Ids) -> None:
        self.number = number
        self.ids = ids

    def __lt__(self, other: "_Told") -> bool:
        at = common_prefix(self.ids, other.ids)
        if at == min(self.ids.size, other.ids.size):
            return self.ids.size < other.ids.size
        return bool(self.ids[at] < other.ids[at])
