import pytest
from hypothesis import given
from hypothesis import strategies as st

from ds4.core.errors import ContextOverflow, Overloaded
from ds4.schedule.admission import MAX_RETRY_AFTER, check_queue, completion_limit
from ds4.schedule.rates import Rates, chunk_rows


def test_a_prompt_that_fills_the_context_is_refused() -> None:
    with pytest.raises(ContextOverflow) as caught:
        completion_limit(100, 10, 100)
    assert (caught.value.prompt_tokens, caught.value.context) == (100, 100)


def test_the_limit_is_clamped_to_the_room_left() -> None:
    assert completion_limit(90, 1_000_000, 100) == 10
    assert completion_limit(90, 3, 100) == 3
    assert completion_limit(90, -1, 100) == 0


def test_the_queue_takes_its_limit_and_no_more() -> None:
    check_queue(live=3, n_slots=2, max_queue=2, seconds_per_job=1)
    with pytest.raises(Overloaded) as caught:
        check_queue(live=4, n_slots=2, max_queue=2, seconds_per_job=10)
    assert caught.value.retry_after == 15


@given(st.integers(1, 10_000), st.floats(0, 1e6))
def test_retry_after_is_a_sane_number_of_seconds(live: int, seconds: float) -> None:
    with pytest.raises(Overloaded) as caught:
        check_queue(live=live, n_slots=1, max_queue=0, seconds_per_job=seconds)
    assert 1 <= caught.value.retry_after <= MAX_RETRY_AFTER


def test_the_first_chunk_is_one_quantum_and_later_ones_take_a_second() -> None:
    rates = Rates()
    assert chunk_rows(rates.prefill, 128, 2048) == 128
    rates.observe(prefill_rows=100, seconds=0.25)
    assert chunk_rows(rates.prefill, 128, 2048) == 400
    rates.observe(prefill_rows=4, seconds=1.0)
    assert rates.prefill == 400, "a step of few rows says nothing about the rate"


@given(st.floats(0.1, 1e6), st.integers(1, 2048), st.integers(1, 4096))
def test_a_chunk_lies_between_quantum_and_largest(rate: float, quantum: int, largest: int) -> None:
    rows = chunk_rows(rate, quantum, largest)
    assert min(quantum, largest) <= rows <= largest
