"""What a step costs in virtual time."""

from collections.abc import Sequence
from dataclasses import dataclass

from ds4.core.step import Work


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds. `base` per batch, `per_mb` per 2**20 state bytes exported or loaded."""

    base: float = 0.01
    per_decode_row: float = 0.002
    per_prefill_row: float = 0.001
    per_mb: float = 0.001

    def step(self, works: Sequence[Work], *, ordered: bool) -> float:
        """One batch for all works, or one each when `ordered`."""
        batches = len(works) if ordered else 1
        return self.base * batches + sum(self._rows(work) for work in works)

    def moving(self, size: int) -> float:
        return self.per_mb * size / (1 << 20)

    def _rows(self, work: Work) -> float:
        rows = len(work.rows)
        decodes = rows == 1 and work.sampler is not None
        return self.per_decode_row if decodes else self.per_prefill_row * rows
