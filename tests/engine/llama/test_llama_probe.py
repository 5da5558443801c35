import numpy as np
import pytest

from ds4.core.step import Trim
from ds4.engine.llama.probe import classify, deviation, judge, probe_tokens


@pytest.mark.parametrize(
    ("trimmed", "window", "recurrent", "hybrid", "name", "trim"),
    [
        (True, 0, False, False, "plain", Trim.ANY),
        (True, 512, False, False, "swa", Trim.WINDOW),
        (False, 0, True, False, "recurrent", Trim.BOUNDARY),
        (False, 0, False, True, "hybrid", Trim.BOUNDARY),
        (False, 0, False, False, "compressed", Trim.BOUNDARY),
    ],
)
def test_classes(trimmed: bool, window: int, recurrent: bool, hybrid: bool, name: str, trim: Trim) -> None:
    found = classify(trimmed, window, recurrent=recurrent, hybrid=hybrid)
    assert (found.name, found.trim, found.window) == (name, trim, window)


def _rows(seed: int) -> list[np.ndarray[tuple[int, ...], np.dtype[np.float32]]]:
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(1000).astype(np.float32) * 3 for _ in range(2)]


def test_equal_and_nearly_equal_rows_mean_native_batching() -> None:
    rows = _rows(1)
    assert deviation(rows, rows) == 0
    noisy = [row + np.float32(0.05) for row in rows]
    assert judge(deviation(rows, noisy)).native


def test_one_unrelated_row_means_row_by_row_and_says_why() -> None:
    rows, other = _rows(1), _rows(2)
    verdict = judge(deviation(rows, [rows[0], other[1]]))
    assert not verdict.native
    assert "row by row" in verdict.note
    assert "1.39" in verdict.note


def test_rows_that_are_not_numbers_fail() -> None:
    rows = _rows(1)
    assert not judge(deviation(rows, [rows[0], np.full(1000, np.nan, dtype=np.float32)])).native


@pytest.mark.parametrize("n_vocab", [8, 1216, 262144])
def test_probe_tokens_are_valid_and_differ_by_slot(n_vocab: int) -> None:
    first, second = probe_tokens(n_vocab, 0), probe_tokens(n_vocab, 1)
    for tokens in (first, second):
        assert tokens.min() >= 0
        assert tokens.max() < n_vocab
    assert first.tolist() != second.tolist()[: first.size]
