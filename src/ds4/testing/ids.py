"""Ids that are the same in every run."""


class SequentialIds:
    """`core.ports.Ids`: 0, 1, 2, ... as 32 hex digits, the shape of the real ones."""

    def __init__(self, first: int = 0) -> None:
        self._next = first

    def new(self, prefix: str) -> str:
        number = self._next
        self._next += 1
        return f"{prefix}{number:032x}"
