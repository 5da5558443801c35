import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ds4.core.plan import Ids
from ds4.core.step import Caps, Frontier, Trim
from ds4.kv.prefix import Reuse, common_prefix, reusable
from ds4.kv.rows import RowLog

ANY = Caps(Trim.ANY, native_batch=True, memory_class="plain")
WINDOW = Caps(Trim.WINDOW, native_batch=True, memory_class="swa", window=8)
BOUNDARY = Caps(Trim.BOUNDARY, native_batch=True, memory_class="hybrid")
ids_lists = st.lists(st.integers(0, 3), max_size=40)


def ids(*values: int) -> Ids:
    return np.array(values, dtype=np.int32)


def frontier(rows: int, pos_min: int = 0) -> Frontier:
    return Frontier(pos_min, rows - 1)


@given(ids_lists, ids_lists)
def test_common_prefix_is_the_longest_equal_run(left: list[int], right: list[int]) -> None:
    expected = 0
    while expected < min(len(left), len(right)) and left[expected] == right[expected]:
        expected += 1
    assert common_prefix(ids(*left), ids(*right)) == expected


def test_one_row_is_always_left_to_compute() -> None:
    held = ids(1, 2, 3)
    assert reusable(held, held, ANY, frontier(3)) == Reuse(common=3, rows=2)


def test_a_prompt_that_is_a_prefix_of_the_slot_is_reused() -> None:
    assert reusable(ids(1, 2, 3, 4, 5), ids(1, 2, 3), ANY, frontier(5)) == Reuse(common=3, rows=2)


def test_a_continued_slot_is_kept_whole_in_every_class() -> None:
    held, wanted = ids(1, 2, 3), ids(1, 2, 3, 4)
    for caps in (ANY, WINDOW, BOUNDARY):
        assert reusable(held, wanted, caps, frontier(3)) == Reuse(common=3, rows=3)


def test_a_window_is_rewound_only_while_its_rows_are_there() -> None:
    held, wanted = ids(*range(20)), ids(*range(16), 99)
    assert reusable(held, wanted, WINDOW, frontier(20, pos_min=8)) == Reuse(16, 16)
    assert reusable(held, wanted, WINDOW, frontier(20, pos_min=9)) == Reuse(16, 0)


def test_a_boundary_class_cannot_be_cut() -> None:
    assert reusable(ids(1, 2, 3), ids(1, 2, 9), BOUNDARY, frontier(3)) == Reuse(common=2, rows=0)


@given(st.lists(st.one_of(st.lists(st.integers(0, 9), max_size=300), st.integers(0, 200)), max_size=12))
def test_row_log_behaves_like_a_list(operations: list[list[int] | int]) -> None:
    log, model = RowLog(), list[int]()
    for operation in operations:
        if isinstance(operation, int):
            log.truncate(operation)
            model = model[:operation]
        else:
            log.extend(ids(*operation))
            model += operation
        assert log.view().tolist() == model
        assert len(log) == len(model)
