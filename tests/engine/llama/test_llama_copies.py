"""A copy is its source to the last bit, whatever happens to either side before the next step.

llama.cpp only notes a copy. Each test does something to one side of it at once, with an empty slot at hand
and with every slot in use, and compares with a slot computed cold in the same chunks.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from llama_driver import Driver
from numpy.typing import NDArray

from ds4.core.errors import EngineError
from ds4.core.step import Snapshot, SnapshotKind, Trim
from ds4.engine.llama import BackendChoice, LlamaEngine, LlamaOptions
from ds4.testing.tiny import TINY_ARCHS, tiny_model

pytestmark = pytest.mark.engine

N_CTX = 512
CHUNK = 100
SHORT, LONG = 60, 300
# Longer than a window and one step together, so that the window's ring has gone round.
WINDOWED = ("gemma3", "deepseek4")
CASES = [(arch, SHORT) for arch in TINY_ARCHS] + [(arch, LONG) for arch in WINDOWED]
FULL_CASES = [(arch, N_CTX) for arch in ("llama", "gemma3", "deepseek4", "qwen35moe")]

SOURCE, TARGET, THIRD, FOURTH = range(4)

_RANDOM = np.random.default_rng(11)
ROWS: list[int] = _RANDOM.integers(0, 1000, N_CTX).tolist()
OTHER: list[int] = _RANDOM.integers(0, 1000, 30).tolist()
SUFFIX: list[int] = _RANDOM.integers(0, 1000, 10).tolist()

Row = NDArray[np.float32]

sides = pytest.mark.parametrize(
    ("side", "stays"), [(SOURCE, TARGET), (TARGET, SOURCE)], ids=["source", "target"]
)
crowds = pytest.mark.parametrize("crowded", [False, True], ids=["room", "crowded"])


@dataclass(frozen=True)
class Case:
    """ROWS[:length] and OTHER as snapshots, and the logits that SUFFIX leads to after each."""

    driver: Driver
    length: int
    rows: Snapshot
    part: Snapshot
    other: Snapshot
    after_rows: Row | None
    after_other: Row

    @property
    def engine(self) -> LlamaEngine:
        return self.driver.engine

    def note_copy(self, *, crowded: bool) -> None:
        """Of SOURCE to TARGET, with another memory in THIRD, and in FOURTH too when crowded."""
        self.driver.clear()
        for slot in (THIRD, FOURTH) if crowded else (THIRD,):
            feed(self.driver, slot, OTHER)
        feed(self.driver, SOURCE, ROWS[: self.length])
        self.engine.copy(SOURCE, TARGET)

    def check_rows(self, slot: int) -> None:
        assert self.driver.rows(slot) == self.length
        if self.after_rows is None:
            assert self._bytes(self.engine.export(slot, SnapshotKind.FULL)) == self._bytes(self.rows)
        else:
            assert np.array_equal(self.driver.run(slot, SUFFIX), self.after_rows)

    def check_other(self, slot: int) -> None:
        assert np.array_equal(self.driver.run(slot, SUFFIX), self.after_other)

    def _bytes(self, snapshot: Snapshot) -> bytes:
        """Loading sorts rows, so compare what was loaded."""
        self.engine.load(FOURTH, snapshot)
        return bytes(self.engine.export(FOURTH, SnapshotKind.FULL).parts[0].data)


@pytest.fixture(scope="module")
def case(request: pytest.FixtureRequest) -> Iterator[Case]:
    arch, length = request.param
    options = LlamaOptions(
        tiny_model(arch),
        n_ctx=N_CTX,
        n_slots=4,
        n_batch=128,
        n_ubatch=128,
        backend=BackendChoice.CPU,
        threads=1,
        threads_batch=1,
    )
    engine = LlamaEngine.open(options)
    driver = Driver(engine)
    feed(driver, SOURCE, ROWS[:length])
    rows, part = (engine.export(SOURCE, kind) for kind in (SnapshotKind.FULL, SnapshotKind.PARTIAL))
    feed(driver, THIRD, OTHER)
    other = engine.export(THIRD, SnapshotKind.FULL)
    after_rows = None if length == N_CTX else driver.run(SOURCE, SUFFIX)
    yield Case(driver, length, rows, part, other, after_rows, driver.run(THIRD, SUFFIX))
    engine.close()


each_case = pytest.mark.parametrize("case", CASES, indirect=True, ids=lambda c: f"{c[0]}-{c[1]}")
each_full_case = pytest.mark.parametrize("case", FULL_CASES, indirect=True, ids=lambda c: c[0])


def feed(driver: Driver, slot: int, rows: list[int]) -> None:
    for at in range(0, len(rows), CHUNK):
        driver.run(slot, rows[at : at + CHUNK])


@each_case
def test_both_sides_go_on_alike(case: Case) -> None:
    case.note_copy(crowded=True)
    case.check_rows(TARGET)
    case.check_rows(SOURCE)


@each_case
@crowds
@sides
def test_clearing_one_side_keeps_the_other(case: Case, side: int, stays: int, crowded: bool) -> None:
    case.note_copy(crowded=crowded)
    case.engine.clear(side)
    feed(case.driver, side, OTHER)
    case.check_other(side)
    case.check_rows(stays)


@each_case
@crowds
@sides
def test_trimming_one_side_keeps_the_other(case: Case, side: int, stays: int, crowded: bool) -> None:
    case.note_copy(crowded=crowded)
    assert case.engine.trim(side, case.length - 1) == (case.engine.caps.trim is not Trim.BOUNDARY)
    case.check_rows(stays)


@each_case
@crowds
@sides
def test_copying_over_one_side_keeps_the_other(case: Case, side: int, stays: int, crowded: bool) -> None:
    case.note_copy(crowded=crowded)
    case.engine.copy(THIRD, side)
    case.check_rows(stays)
    case.check_other(side)
    case.check_other(THIRD)


@each_case
@crowds
@sides
def test_loading_over_one_side_keeps_the_other(case: Case, side: int, stays: int, crowded: bool) -> None:
    case.note_copy(crowded=crowded)
    case.engine.load(side, case.other)
    case.check_rows(stays)
    case.check_other(side)


@each_case
@crowds
@sides
def test_taking_one_side_back_keeps_the_other(case: Case, side: int, stays: int, crowded: bool) -> None:
    case.note_copy(crowded=crowded)
    case.engine.load(side, case.part)
    assert case.driver.rows(side) == case.length
    case.check_rows(stays)
    if case.length == SHORT:
        case.check_rows(side)


@each_case
def test_a_refused_snapshot_empties_its_slot_alone(case: Case) -> None:
    case.note_copy(crowded=True)
    with pytest.raises(EngineError, match="snapshot"):
        case.engine.load(SOURCE, Snapshot(SnapshotKind.FULL, 5, 5, ()))
    assert case.driver.rows(SOURCE) == 0
    case.check_rows(TARGET)


@each_case
@crowds
@pytest.mark.parametrize("kind", SnapshotKind)
@pytest.mark.parametrize("side", [SOURCE, TARGET], ids=["source", "target"])
def test_saving_one_side_changes_neither(case: Case, side: int, kind: SnapshotKind, crowded: bool) -> None:
    case.note_copy(crowded=crowded)
    saved = case.engine.export(side, kind)
    expected = case.rows if kind is SnapshotKind.FULL else case.part
    assert len(saved.parts[0].data) == len(expected.parts[0].data)
    case.check_rows(TARGET)
    case.check_rows(SOURCE)
    if case.length == SHORT:
        case.engine.load(side, saved)
        case.check_rows(side)


@each_case
@crowds
def test_a_copy_of_a_copy(case: Case, crowded: bool) -> None:
    case.note_copy(crowded=crowded)
    case.engine.copy(TARGET, THIRD)
    saved = case.engine.export(THIRD, SnapshotKind.FULL)
    case.engine.clear(SOURCE)
    case.check_rows(TARGET)
    case.check_rows(THIRD)
    if case.length == SHORT:
        case.engine.load(SOURCE, saved)
        case.check_rows(SOURCE)


@each_full_case
@sides
def test_a_full_slot_settles_its_copy_too(case: Case, side: int, stays: int) -> None:
    """No slot has room for one more row."""
    case.note_copy(crowded=True)
    for slot in (THIRD, FOURTH):
        feed(case.driver, slot, ROWS[: N_CTX - len(OTHER)])
    case.engine.copy(SOURCE, TARGET)
    case.engine.load(side, case.other)
    case.check_other(side)
    case.check_rows(stays)


@each_full_case
@pytest.mark.parametrize("side", [SOURCE, TARGET], ids=["source", "target"])
def test_a_full_slot_can_be_saved_after_its_copy(case: Case, side: int) -> None:
    case.note_copy(crowded=True)
    saved = case.engine.export(side, SnapshotKind.FULL)
    case.check_rows(TARGET)
    case.check_rows(SOURCE)
    case.engine.load(side, saved)
    case.check_rows(side)
