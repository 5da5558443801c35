"""What the next step computes. Pure: running requests in, shares out.

Rules:
- Every decoder gets a row in every step.
- While anything decodes, prefills share at most one quantum per step; otherwise one chunk.
- A decoder with more rows to feed, which a constraint forced, gets them from the same quantum: all that is
  there, but never more than half of it while a prompt waits.
- Prefills take turns: the one served longest ago comes first, and what it leaves goes to the next.
- A prefill share never crosses the request's next stop, and a step never exceeds the batch.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Turn:
    """A running request. `remaining` prompt rows are to be prefilled; 0 means it decodes, and has `pending`
    rows that are not in the memory yet.

    `to_stop` is the number of rows up to the next place a chunk must end at. `served` is the
    number of the step that last gave it prefill rows.
    """

    slot: int
    remaining: int
    to_stop: int
    served: int
    pending: int = 1


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
    decoders = [turn for turn in turns if not turn.remaining]
    allowance = budget.quantum if decoders else budget.chunk
    left = min(allowance, budget.batch - len(decoders))
    alone = len(decoders) == len(turns)
    decoding = _share_pending(decoders, left if alone else left // 2)
    left -= sum(share.rows - 1 for share in decoding)
    return (*decoding, *_share_prefill(turns, left))


def _share_pending(decoders: Sequence[Turn], left: int) -> list[Share]:
    shares: list[Share] = []
    for turn in decoders:
        more = max(0, min(left, turn.pending - 1))
        shares.append(Share(turn.slot, 1 + more))
        left -= more
    return shares


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
