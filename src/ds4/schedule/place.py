"""Which slot a request runs in. Pure.

A slot costs what must be computed there, plus what its conversation loses, weighed by how likely
that conversation is to come back: a slot untouched for HALF_LIFE seconds is worth half. So a shared
system prompt alone never takes a long conversation's slot while a cheaper one is free.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ds4.core.usage import CacheReport, CacheSource, MissReason
from ds4.kv.prefix import Reuse

HALF_LIFE = 600.0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A free slot. `rows` it holds, idle for `idle` seconds."""

    slot: int
    rows: int
    idle: float
    reuse: Reuse


@dataclass(frozen=True, slots=True)
class Placement:
    slot: int
    report: CacheReport


def place(candidates: Sequence[Candidate], prompt_rows: int) -> Placement | None:
    """The cheapest free slot, None without one. Equal costs go to the one idle longest."""
    if not candidates:
        return None
    chosen = min(candidates, key=lambda c: (_cost(c, prompt_rows), -c.idle, c.slot))
    return Placement(chosen.slot, explain(chosen, prompt_rows))


def explain(chosen: Candidate, prompt_rows: int) -> CacheReport:
    reuse = chosen.reuse
    return CacheReport(
        source=CacheSource.LIVE if reuse.rows else CacheSource.NONE,
        reused=reuse.rows,
        computed=prompt_rows - reuse.rows,
        common=reuse.common,
        reason=_reason(chosen, prompt_rows),
    )


def _reason(chosen: Candidate, prompt_rows: int) -> MissReason:
    reuse = chosen.reuse
    if reuse.rows < min(reuse.common, prompt_rows - 1):
        return MissReason.CANNOT_REWIND
    if reuse.common and reuse.common < min(chosen.rows, prompt_rows):
        return MissReason.EDITED
    return MissReason.NONE


def _cost(candidate: Candidate, prompt_rows: int) -> float:
    lost = candidate.rows - candidate.reuse.rows
    return (prompt_rows - candidate.reuse.rows) + lost * math.exp2(-candidate.idle / HALF_LIFE)
