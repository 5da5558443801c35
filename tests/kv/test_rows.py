import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ds4.core.plan import Ids
from ds4.kv.rows import RowLog

rows = st.lists(st.integers(-9, 9), max_size=300)


def ids(*values: int) -> Ids:
    return np.array(values, dtype=np.int32)


def log_of(*values: int) -> RowLog:
    log = RowLog()
    log.extend(ids(*values))
    return log


@given(st.lists(st.one_of(rows, st.integers(0, 200), rows.map(tuple)), max_size=12))
def test_row_log_behaves_like_a_list(operations: list[list[int] | int | tuple[int, ...]]) -> None:
    """A number cuts, a list appends, a tuple replaces."""
    log, model = RowLog(), list[int]()
    for operation in operations:
        match operation:
            case int():
                log.truncate(operation)
                model = model[:operation]
            case list():
                log.extend(ids(*operation))
                model = model + operation
            case tuple():
                log.become(ids(*operation))
                model = list(operation)
        assert log.view().tolist() == model
        assert len(log) == len(model)


def test_a_copy_is_kept_as_it_was() -> None:
    log = log_of(1, 2, 3)
    kept = log.copy()
    log.truncate(1)
    log.extend(ids(9, 9))
    assert kept.tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match="read-only"):
        kept[0] = 5


def test_a_log_becomes_a_part_of_itself() -> None:
    log = log_of(*range(300))
    log.become(log.view()[:40])
    assert log.view().tolist() == list(range(40))


def test_the_source_of_rows_may_change() -> None:
    source = ids(1, 2, 3)
    log = RowLog()
    log.become(source)
    source[0] = 9
    assert log.view().tolist() == [1, 2, 3]
