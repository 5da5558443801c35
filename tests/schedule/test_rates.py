import pytest
from hypothesis import given
from hypothesis import strategies as st

from ds4.schedule.rates import (
    GUESSED,
    GUESSED_PREFILL,
    MIN_BYTES,
    MIN_ROWS,
    SMOOTHING,
    Move,
    Rates,
    chunk_rows,
)

MB = 1 << 20


def price(rates: Rates, move: Move) -> float:
    return float(getattr(rates.prices(), move.value))


@pytest.mark.parametrize("move", list(Move))
def test_before_anything_is_measured_prices_are_guessed(move: Move) -> None:
    assert price(Rates(), move) == pytest.approx(GUESSED_PREFILL / GUESSED[move])


@pytest.mark.parametrize("move", list(Move))
def test_a_slow_move_raises_its_own_price_alone(move: Move) -> None:
    rates, before = Rates(), Rates()
    rates.moved(move, 100 * MB, 100.0)
    for other in Move:
        if other is move:
            assert price(rates, other) > price(before, other)
        else:
            assert price(rates, other) == price(before, other)


def test_a_price_is_rows_that_could_be_computed_while_a_byte_moves() -> None:
    rates = Rates()
    rates.observe(500, 1.0)
    for _ in range(100):
        rates.moved(Move.LOAD, 100 * MB, 0.1)
    assert price(rates, Move.LOAD) == pytest.approx(500 / (1000 * MB))


def test_a_faster_engine_makes_moving_dearer() -> None:
    rates = Rates()
    rates.observe(int(10 * GUESSED_PREFILL), 1.0)
    assert price(rates, Move.COPY) == pytest.approx(10 * price(Rates(), Move.COPY))


def test_the_first_prefill_counts_whole_and_the_next_ones_in_part() -> None:
    rates = Rates()
    seen = [rates.prefill]
    for rows in (100, 200):
        rates.observe(rows, 1.0)
        seen.append(rates.prefill)
    assert seen == [None, 100, pytest.approx(100 + SMOOTHING * 100)]


def test_small_and_timeless_steps_say_nothing() -> None:
    rates = Rates()
    rates.observe(MIN_ROWS - 1, 1.0)
    rates.observe(100, 0.0)
    rates.moved(Move.COPY, MIN_BYTES - 1, 100.0)
    rates.moved(Move.COPY, 100 * MB, 0.0)
    assert rates.prefill is None
    assert rates.prices() == Rates().prices()


@given(st.lists(st.tuples(st.integers(MIN_ROWS, 5000), st.floats(1e-3, 100)), min_size=1, max_size=20))
def test_the_rate_stays_within_what_was_seen(steps: list[tuple[int, float]]) -> None:
    rates = Rates()
    for rows, seconds in steps:
        rates.observe(rows, seconds)
    seen = [rows / seconds for rows, seconds in steps]
    assert rates.prefill is not None
    assert min(seen) * 0.999 <= rates.prefill <= max(seen) * 1.001


@given(st.none() | st.floats(0, 1e6), st.integers(1, 4096), st.integers(1, 4096))
def test_a_chunk_is_never_empty_and_fits(rate: float | None, quantum: int, largest: int) -> None:
    rows = chunk_rows(rate, quantum, largest)
    assert min(quantum, largest) <= rows <= largest


def test_a_chunk_takes_about_a_second() -> None:
    assert chunk_rows(700.0, 128, 2048) == 700
    assert chunk_rows(None, 128, 2048) == 128
