from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ds4.core.plan import Boundary, BoundaryKind
from ds4.core.step import Caps, Trim
from ds4.core.usage import SaveReason
from ds4.kv.policy import APART, TAIL, Knobs, Place, anchor, due, places, to_due

CAPS = {trim: Caps(trim, native_batch=True, memory_class=trim, window=8) for trim in Trim}
DISK = Knobs(min_tokens=100, cold_max=3000, interval=1000, trim=32, align=0, saves=True)
UNSAVED = replace(DISK, saves=False)


def boundary(row: int, kind: BoundaryKind = BoundaryKind.TURN_START) -> Boundary:
    return Boundary(row, kind)


def system_end(row: int) -> Boundary:
    return boundary(row, BoundaryKind.SYSTEM_END)


def user_start(row: int) -> Boundary:
    return boundary(row, BoundaryKind.LAST_USER_START)


def saves(found: tuple[Place, ...]) -> list[tuple[int, SaveReason]]:
    return [(place.row, place.save) for place in found if place.save]


def marks(found: tuple[Place, ...]) -> list[int]:
    return [place.row for place in found if place.mark]


@st.composite
def prompts(draw: st.DrawFn) -> tuple[int, list[Boundary], int]:
    rows = draw(st.integers(1, 5000))
    at = st.integers(0, rows)
    found = draw(st.lists(st.builds(Boundary, at, st.sampled_from(BoundaryKind)), max_size=8))
    return rows, sorted(found, key=lambda b: b.row), draw(at)


knobs = st.builds(
    Knobs,
    min_tokens=st.integers(0, 600),
    cold_max=st.sampled_from([0, 1000, 30000]),
    interval=st.sampled_from([0, 1, 900, 2048]),
    trim=st.integers(0, 40),
    align=st.sampled_from([0, 64, 2048]),
    saves=st.booleans(),
)


@given(prompts(), st.sampled_from(Trim), knobs)
def test_places_lie_in_order_in_what_is_computed(
    prompt: tuple[int, list[Boundary], int], trim: Trim, knobs: Knobs
) -> None:
    rows, boundaries, reused = prompt
    found = places(rows, boundaries, CAPS[trim], knobs, reused)
    at = [place.row for place in found]
    assert at == sorted(set(at))
    assert all(max(reused, 1) <= row <= rows for row in at)
    assert not any(place.save for place in found if place.row == reused), "that is computed already"
    assert all(place.mark or place.save for place in found)
    assert knobs.saves or not saves(found)
    assert trim is not Trim.ANY or not marks(found)
    answers = [b for b in boundaries if b.kind is BoundaryKind.ANSWER_START and 0 < b.row < rows]
    last = answers[-1].row if answers else rows - TAIL
    assert not any(row > last for row in marks(found))


@given(prompts(), st.sampled_from(Trim), knobs)
def test_a_new_beginning_of_the_right_length_is_saved_once(
    prompt: tuple[int, list[Boundary], int], trim: Trim, knobs: Knobs
) -> None:
    rows, boundaries, reused = prompt
    found = places(rows, boundaries, CAPS[trim], knobs, reused)
    cold = [place for place in found if place.save is SaveReason.COLD]
    wanted = knobs.saves and not reused and knobs.min_tokens <= rows <= knobs.cold_max
    assert len(cold) == wanted
    for place in cold:
        assert knobs.min_tokens <= place.row
        assert place.row + place.trimmed == rows


@given(prompts(), st.sampled_from(Trim), knobs)
def test_a_crash_costs_one_interval_at_most(
    prompt: tuple[int, list[Boundary], int], trim: Trim, knobs: Knobs
) -> None:
    rows, boundaries, reused = prompt
    saved = {row for row, _ in saves(places(rows, boundaries, CAPS[trim], knobs, reused))}
    if knobs.saves and knobs.spacing:
        assert saved >= {row for row in range(reused + 1, rows + 1) if due(row, knobs)}


def test_a_cold_save_is_made_at_the_end_of_the_system_text() -> None:
    found = places(900, [system_end(500), user_start(700)], CAPS[Trim.ANY], DISK, 0)
    assert found == (Place(500, save=SaveReason.COLD, trimmed=400),)


def test_with_little_system_text_it_is_made_where_the_user_begins() -> None:
    assert anchor(900, [system_end(99), user_start(700)], DISK) == 700


@pytest.mark.parametrize(
    ("rows", "align", "at"), [(900, 64, 832), (900, 0, 868), (900, 2048, 900), (120, 0, 120), (20, 64, 20)]
)
def test_without_a_boundary_it_is_made_at_a_round_length(rows: int, align: int, at: int) -> None:
    assert anchor(rows, [], replace(DISK, align=align)) == at


