"""Greedy sampling of structure, on a leash.

Tags and the like are sampled greedily, since one wrong character spoils a call. But greedy sampling
can loop for ever: a stretch of structure that grows beyond what structure needs is sampled freely
until it ends.
"""

LEASH = 512
"""Characters from one piece of payload to the next; the longest real headers need less."""


class Stretch:
    """How long the output has been in structure, in characters."""

    def __init__(self) -> None:
        self._length = 0

    def greedy(self, new: int, limit: int) -> bool:
        """After `new` more characters. `limit`: 0 in payload, else how long a stretch may be here."""
        self._length = self._length + max(new, 1) if limit else 0
        return 0 < self._length <= limit
