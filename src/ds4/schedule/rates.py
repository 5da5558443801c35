"""The server's own speed, learned from its steps."""

SMOOTHING = 0.3
MIN_ROWS = 16
"""Steps with fewer prefill rows say more about overhead than about the rate."""


class Rates:
    """Mutable: `observe` after each step."""

    def __init__(self) -> None:
        self._prefill: float | None = None

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


def chunk_rows(rate: float | None, quantum: int, largest: int) -> int:
    """Prefill rows for about a second, so that a cancel is quick; between the quantum and `largest`."""
    if rate is None:
        return min(quantum, largest)
    return max(min(quantum, largest), min(int(rate), largest))
