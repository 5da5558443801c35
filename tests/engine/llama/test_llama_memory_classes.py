"""Every memory class, on tiny random models: what the probe finds, and that it is true."""

from collections.abc import Callable

import numpy as np
import pytest
from llama_driver import Driver

from ds4.core.step import SnapshotKind, Trim

pytest_plugins = ("llama_fixtures",)
pytestmark = pytest.mark.engine

CLASSES = [
    ("llama", Trim.ANY),
    ("glm-dsa", Trim.ANY),
    ("gemma3", Trim.WINDOW),
    ("deepseek4", Trim.BOUNDARY),
    ("glm5-next", Trim.BOUNDARY),
    ("qwen4exp", Trim.BOUNDARY),
    ("qwen35moe", Trim.BOUNDARY),
]
each_class = pytest.mark.parametrize(("arch", "trim"), CLASSES)
Tiny = Callable[[str], Driver]

A = list(range(300, 340))
B = list(range(500, 520))
TOLERANCE = 0.05


@each_class
def test_caps(tiny: Tiny, arch: str, trim: Trim) -> None:
    engine = tiny(arch).engine
    assert engine.caps.trim is trim
    assert (engine.caps.window > 0) == (trim is Trim.WINDOW)
    assert engine.caps.native_batch, engine.caps.batching_note
    assert engine.memory().kv_per_slot > 0


@each_class
def test_copies_and_snapshots_go_on_as_the_slot_itself(tiny: Tiny, arch: str, trim: Trim) -> None:
    driver = tiny(arch)
    driver.run(0, A)
    driver.engine.copy(0, 1)
    snapshot = driver.engine.export(0, SnapshotKind.FULL)
    expected = driver.run(0, B)
    assert np.array_equal(driver.run(1, B), expected)
    driver.engine.load(1, snapshot)
    assert driver.rows(1) == len(A)
    restored = driver.run(1, B)
    if trim is Trim.WINDOW:  # restored window cells are packed, which changes the order of sums
        assert np.allclose(restored, expected, atol=TOLERANCE)
    else:
        assert np.array_equal(restored, expected)


@each_class
def test_a_partial_snapshot_takes_a_slot_back(tiny: Tiny, arch: str, trim: Trim) -> None:
    driver = tiny(arch)
    driver.run(0, A)
    snapshot = driver.engine.export(0, SnapshotKind.PARTIAL)
    expected = driver.run(0, B)
    driver.engine.load(0, snapshot)
    assert driver.rows(0) == len(A)
    again = driver.run(0, B)
    if trim is Trim.WINDOW:
        assert np.allclose(again, expected, atol=TOLERANCE)
    else:
        assert np.array_equal(again, expected)


@each_class
def test_loading_over_the_source_of_a_fresh_copy(tiny: Tiny, arch: str, trim: Trim) -> None:
    """The copy is made real before its source goes, also when no slot is empty."""
    del trim
    driver = tiny(arch)
    driver.run(2, B)
    snapshot = driver.engine.export(2, SnapshotKind.FULL)
    driver.run(0, A)
    driver.engine.copy(0, 1)
    driver.engine.load(0, snapshot)
    copied = driver.run(1, B)
    assert np.array_equal(copied, driver.fresh_steps(2, A, B))


@each_class
def test_clearing_the_source_of_a_fresh_copy(tiny: Tiny, arch: str, trim: Trim) -> None:
    del trim
    driver = tiny(arch)
    driver.run(0, A)
    driver.engine.copy(0, 1)
    driver.engine.clear(0)
    copied = driver.run(1, B)
    assert np.array_equal(copied, driver.fresh_steps(0, A, B))


@each_class
def test_trim_is_true_or_changes_nothing(tiny: Tiny, arch: str, trim: Trim) -> None:
    driver = tiny(arch)
    expected = driver.run(0, A)
    driver.engine.clear(0)
    driver.run(0, A[:-2])
    driver.run(0, A[-2:-1] + B)
    trimmed = driver.engine.trim(0, len(A) - 2)
    assert trimmed == (trim is not Trim.BOUNDARY)
    if trimmed:
        assert np.allclose(driver.run(0, A[-2:]), expected, atol=TOLERANCE)
    else:
        assert driver.rows(0) == len(A) - 1 + len(B)


def test_a_window_that_is_gone_cannot_be_trimmed_to(tiny: Tiny) -> None:
    driver = tiny("gemma3")
    for _ in range(10):
        driver.run(0, A)
    held = driver.rows(0)
    window = driver.engine.caps.window
    low = driver.engine.frontier(0).pos_min
    assert low > 0, "the model must have dropped rows for this test"
    assert not driver.engine.trim(0, low + window - 1)
    assert driver.rows(0) == held
    assert driver.engine.trim(0, low + window)
