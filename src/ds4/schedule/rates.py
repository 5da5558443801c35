"""The server's own speed, learned from what it does."""

from dataclasses import dataclass
from enum import StrEnum

SMOOTHING = 0.3
MIN_ROWS = 16
"""Steps with fewer prefill rows say more about overhead than about the rate."""
MIN_BYTES = 1 << 20
"""The same for moves."""
GUESSED_PREFILL = 300.0
"""Rows per second, before the first measurement."""


class Move(StrEnum):
    """Ways in which a state is moved."""

    COPY = "copy"
    """From slot to slot."""
    EXPORT = "export"
    LOAD = "load"
    FETCH = "fetch"
    """From disk into RAM."""


GUESSED = {Move.COPY: 4e9, Move.EXPORT: 4e9, Move.LOAD: 2e9, Move.FETCH: 5e8}
"""Bytes per second, before the first measurement."""


@dataclass(frozen=True, slots=True)
class Prices:
    """How many rows could be computed while one byte is moved, by kind of move."""

    copy: float
    export: float
    load: float
    fetch: float


class Rates:
    """Mutable: `observe` after each step, `moved` after each move."""

    def __init__(self) -> None:
        self._prefill: float | None = None
        self._moves = dict(GUESSED)

    @property
    def prefill(self) -> float | None:
        """Rows per second, None before the first measurement."""
        return self._prefill

    def observe(self, prefill_rows: int, seconds: float) -> None:
        if prefill_rows < MIN_ROWS or seconds <= 0:
            return
        rate = prefill_rows / seconds
        old = self._prefill
        self._prefill = rate if old is None else old + SMOOTHING * (rate - old)

    def moved(self, move: Move, size: int, seconds: float) -> None:
        if size < MIN_BYTES or seconds <= 0:
            return
        old = self._moves[move]
        self._moves[move] = old + SMOOTHING * (size / seconds - old)

    def prices(self) -> Prices:
        rows = self._prefill or GUESSED_PREFILL
        copy, export, load, fetch = (rows / self._moves[move] for move in Move)
        return Prices(copy, export, load, fetch)


def chunk_rows(rate: float | None, quantum: int, largest: int) -> int:
    """Prefill rows for about a second, so that a cancel is quick; between the quantum and `largest`."""
    if rate is None:
        return min(quantum, largest)
    return max(min(quantum, largest), min(int(rate), largest))
