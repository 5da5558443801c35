from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from placing import QUICK, SLOW, base, in_ram, in_slot, on_disk, placed, plan_of, target

from ds4.core.plan import Boundary, BoundaryKind
from ds4.core.usage import CacheReport, CacheSource, Difference, MissReason, Part
from ds4.schedule.explain import explain
from ds4.schedule.place import Base, Kind, Placement, Target

PROMPT = [*b"you are a tree. what are you?"]
SYSTEM = Boundary(15, BoundaryKind.SYSTEM_END, 1)
USER = Boundary(16, BoundaryKind.LAST_USER_START, 1)
END = Boundary(29, BoundaryKind.PROMPT_END, 2)
PLAN = plan_of(PROMPT, SYSTEM, USER, END)
ROWS = len(PROMPT)


TOOLS_FIRST = Boundary(4, BoundaryKind.TOOLS_START, 0), Boundary(10, BoundaryKind.TOOLS_END, 0), SYSTEM, USER
SYSTEM_FIRST = (
    Boundary(10, BoundaryKind.TOOLS_START, 1),
    Boundary(15, BoundaryKind.TOOLS_END, 1),
    SYSTEM,
    USER,
)
"""Of the fifteen rows in front, six or five are of the tools."""


def piece(row: int) -> bytes:
    return bytes([row])


def report(targets: list[Target], bases: list[Base]) -> CacheReport:
    return explain(placed(targets, bases, ROWS), bases, PLAN, piece)


def holding(text: bytes, slot: int = 0) -> Base:
    """A slot that holds `text`."""
    common = next((n for n, (a, b) in enumerate(zip(text, PROMPT, strict=False)) if a != b), len(text))
    return base(Kind.SLOT, len(text), common, slot=slot, ids=[*text])


def test_a_first_request_misses_nothing() -> None:
    assert report([target(0)], []) == CacheReport(computed=ROWS)


def test_a_continued_slot_is_live() -> None:
    found = report([target(0, 20)], [holding(bytes(PROMPT[:20]))])
    assert found == CacheReport(CacheSource.LIVE, reused=20, computed=ROWS - 20, common=20, held=20)


@pytest.mark.parametrize(
    ("held", "source"),
    [
        (in_slot(1, 20, 20), CacheSource.COPIED),
        (in_ram(20, 20), CacheSource.RAM),
        (on_disk(20, 20), CacheSource.DISK),
    ],
)
def test_where_it_came_from(held: Base, source: CacheSource) -> None:
    assert report([target(0)], [held]).source is source


def test_an_edit_is_shown_with_its_message() -> None:
    found = report([target(0, 29)], [holding(b"you are a tree. what were you?")])
    assert found.reason is MissReason.EDITED
    held, wanted = b"e. what were you", b"e. what are you?"
    ids = 13, tuple(held), tuple(wanted)
    assert found.difference == Difference(21, 1, held.decode(), wanted.decode(), *ids, Part.MESSAGES)
    assert found.displaced == 8


def test_an_edit_in_the_system_text_is_told_apart() -> None:
    found = report([target(0, 29)], [holding(b"you are a bush. what are you?")])
    assert found.reason is MissReason.PREAMBLE_CHANGED
    assert found.difference is not None
    assert (found.difference.row, found.difference.message) == (10, 0)


@pytest.mark.parametrize(
    ("boundaries", "row", "reason", "message"),
    [
        (TOOLS_FIRST, 3, MissReason.PREAMBLE_CHANGED, None),
        (TOOLS_FIRST, 4, MissReason.TOOLS_CHANGED, None),
        (TOOLS_FIRST, 9, MissReason.TOOLS_CHANGED, None),
        (TOOLS_FIRST, 10, MissReason.PREAMBLE_CHANGED, 0),
        (TOOLS_FIRST, 14, MissReason.PREAMBLE_CHANGED, 0),
        (TOOLS_FIRST, 15, MissReason.EDITED, None),
        (TOOLS_FIRST, 20, MissReason.EDITED, 1),
        (SYSTEM_FIRST, 9, MissReason.PREAMBLE_CHANGED, 0),
        (SYSTEM_FIRST, 10, MissReason.TOOLS_CHANGED, None),
        (SYSTEM_FIRST, 14, MissReason.TOOLS_CHANGED, None),
        (SYSTEM_FIRST, 20, MissReason.EDITED, 1),
        ((SYSTEM, USER), 4, MissReason.PREAMBLE_CHANGED, 0),
    ],
)
def test_changed_tools_changed_system_text_and_edits_are_told_apart(
    boundaries: tuple[Boundary, ...], row: int, reason: MissReason, message: int | None
) -> None:
    held = [holding(bytes([*PROMPT[:row], 0, *PROMPT[row + 1 :]]))]
    found = explain(placed([target(0, ROWS)], held, ROWS), held, plan_of(PROMPT, *boundaries, END), piece)
    assert found.difference is not None
    assert (found.reason, found.difference.row, found.difference.message) == (reason, row, message)
    assert found.changed is None


