"""What the next step computes. Pure: running requests in, shares out.

Rules:
- Every decoder gets its one row in every step.
- While anything decodes, prefills share at most one quantum per step; otherwise one chunk.
- Prefills take turns: the one served longest ago comes first, and what it leaves goes to the next.
- A prefill share never crosses the request's next stop, and a step never exceeds the batch.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Turn:
    """A running request. `remaining` prompt rows are to be prefilled; 0 means it decodes.

    `to_stop` is the number of rows up to the next place a chunk must end at. `served` is the
    number of the step that last gave it prefill rows.
    """

    slot: int
    remaining: int
    to_stop: int
    served: int


@dataclass(frozen=True, slots=True)
class Budget:
    """Rows per step: `quantum` and `chunk` for prefill, `batch` in all."""

    quantum: int
    chunk: int
    batch: int


@dataclass(frozen=True, slots=True)
class Share:
    slot: int
    rows: int


def plan_step(turns: Sequence[Turn], budget: Budget) -> tuple[Share, ...]:
    """Decoders first, in slot order; then prefills, the longest unserved first."""
    decoders = [Share(turn.slot, 1) for turn in turns if not turn.remaining]
    allowance = budget.quantum if decoders else budget.chunk
    return (*decoders, *_share_prefill(turns, min(allowance, budget.batch - len(decoders))))


def _share_prefill(turns: Sequence[Turn], left: int) -> list[Share]:
    shares: list[Share] = []
    waiting = [turn for turn in turns if turn.remaining]
    for turn in sorted(waiting, key=lambda t: (t.served, t.slot)):
        rows = min(left, turn.remaining, turn.to_stop)
        if rows <= 0:
            break
        shares.append(Share(turn.slot, rows))
        left -= rows
    return shares
