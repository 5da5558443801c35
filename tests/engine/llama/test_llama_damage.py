"""Damaged snapshots are refused, whatever is damaged; the slot is empty then, and all slots are as before."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_driver import Driver
from numpy.typing import NDArray

from ds4.core.errors import EngineError
from ds4.core.step import Snapshot, SnapshotKind, SnapshotPart
from ds4.engine.llama import BackendChoice, FlashAttention, LlamaEngine, LlamaOptions
from ds4.engine.llama.snapshot.check import Claim
from ds4.engine.llama.snapshot.discover import discover
from ds4.engine.llama.snapshot.seal import seal
from ds4.testing.tiny import TINY_ARCHS, tiny_model

pytestmark = pytest.mark.engine

ROWS: list[int] = np.random.default_rng(3).integers(0, 1000, 40).tolist()
SUFFIX = [5, 6, 7]
DAMAGED, SOUND = 0, 1
WORDS = (0, 1, 2, 39, 40, 41, 255, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF)

Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class Target:
    """ROWS in both slots, saved, and what follows them."""

    driver: Driver
    saved: dict[SnapshotKind, Snapshot]
    after: NDArray[np.float32]

    @property
    def engine(self) -> LlamaEngine:
        return self.driver.engine

    def bytes_of(self, kind: SnapshotKind) -> Bytes:
        return np.frombuffer(self.saved[kind].parts[0].data, np.uint8).copy()

    def load(self, kind: SnapshotKind, data: Bytes) -> bool:
        """Whether it was taken; a refusal must leave nothing in the slot."""
        self.engine.load(DAMAGED, self.saved[SnapshotKind.FULL])
        try:
            self.engine.load(DAMAGED, replace(self.saved[kind], parts=(SnapshotPart("target", data.data),)))
        except EngineError:
            assert self.driver.rows(DAMAGED) == 0
            return False
        assert self.driver.rows(DAMAGED) == len(ROWS)
        return True

    def check_all_is_well(self) -> None:
        for slot in (DAMAGED, SOUND):
            self.engine.load(slot, self.saved[SnapshotKind.FULL])
            assert np.array_equal(self.driver.run(slot, SUFFIX), self.after)
            self.engine.clear(slot)
            self.driver.run(slot, ROWS)
            assert np.array_equal(self.driver.run(slot, SUFFIX), self.after)


@pytest.fixture(scope="module")
def target(request: pytest.FixtureRequest) -> Iterator[Target]:
    """Without flash attention, where numbers that are none would spread furthest."""
    options = LlamaOptions(
        tiny_model(request.param),
        n_ctx=256,
        n_slots=2,
        n_batch=64,
        backend=BackendChoice.CPU,
        flash_attn=FlashAttention.OFF,
        threads=1,
        threads_batch=1,
    )
    driver = Driver(LlamaEngine.open(options))
    driver.run(SOUND, ROWS)
    saved = {kind: driver.engine.export(SOUND, kind) for kind in SnapshotKind}
    yield Target(driver, saved, driver.run(SOUND, SUFFIX))
    driver.engine.close()


each_target = pytest.mark.parametrize("target", TINY_ARCHS, indirect=True)
kinds = st.sampled_from(SnapshotKind)


@st.composite
def damage(draw: st.DrawFn, size: int) -> tuple[str, int, int]:
    """What happens, where, and a number."""
    what = draw(st.sampled_from(("flip", "byte", "cut", "drop", "double", "zero", "nan")))
    at = draw(st.one_of(st.integers(0, min(size, 600) - 1), st.integers(0, size - 1)))
    return what, at, draw(st.integers(1, 255))


def damaged(data: Bytes, what: str, at: int, number: int) -> Bytes:
    match what:
        case "flip":
            data[at] ^= 1 << number % 8
        case "byte":
            data[at] ^= number
        case "cut":
            data = data[:at]
        case "drop":
            data = np.delete(data, slice(at, at + number))
        case "double":
            data = np.insert(data, at, data[at : at + number])
        case "zero" | "nan":
            data[at : at + 4 * number] = 0 if what == "zero" else 0xFF
    return data


@each_target
@given(draw=st.data())
def test_any_damage_is_refused(target: Target, draw: st.DataObject) -> None:
    kind = draw.draw(kinds)
    whole = target.bytes_of(kind)
    changed = damaged(whole.copy(), *draw.draw(damage(whole.size)))
    assert target.load(kind, changed) == np.array_equal(changed, whole)


@each_target
@given(draw=st.data())
def test_wrong_words_under_a_right_sum_do_no_harm(target: Target, draw: st.DataObject) -> None:
    """In all that is no tensor's: counts, positions, types, sizes."""
    kind = draw.draw(kinds)
    data = target.bytes_of(kind)
    at = draw.draw(st.sampled_from(heads(target, data)))
    word = draw.draw(st.sampled_from(WORDS))
    data[at : at + 4] = np.frombuffer(np.uint32(word).tobytes(), np.uint8)
    seal(data)
    target.load(kind, data)


def heads(target: Target, data: Bytes) -> list[int]:
    """Where words stand that are no tensor's: the beginning, and the heads of sections and tensors."""
    raw = data.tobytes()
    places = set(range(0, 200, 4))
    shape = discover(Claim(0, 1, len(ROWS), target.engine.info.n_vocab), data)
    assert shape is not None
    for section in shape.sections:
        known = [section.head, *(section.head_of(entry, len(ROWS)) for entry in section.entries)]
        for head in known:
            found = raw.find(head)
            places.update(range(found, found + len(head), 4) if found >= 0 else ())
    return sorted(place for place in places if place + 4 <= data.size)


@each_target
def test_after_all_that_the_slots_are_sound(target: Target) -> None:
    target.check_all_is_well()


@each_target
def test_another_models_snapshot_is_refused(target: Target) -> None:
    arch = "qwen35moe" if target.engine.info.arch != "qwen35moe" else "llama"
    other = Driver(LlamaEngine.open(LlamaOptions(tiny_model(arch), n_ctx=256, threads=1, threads_batch=1)))
    other.run(0, ROWS)
    for kind in SnapshotKind:
        data = np.frombuffer(other.engine.export(0, kind).parts[0].data, np.uint8)
        assert not target.load(kind, data)
    other.engine.close()
    target.check_all_is_well()
