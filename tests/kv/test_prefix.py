import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ds4.core.plan import Ids
from ds4.core.step import Caps, SnapshotKind, Trim
from ds4.kv.checkpoint import Checkpoint
from ds4.kv.prefix import Reuse, common_prefix, reusable, window_start

ANY = Caps(Trim.ANY, native_batch=True, memory_class="plain")
WINDOW = Caps(Trim.WINDOW, native_batch=True, memory_class="swa", window=8)
BOUNDARY = Caps(Trim.BOUNDARY, native_batch=True, memory_class="hybrid")
ALL = (ANY, WINDOW, BOUNDARY)
ids_lists = st.lists(st.integers(0, 3), max_size=40)


def ids(*values: int) -> Ids:
    return np.array(values, dtype=np.int32)


def mark(rows: int) -> Checkpoint:
    return Checkpoint(f"m{rows}", "", np.zeros(rows, np.int32), SnapshotKind.PARTIAL, 10)


@given(ids_lists, ids_lists)
def test_common_prefix_is_the_longest_equal_run(left: list[int], right: list[int]) -> None:
    expected = 0
    while expected < min(len(left), len(right)) and left[expected] == right[expected]:
        expected += 1
    assert common_prefix(ids(*left), ids(*right)) == expected


def test_one_row_is_always_left_to_compute() -> None:
    assert reusable(3, 3, 2, ANY, 0) == Reuse(common=3, rows=2)


def test_a_prompt_that_is_a_prefix_of_the_memory_is_reused() -> None:
    assert reusable(5, 3, 2, ANY, 0) == Reuse(common=3, rows=2)


@pytest.mark.parametrize("caps", ALL)
def test_a_continued_memory_is_kept_whole_in_every_class(caps: Caps) -> None:
    assert reusable(3, 3, 3, caps, 2, [mark(1)]) == Reuse(common=3, rows=3)


def test_a_window_is_rewound_only_while_its_rows_are_there() -> None:
    assert reusable(20, 16, 16, WINDOW, 8) == Reuse(16, 16)
    assert reusable(20, 16, 16, WINDOW, 9) == Reuse(16, 0)


def test_a_boundary_class_cannot_be_cut() -> None:
    assert reusable(3, 2, 2, BOUNDARY, 0) == Reuse(common=2, rows=0)


def test_a_mark_takes_it_back_to_its_own_row() -> None:
    marks = [mark(4), mark(9), mark(13)]
    assert reusable(20, 12, 12, BOUNDARY, 0, marks) == Reuse(12, 9, marks[1])
    assert reusable(20, 12, 8, BOUNDARY, 0, marks) == Reuse(12, 4, marks[0])
    assert reusable(20, 3, 3, BOUNDARY, 0, marks) == Reuse(3, 0)
    assert reusable(20, 13, 13, WINDOW, 19, marks) == Reuse(13, 13, marks[2])


def test_no_mark_where_the_memory_can_be_cut() -> None:
    assert reusable(20, 12, 12, ANY, 0, [mark(12)]) == Reuse(12, 12)
    assert reusable(20, 16, 16, WINDOW, 8, [mark(16)]) == Reuse(16, 16)


def test_a_repeated_prompt_needs_a_mark_before_its_end() -> None:
    assert reusable(100, 100, 99, BOUNDARY, 99, [mark(96)]).rows == 96


@pytest.mark.parametrize(("caps", "start"), [(ANY, 0), (WINDOW, 12), (BOUNDARY, 19)])
def test_a_restored_state_holds_what_is_needed_to_go_on(caps: Caps, start: int) -> None:
    assert window_start(20, caps) == start


@pytest.mark.parametrize("caps", ALL)
def test_a_short_restored_state_is_whole(caps: Caps) -> None:
    assert window_start(0, caps) == 0
    assert window_start(1, caps) == 0


def test_a_restored_window_can_be_cut_only_where_nothing_has_slid_out() -> None:
    assert reusable(20, 19, 19, WINDOW, window_start(20, WINDOW)) == Reuse(19, 0)
    assert reusable(8, 5, 5, WINDOW, window_start(8, WINDOW)) == Reuse(5, 5)


@given(st.data())
def test_reuse_is_within_what_is_common_and_allowed(data: st.DataObject) -> None:
    held = data.draw(st.integers(0, 60))
    common = data.draw(st.integers(0, held))
    most = data.draw(st.integers(0, 60))
    caps = data.draw(st.sampled_from(ALL))
    pos_min = data.draw(st.integers(0, max(0, held - 1)))
    marks = [mark(rows) for rows in data.draw(st.lists(st.integers(1, 60), max_size=4))]
    reuse = reusable(held, common, most, caps, pos_min, marks)
    best = min(common, most)
    assert reuse.common == common
    assert 0 <= reuse.rows <= best
    assert reuse.mark is None or (reuse.mark.rows == reuse.rows and reuse.mark in marks)
    assert reuse.rows >= max((m.rows for m in marks if m.rows <= best), default=0)
    assert caps is not ANY or reuse.rows == best
