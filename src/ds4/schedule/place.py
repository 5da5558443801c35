"""Which slot a request runs in. Pure.

A slot costs what must be computed there, plus what its conversation loses: the part of its last prompt
that the new one does not share. (What follows that prompt is an answer; when its own next turn comes
back with the answer told otherwise, nothing is lost.) The loss counts RETURNS times over, since two
agents that take each other's slot pay at every turn; a slot untouched for HALF_LIFE seconds is worth
half. So a shared system prompt alone does not take a conversation's slot while another is free.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ds4.core.usage import CacheReport, CacheSource, MissReason
from ds4.kv.prefix import Reuse

HALF_LIFE = 600.0
RETURNS = 4.0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A free slot, idle for `idle` seconds. Of the `rows` it holds, the first `prompt` were a prompt."""

    slot: int
    rows: int
    prompt: int
    idle: float
    reuse: Reuse


@dataclass(frozen=True, slots=True)
class Placement:
    slot: int
    report: CacheReport


def place(candidates: Sequence[Candidate], prompt_rows: int) -> Placement:
    """The cheapest of the free slots, at least one. Equal costs go to the one idle longest."""
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
    lost = max(0, candidate.prompt - candidate.reuse.common)
    return (prompt_rows - candidate.reuse.rows) + RETURNS * lost * math.exp2(-candidate.idle / HALF_LIFE)
