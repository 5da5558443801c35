"""Which places of a prompt are kept. Pure.

Rules:
- A mark is a PARTIAL checkpoint in RAM: only memories that cannot be cut back need one.
- A cold save is made once for a new beginning, where its next conversation will part from it: at the end of
  tools and system text, else where the user's turn starts, else at a round length.
- Tools and system text share the beginning of a prompt. Where both are long there is a mark between them, so
  that the first of the two is kept when the second changes.
- Continued saves come at every multiple of the interval, so that a crash costs no more than one.
"""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ds4.core.plan import Boundary, BoundaryKind
from ds4.core.step import Caps, Trim
from ds4.core.usage import SaveReason

TAIL = 4
"""A mark so many rows before the end of a prompt that does not say where the answer begins: a retry, or the
same prompt with thinking switched, goes back to it, and at least one row must be left to compute."""
APART = 64
"""Fewer rows of tools, or of system text, are computed again rather than kept by a mark of their own."""
_TOOLS = (BoundaryKind.TOOLS_START, BoundaryKind.TOOLS_END)
_ANCHORS = (BoundaryKind.SYSTEM_END, BoundaryKind.LAST_USER_START)


@dataclass(frozen=True, slots=True)
class Knobs:
    """Tokens; 0 turns `cold_max`, `interval` and `align` off."""

    min_tokens: int = 512
    cold_max: int = 30000
    interval: int = 10000
    trim: int = 32
    align: int = 2048
    saves: bool = False
    """Whether there is anywhere to save to."""

    @property
    def spacing(self) -> int:
        """`interval` rounded up to a multiple of `align`."""
        return -(-self.interval // self.align) * self.align if self.align else self.interval


@dataclass(frozen=True, slots=True)
class Place:
    """A prefill chunk ends at `row`; what is kept there."""

    row: int
    mark: bool = False
    save: SaveReason | None = None
    trimmed: int = 0
    """Rows of the prompt behind a cold save's place."""


def places(
    rows: int, boundaries: Sequence[Boundary], caps: Caps, knobs: Knobs, reused: int
) -> tuple[Place, ...]:
    """For a prompt of `rows` rows, `reused` of which are there. In order, one for each row.

    Also where the prompt goes on: an answer without an end mark ends there, and no step came past it.
    """
    found = {place.row: place for place in _marks(rows, boundaries, caps, knobs)}
    for place in _saves(rows, boundaries, knobs, reused):
        known = found.get(place.row)
        found[place.row] = replace(place, mark=known is not None and known.mark)
    if reused and reused in found and found[reused].mark:
        found[reused] = Place(reused, mark=True)
    else:
        found.pop(reused, None)
    return tuple(found[row] for row in sorted(found) if reused <= row <= rows)


def due(rows: int, knobs: Knobs) -> bool:
    """Whether an interval ends at `rows`."""
    return knobs.spacing > 0 and rows > 0 and rows % knobs.spacing == 0


def to_due(rows: int, knobs: Knobs) -> int:
    """How many rows from `rows` to the next place that is due; a great many without an interval."""
    return knobs.spacing - rows % knobs.spacing if knobs.spacing > 0 else sys.maxsize


def anchor(rows: int, boundaries: Iterable[Boundary], knobs: Knobs) -> int:
    """Where a cold save is made."""
    at = {boundary.kind: boundary.row for boundary in boundaries}
    least = max(1, knobs.min_tokens)
    for kind in _ANCHORS:
        row = at.get(kind, 0)
        if row >= least:
            return row
    kept = rows - knobs.trim
    if knobs.align:
        kept -= kept % knobs.align
    return kept if kept >= least else rows


def _marks(rows: int, boundaries: Sequence[Boundary], caps: Caps, knobs: Knobs) -> Iterable[Place]:
    if caps.trim is Trim.ANY:
        return
    answers = [b.row for b in boundaries if b.kind is BoundaryKind.ANSWER_START and 0 < b.row < rows]
    last = answers[-1] if answers else rows - TAIL
    head = max((b.row for b in boundaries if b.kind is BoundaryKind.SYSTEM_END), default=0)
    for boundary in boundaries:
        if boundary.row < last and (boundary.kind not in _TOOLS or _parts(boundary.row, head)):
            yield Place(boundary.row, mark=True)
    if knobs.spacing:
        for row in range(knobs.spacing, last, knobs.spacing):
            yield Place(row, mark=True)
    if last > 0:
        yield Place(last, mark=True)


def _parts(row: int, head: int) -> bool:
    """Whether both sides of `row` in a beginning of `head` rows are worth a mark between them."""
    return min(row, head - row) >= APART


def _saves(rows: int, boundaries: Iterable[Boundary], knobs: Knobs, reused: int) -> Iterable[Place]:
    """A cold save at a continued one's place stands for both."""
    if not knobs.saves:
        return
    if knobs.spacing:
        for row in range(knobs.spacing, rows + 1, knobs.spacing):
            yield Place(row, save=SaveReason.CONTINUED)
    if not reused and knobs.min_tokens <= rows <= knobs.cold_max:
        at = anchor(rows, boundaries, knobs)
        yield Place(at, save=SaveReason.COLD, trimmed=rows - at)