def test_where_the_memory_is_why_the_changed_part_is_still_named() -> None:
    held = [replace(in_slot(0, 29, 12, reuse=10, mark=10), ids=np.array([*PROMPT[:12], 0], np.int32))]
    found = explain(placed([target(0, 29)], held, ROWS), held, plan_of(PROMPT, *TOOLS_FIRST, END), piece)
    assert (found.reason, found.rewound, found.changed) == (MissReason.CANNOT_REWIND, True, Part.PREAMBLE)


def test_a_difference_right_behind_the_system_text_is_an_edit() -> None:
    found = report([target(0, 29)], [holding(b"you are a tree.\nwhat are you?")])
    assert found.reason is MissReason.EDITED


def test_what_ends_where_the_prompt_goes_on_has_no_difference() -> None:
    held = replace(holding(bytes(PROMPT[:20])), reuse=in_ram(20, 20, reuse=0).reuse)
    found = report([target(0, 20)], [held])
    assert (found.reason, found.difference) == (MissReason.CANNOT_REWIND, None)
    assert (found.common, found.reused, found.source) == (20, 0, CacheSource.NONE)


def test_what_was_not_worth_it_is_named_with_its_length() -> None:
    held = on_disk(20, 20)
    found = explain(placed([target(0)], [held], ROWS, SLOW), [held], PLAN, piece)
    assert (found.reason, found.common, found.held) == (MissReason.NOT_WORTH_IT, 20, 20)


def test_a_mark_is_a_rewind() -> None:
    held = in_slot(0, 25, 20, reuse=15, mark=10)
    found = report([target(0, 25)], [held])
    assert (found.rewound, found.reused, found.reason) == (True, 15, MissReason.CANNOT_REWIND)


def test_a_healed_prompt_is_counted_as_it_is_run() -> None:
    """It takes four rows more in the memory's tokens."""
    longer = plan_of([0] * (ROWS + 4), SYSTEM)
    held = base(Kind.SLOT, 24, 24, slot=0, healed=longer)
    found = report([target(0, 24)], [held])
    assert (found.healed, found.reused, found.computed) == (True, 24, ROWS + 4 - 24)
    assert found.reason is MissReason.NONE


def test_a_difference_behind_healed_rows_lies_where_the_client_sees_it() -> None:
    """The healed rows add ten before the difference; in the prompt as sent it is in the system text still."""
    longer = plan_of([*b"..........", *PROMPT], Boundary(25, BoundaryKind.SYSTEM_END, 0))
    held = base(Kind.SLOT, 40, 20, slot=0, healed=longer, ids=[*b"..........you are a bush. what are you?"])
    found = report([target(0, 40)], [held])
    assert found.reason is MissReason.PREAMBLE_CHANGED
    assert found.difference is not None
    assert (found.difference.row, found.difference.message) == (20, 0)
    assert (found.difference.held, found.difference.wanted) == ("u are a bush. wh", "u are a tree. wh")


def test_images_and_broken_characters_can_be_shown() -> None:
    plan = plan_of([-5, -6, 0xC3, 65])
    held = base(Kind.SLOT, 4, 2, slot=0, ids=[-5, -6, 0xA9, 66])
    found = explain(placed([target(0, 4)], [held], 4), [held], plan, piece)
    assert found.difference is not None
    assert found.difference.wanted == "\N{FRAME WITH PICTURE}" * 2 + "\ufffdA"


def test_nothing_missed_shows_no_difference() -> None:
    """The memory's own answer differs from what the client made of it, behind all of the prompt."""
    repeat = base(Kind.SLOT, 40, ROWS, reuse=ROWS - 1, slot=0, ids=PROMPT)
    found = report([target(0, 40)], [repeat])
    assert (found.reason, found.difference) == (MissReason.NONE, None)


memories = st.lists(
    st.tuples(st.sampled_from(Kind), st.integers(0, 40), st.integers(0, ROWS), st.booleans()), max_size=5
)


@given(memories, st.sampled_from([QUICK, SLOW]))
def test_every_decision_can_be_explained(known: list[tuple[Kind, int, int, bool]], at: object) -> None:
    bases = []
    for kind, held, common, whole in known:
        common = min(held, common)
        rows = min(common, ROWS - 1) if whole else 0
        slot = 3 if kind is Kind.SLOT else -1
        bases.append(base(kind, held, common, reuse=rows, slot=slot, ids=PROMPT[:common] + [33] * 40))
    chosen: Placement = placed([target(0), target(3, 40)], bases, ROWS, SLOW if at is SLOW else QUICK)
    found = explain(chosen, bases, PLAN, piece)
    assert found.reused + found.computed == ROWS
    assert (found.source is CacheSource.NONE) == (found.reused == 0)
    assert found.common == max((b.reuse.common for b in bases), default=0)
    assert found.displaced == chosen.lost
    if found.difference is not None:
        assert found.difference.row == found.common
        assert found.reason is not MissReason.NONE
    if found.reason in (MissReason.EDITED, MissReason.PREAMBLE_CHANGED, MissReason.TOOLS_CHANGED):
        assert found.difference is not None
