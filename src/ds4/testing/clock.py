"""A clock that moves only when told to."""


class FakeClock:
    """`core.ports.Clock`. `now` starts at `start`, `wall` at `epoch`; both move by `advance`."""

    def __init__(self, start: float = 0.0, epoch: float = 1_700_000_000.0) -> None:
        self._now = start
        self._offset = epoch - start

    def now(self) -> float:
        return self._now

    def wall(self) -> float:
        return self._now + self._offset

    def advance(self, seconds: float) -> None:
        """Raises ValueError for a negative step: `now` is monotonic."""
        if seconds < 0:
            raise ValueError(f"a monotonic clock cannot go back by {-seconds} s")
        self._now += seconds
