"""What a kept state is worth. Pure.

Worth = (hits + 1) x rows / bytes: the tokens it can save again, by the room it takes. A hit counts half
after HALF_LIFE seconds, so what was popular yesterday gives way. Of two worth the same, the one not used
for longer goes first.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

HALF_LIFE = 6 * 3600.0
NEGLIGIBLE = 0.01
"""Hits below this are none."""


@dataclass(frozen=True, slots=True)
class Worth:
    """Of one kept state. Seconds of `used` and of `now` below are of one clock."""

    key: str
    rows: int
    size: int
    hits: int
    used: float


def effective_hits(hits: int, used: float, now: float) -> float:
    """A last use in the future, after the clock was put back, counts as now."""
    left: float = max(0, hits) * 2.0 ** (-max(0.0, now - used) / HALF_LIFE)
    return left if left >= NEGLIGIBLE else 0.0


def score(state: Worth, now: float) -> float:
    return (effective_hits(state.hits, state.used, now) + 1.0) * state.rows / max(state.size, 1)


def victims(states: Iterable[Worth], excess: int, now: float) -> Iterator[Worth]:
    """The least valuable ones, until `excess` bytes are freed."""
    for state in sorted(states, key=lambda s: (score(s, now), s.used, s.key)):
        if excess <= 0:
            return
        excess -= state.size
        yield state
