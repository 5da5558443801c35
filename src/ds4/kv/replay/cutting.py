"""Rows of a plan replaced by others, and all that counts rows with them. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ds4.core.plan import Boundary, Ids, Image, Origin, PastTurn, PromptPlan, Tokens


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """`ids` stand for the rows from `start` to `end`."""

    start: int
    end: int
    ids: Ids


def cut_out(plan: PromptPlan, cuts: Sequence[Cut]) -> PromptPlan:
    """`cuts` are in order and do not overlap."""
    if not cuts:
        return plan
    parts: list[Ids] = []
    at = 0
    for cut in cuts:
        parts += (plan.ids[at : cut.start], cut.ids)
        at = cut.end
    ids = np.concatenate([*parts, plan.ids[at:]])
    ids.setflags(write=False)
    boundaries = tuple(
        Boundary(row, b.kind, b.message) for b in plan.boundaries if (row := _moved(b.row, cuts)) is not None
    )
    turns = tuple(_moved_turn(turn, cuts) for turn in plan.turns)
    return replace(plan, items=tuple(_items(plan.items, cuts)), ids=ids, boundaries=boundaries, turns=turns)


def _moved(row: int, cuts: Sequence[Cut]) -> int | None:
    """None inside what was replaced."""
    grown = 0
    for cut in cuts:
        if row <= cut.start:
            break
        if row < cut.end:
            return None
        grown += cut.ids.size - (cut.end - cut.start)
    return row + grown


def _moved_turn(turn: PastTurn, cuts: Sequence[Cut]) -> PastTurn:
    until, start, end, after = (
        None if row is None else _moved(row, cuts) for row in (turn.until, turn.start, turn.end, turn.after)
    )
    return PastTurn(turn.messages, until or 0, start, end, after or 0)


def _items(items: Sequence[Tokens | Image], cuts: Sequence[Cut]) -> Iterator[Tokens | Image]:
    """An answer is made of tokens: a cut never lies in an image."""
    left = list(reversed(cuts))
    at = 0
    for item in items:
        size = len(item.ids) if isinstance(item, Tokens) else item.rows
        kept = 0
        while left and left[-1].end <= at + size:
            cut = left.pop()
            yield from _part(item, kept, cut.start - at)
            yield Tokens(tuple(cut.ids.tolist()), Origin.REPLAYED)
            kept = cut.end - at
        stop = left[-1].start - at if left else size
        yield from _part(item, kept, min(size, stop))
        at += size


def _part(item: Tokens | Image, start: int, stop: int) -> Iterator[Tokens | Image]:
    if not isinstance(item, Tokens):
        if stop > start:
            yield item
        return
    start = max(0, start)
    if stop > start:
        yield Tokens(item.ids[start:stop], item.origin)
