"""A snapshot belongs to no slot and no number of slots, and a PARTIAL one brings a slot back to its rows.

Compared are the next logits with those of the slot that was saved. Once a window's storage has gone round, a
loaded one holds the same rows in another order: then the sums round differently, by much less than BOUND
(another memory's logits are off by several times as much), and what is loaded twice must give the same bits.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from llama_driver import Driver
from numpy.typing import NDArray

from ds4.core.step import Snapshot, SnapshotKind
from ds4.engine.llama import BackendChoice, FlashAttention, KvType, LlamaEngine, LlamaOptions
from ds4.testing.tiny import TINY_ARCHS, tiny_model

pytestmark = pytest.mark.engine

COUNTS = (1, 2, 4)
CHUNK = 100
SHORT, LONG = 60, 300
BOUND = 0.5
FULL, PARTIAL = SnapshotKind.FULL, SnapshotKind.PARTIAL

_RANDOM = np.random.default_rng(5)
ROWS: list[int] = _RANDOM.integers(0, 1000, LONG).tolist()
OTHER: list[int] = _RANDOM.integers(0, 1000, 200).tolist()
SUFFIX: list[int] = _RANDOM.integers(0, 1000, 10).tolist()

Row = NDArray[np.float32]


@dataclass(frozen=True)
class Setting:
    arch: str
    length: int = SHORT
    flash: FlashAttention = FlashAttention.ON
    kv_type: KvType = KvType.F16

    @property
    def gone_round(self) -> bool:
        return self.length == LONG

    def open(self, n_slots: int) -> Driver:
        options = LlamaOptions(
            tiny_model(self.arch),
            n_ctx=512,
            n_slots=n_slots,
            n_batch=128,
            n_ubatch=128,
            backend=BackendChoice.CPU,
            flash_attn=self.flash,
            kv_type=self.kv_type,
            threads=1,
            threads_batch=1,
        )
        return Driver(LlamaEngine.open(options))


SETTINGS = [
    *(Setting(arch) for arch in TINY_ARCHS),
    *(Setting(arch, LONG) for arch in ("gemma3", "deepseek4")),
    *(Setting(arch, flash=FlashAttention.OFF) for arch in ("llama", "gemma3", "glm-dsa", "qwen35moe")),
    Setting("llama", kv_type=KvType.Q8_0),
]


@dataclass
class Contexts:
    """One model with 1, 2 and 4 slots. ROWS are in the last slot of each, and the bits that follow them."""

    setting: Setting
    drivers: dict[int, Driver]
    saved: dict[int, dict[SnapshotKind, Snapshot]]
    after: Row

    def check(self, row: Row) -> None:
        if self.setting.gone_round:
            assert np.abs(row - self.after).max() < BOUND
        else:
            assert np.array_equal(row, self.after)


def feed(driver: Driver, slot: int, rows: list[int]) -> None:
    for at in range(0, len(rows), CHUNK):
        driver.run(slot, rows[at : at + CHUNK])


@pytest.fixture(scope="module")
def contexts(request: pytest.FixtureRequest) -> Iterator[Contexts]:
    setting: Setting = request.param
    drivers = {count: setting.open(count) for count in COUNTS}
    saved = {}
    for count, driver in drivers.items():
        feed(driver, count - 1, ROWS[: setting.length])
        saved[count] = {kind: driver.engine.export(count - 1, kind) for kind in SnapshotKind}
    yield Contexts(setting, drivers, saved, drivers[1].run(0, SUFFIX))
    for driver in drivers.values():
        driver.engine.close()


each_setting = pytest.mark.parametrize(
    "contexts", SETTINGS, indirect=True, ids=lambda s: f"{s.arch}-{s.length}-{s.flash}-{s.kv_type}"
)
each_kind = pytest.mark.parametrize("kind", SnapshotKind)


@each_setting
@each_kind
def test_the_same_steps_give_the_same_bytes(contexts: Contexts, kind: SnapshotKind) -> None:
    one, two, four = (contexts.saved[count][kind] for count in COUNTS)
    assert one == two == four


@each_setting
def test_the_layout_does_not_depend_on_the_number_of_slots(contexts: Contexts) -> None:
    layouts = {driver.engine.info.identity.layout for driver in contexts.drivers.values()}
    assert len(layouts) == 1


@each_setting
@pytest.mark.parametrize("source", COUNTS)
def test_a_snapshot_loads_whatever_the_number_of_slots(contexts: Contexts, source: int) -> None:
    rows = []
    for count, driver in contexts.drivers.items():
        driver.clear()
        if count > 1:
            feed(driver, 1, OTHER[:30])
        driver.engine.load(0, contexts.saved[source][FULL])
        assert driver.rows(0) == contexts.setting.length
        assert driver.engine.export(0, FULL).rows == contexts.setting.length
        rows.append(driver.run(0, SUFFIX))
    contexts.check(rows[0])
    assert all(np.array_equal(row, rows[0]) for row in rows)


@each_setting
@pytest.mark.parametrize("more", [5, len(OTHER)])
def test_a_partial_snapshot_goes_back(contexts: Contexts, more: int) -> None:
    """In the slot that went on; in a copy of it; in a slot that was loaded, in another context."""
    part, whole = contexts.saved[2][PARTIAL], contexts.saved[4][FULL]
    four, two = contexts.drivers[4], contexts.drivers[2]
    four.clear()
    feed(four, 0, ROWS[: contexts.setting.length])
    feed(four, 0, OTHER[:more])
    four.engine.copy(0, 3)
    feed(four, 3, OTHER[:7])
    two.clear()
    two.engine.load(1, whole)
    feed(two, 1, OTHER[:more])
    rows = []
    for driver, slot in ((four, 0), (four, 3), (two, 1)):
        driver.engine.load(slot, part)
        assert driver.rows(slot) == contexts.setting.length
        rows.append(driver.run(slot, SUFFIX))
    contexts.check(rows[0])
    assert all(np.array_equal(row, rows[0]) for row in rows)


@each_setting
def test_going_back_twice_is_the_same_to_the_bit(contexts: Contexts) -> None:
    driver, part = contexts.drivers[2], contexts.saved[2][PARTIAL]
    driver.clear()
    feed(driver, 0, ROWS[: contexts.setting.length])
    feed(driver, 0, OTHER)
    rows = []
    for _ in range(2):
        driver.engine.load(0, part)
        rows.append(driver.run(0, SUFFIX))
    assert np.array_equal(rows[0], rows[1])


@each_setting
def test_a_snapshot_outlives_its_slot_and_cannot_be_changed(contexts: Contexts) -> None:
    driver = contexts.drivers[4]
    driver.clear()
    driver.engine.load(2, contexts.saved[4][FULL])
    kept = driver.engine.export(2, FULL)
    before = bytes(kept.parts[0].data)
    feed(driver, 2, OTHER)
    driver.clear()
    data = kept.parts[0].data
    assert bytes(data) == before
    assert isinstance(data, memoryview)
    assert data.readonly
