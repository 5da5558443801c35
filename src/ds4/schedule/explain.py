"""Why a request begins with what it begins with. Pure: the decision in, its report out."""

from collections.abc import Callable, Sequence

from ds4.core.plan import BoundaryKind, PromptPlan
from ds4.core.usage import CacheReport, CacheSource, Difference, MissReason, Part
from ds4.schedule.place import Base, Kind, Placement, longest, reason

PieceOf = Callable[[int], bytes]
"""A token's bytes, a control token's spelling."""
IMAGE = "\N{FRAME WITH PICTURE}".encode()
AROUND = 8
"""Rows shown on either side of a difference."""
_CHANGED = {
    Part.TOOLS: MissReason.TOOLS_CHANGED,
    Part.PREAMBLE: MissReason.PREAMBLE_CHANGED,
    Part.MESSAGES: MissReason.EDITED,
}
_SOURCES = {Kind.SLOT: CacheSource.COPIED, Kind.RAM: CacheSource.RAM, Kind.DISK: CacheSource.DISK}


def explain(chosen: Placement, bases: Sequence[Base], plan: PromptPlan, piece: PieceOf) -> CacheReport:
    """`plan` is the prompt as the client sent it. What it took is not known yet."""
    base, best = chosen.base, longest(bases)
    rows = base.healed.rows if base and base.healed else plan.rows
    reused = base.reuse.rows if base else 0
    why = reason(chosen, bases, plan.rows)
    difference = _difference(best, plan, piece) if best is not None else None
    if why is MissReason.EDITED and difference is not None:
        why = _CHANGED[difference.part]
    return CacheReport(
        source=_source(chosen),
        reused=reused,
        computed=rows - reused,
        common=best.reuse.common if best else 0,
        reason=why,
        held=best.held if best else 0,
        rewound=bool(base and base.reuse.mark),
        healed=bool(base and base.healed),
        displaced=chosen.lost,
        difference=difference,
    )


def _source(chosen: Placement) -> CacheSource:
    base = chosen.base
    if base is None or not base.reuse.rows:
        return CacheSource.NONE
    return CacheSource.LIVE if base.slot == chosen.slot else _SOURCES[base.kind]


def _difference(best: Base, plan: PromptPlan, piece: PieceOf) -> Difference | None:
    """None where one goes on where the other ends."""
    wanted, row = (best.healed or plan).ids, best.reuse.common
    if row >= min(best.held, wanted.size):
        return None
    around = slice(max(0, row - AROUND), row + AROUND)
    sent = _as_sent(best, plan)
    here, there = best.ids[around].tolist(), wanted[around].tolist()
    return Difference(
        row,
        _message(plan, sent),
        _shown(here, piece),
        _shown(there, piece),
        around.start,
        tuple(here),
        tuple(there),
        _part(plan, sent),
    )


def _message(plan: PromptPlan, row: int) -> int | None:
    """The message that `row` lies in, where the next one's beginning is known too."""
    begins = [(b.row, b.message) for b in plan.boundaries if b.message is not None]
    here = max((message for start, message in begins if start <= row), default=0)
    following = min((message for start, message in begins if start > row), default=None)
    return here if following == here + 1 else None


def _as_sent(best: Base, plan: PromptPlan) -> int:
    """The row of `plan` at which the two part. Whatever was healed lies before it."""
    return best.reuse.common - (best.healed.rows - plan.rows if best.healed else 0)


def _shown(ids: Sequence[int], piece: PieceOf) -> str:
    return b"".join(piece(row) if row >= 0 else IMAGE for row in ids).decode("utf-8", "replace")


def _part(plan: PromptPlan, row: int) -> Part:
    at = {boundary.kind: boundary.row for boundary in plan.boundaries}
    if row >= at.get(BoundaryKind.SYSTEM_END, 0):
        return Part.MESSAGES
    if at.get(BoundaryKind.TOOLS_START, row + 1) <= row < at.get(BoundaryKind.TOOLS_END, 0):
        return Part.TOOLS
    return Part.PREAMBLE
