"""The SSD's write budget: so many new bytes an hour, refilled steadily. Pure."""

HOUR = 3600.0


class Allowance:
    """`per_hour` bytes, all of them there at the start; 0 is no limit. Times are monotonic seconds."""

    def __init__(self, per_hour: int, now: float) -> None:
        self._per_hour = per_hour
        self._left = float(per_hour)
        self._at = now

    def allows(self, size: int, now: float) -> bool:
        return not self._per_hour or size <= self.left(now)

    def left(self, now: float) -> float:
        grown = self._left + (now - self._at) * self._per_hour / HOUR
        return min(float(self._per_hour), grown)

    def spend(self, size: int, now: float) -> None:
        """May go below zero: compacting does not ask."""
        self._left = self.left(now) - size
        self._at = now