def test_without_a_least_length_there_is_still_something_to_save() -> None:
    for align in (0, 2048):
        assert anchor(20, [], replace(DISK, min_tokens=0, align=align)) == 20


@pytest.mark.parametrize(("rows", "reused"), [(99, 0), (3001, 0), (900, 1)])
def test_no_cold_save_of_the_short_the_long_and_the_known(rows: int, reused: int) -> None:
    found = places(rows, [system_end(50)], CAPS[Trim.ANY], replace(DISK, interval=0), reused)
    assert found == ()


def test_zero_turns_cold_saves_off() -> None:
    assert places(900, [], CAPS[Trim.ANY], replace(DISK, cold_max=0), 0) == ()


def test_continued_saves_come_at_multiples() -> None:
    found = places(3500, [], CAPS[Trim.ANY], DISK, 1000)
    assert saves(found) == [(2000, SaveReason.CONTINUED), (3000, SaveReason.CONTINUED)]


def test_a_cold_save_stands_for_a_continued_one() -> None:
    found = places(2500, [system_end(2000)], CAPS[Trim.ANY], DISK, 0)
    assert saves(found) == [(1000, SaveReason.CONTINUED), (2000, SaveReason.COLD)]
    assert found[-1].trimmed == 500


@pytest.mark.parametrize("trim", [Trim.WINDOW, Trim.BOUNDARY])
def test_marks_are_made_where_the_next_prompt_may_go_back_to(trim: Trim) -> None:
    turns = [system_end(300), boundary(400), user_start(800)]
    assert marks(places(900, turns, CAPS[trim], UNSAVED, 0)) == [300, 400, 800, 900 - TAIL]
    assert marks(places(900, turns, CAPS[trim], UNSAVED, 399)) == [400, 800, 900 - TAIL]
    assert marks(places(900, turns, CAPS[trim], UNSAVED, 400)) == [400, 800, 900 - TAIL]
    assert marks(places(900, turns, CAPS[trim], UNSAVED, 401)) == [800, 900 - TAIL]
    assert marks(places(2500, [], CAPS[trim], UNSAVED, 0)) == [1000, 2000, 2500 - TAIL]
    assert marks(places(1001, [], CAPS[trim], UNSAVED, 0)) == [1001 - TAIL]


@pytest.mark.parametrize("trim", [Trim.WINDOW, Trim.BOUNDARY])
@pytest.mark.parametrize(
    ("start", "end", "kept"),
    [
        # Tools first: their end. System text first: their beginning. It is one mark, whatever the order.
        (3, 200, [200]),
        (120, 298, [120]),
        (120, 200, [120, 200]),
        # One of the two parts is too short to be worth a mark.
        (3, APART - 1, []),
        (APART, 300, [APART]),
        (3, 300 - APART, [300 - APART]),
        (3, 300 - APART + 1, []),
    ],
)
def test_tools_and_system_text_are_marked_apart_where_both_are_long(
    trim: Trim, start: int, end: int, kept: list[int]
) -> None:
    tools = [boundary(start, BoundaryKind.TOOLS_START), boundary(end, BoundaryKind.TOOLS_END)]
    found = marks(places(900, [*tools, system_end(300)], CAPS[trim], UNSAVED, 0))
    assert found == [*kept, 300, 900 - TAIL]


def test_a_memory_that_can_be_cut_needs_no_marks() -> None:
    assert places(900, [system_end(300)], CAPS[Trim.ANY], UNSAVED, 0) == ()


def test_a_place_that_is_saved_may_be_marked_too() -> None:
    (first, *_) = places(900, [system_end(500)], CAPS[Trim.BOUNDARY], DISK, 0)
    assert first == Place(500, mark=True, save=SaveReason.COLD, trimmed=400)


def test_the_interval_is_rounded_up() -> None:
    assert Knobs(interval=10_000, align=2048).spacing == 10_240
    assert Knobs(interval=2048, align=2048).spacing == 2048
    assert Knobs(interval=10_000, align=0).spacing == 10_000
    assert Knobs(interval=0).spacing == 0


@pytest.mark.parametrize(("rows", "is_due"), [(0, False), (999, False), (1000, True), (3000, True)])
def test_an_interval_ends_at_every_multiple(rows: int, is_due: bool) -> None:
    assert due(rows, DISK) is is_due
    assert not due(rows, replace(DISK, interval=0))


@given(st.integers(0, 10**6), st.integers(1, 5000))
def test_the_next_interval_ends_where_it_is_due_and_not_before(rows: int, interval: int) -> None:
    knobs = replace(DISK, interval=interval)
    ahead = to_due(rows, knobs)
    assert due(rows + ahead, knobs)
    assert not any(due(rows + n, knobs) for n in range(1, min(ahead, 200)))
    assert to_due(rows, replace(DISK, interval=0)) > 10**9
