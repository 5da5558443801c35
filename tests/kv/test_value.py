import pytest
from hypothesis import given
from hypothesis import strategies as st

from ds4.kv.value import HALF_LIFE, Worth, score, victims

NOW = 1_000_000.0
worths = st.builds(
    Worth,
    key=st.text("abc", max_size=2),
    rows=st.integers(0, 1000),
    size=st.integers(0, 1000),
    hits=st.integers(0, 50),
    used=st.floats(0, NOW),
)


def worth(key: str = "a", rows: int = 100, size: int = 100, hits: int = 0, ago: float = 0.0) -> Worth:
    return Worth(key, rows, size, hits, NOW - ago)


def freed(*states: Worth, excess: int) -> list[str]:
    return [state.key for state in victims(states, excess, NOW)]


def test_worth_is_tokens_saved_by_room_taken() -> None:
    assert score(worth(rows=300, size=100), NOW) == pytest.approx(3)
    assert score(worth(rows=300, size=100, hits=2), NOW) == pytest.approx(9)


def test_a_hit_counts_half_after_half_a_life() -> None:
    assert score(worth(hits=8, ago=HALF_LIFE), NOW) == pytest.approx(5)
    assert score(worth(hits=8, ago=2 * HALF_LIFE), NOW) == pytest.approx(3)


def test_hits_of_long_ago_are_none() -> None:
    assert score(worth(hits=50, ago=13 * HALF_LIFE), NOW) == score(worth(), NOW)


def test_a_use_that_seems_to_lie_ahead_counts_as_now() -> None:
    """Another process's clock."""
    assert score(worth(hits=3, ago=-50), NOW) == score(worth(hits=3), NOW)


def test_the_popular_of_yesterday_gives_way() -> None:
    assert freed(worth("old", hits=10, ago=10 * HALF_LIFE), worth("new", hits=1), excess=1) == ["old"]


def test_of_equals_the_one_not_used_for_longer_goes_first() -> None:
    assert freed(worth("late", ago=10), worth("early", ago=20), excess=1) == ["early"]


def test_a_large_state_of_few_rows_goes_before_a_small_one_of_many() -> None:
    assert freed(worth("dense", rows=900, size=90), worth("fat", rows=100, size=900), excess=1) == ["fat"]


def test_a_state_without_size_can_be_scored() -> None:
    assert score(worth(size=0), NOW) == 100


@given(st.lists(worths, max_size=12), st.integers(-10, 3000))
def test_the_least_valuable_go_and_no_more_than_needed(states: list[Worth], excess: int) -> None:
    gone = list(victims(states, excess, NOW))
    assert sum(state.size for state in gone) >= min(excess, sum(state.size for state in states))
    if gone:
        assert sum(state.size for state in gone[:-1]) < excess
        stay = [state for state in states if not any(state is other for other in gone)]
        assert all(score(g, NOW) <= score(s, NOW) for g in gone for s in stay)
    else:
        assert excess <= 0 or not states


@given(worths, st.floats(0, 10 * HALF_LIFE))
def test_waiting_never_raises_worth(state: Worth, later: float) -> None:
    assert score(state, NOW + later) <= score(state, NOW)
