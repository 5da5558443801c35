"""The engine on the demo model: what a slot gives must not depend on how it got there."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from llama_driver import Driver, small

from ds4.core.errors import EngineError
from ds4.core.ports import Engine, Tokenizer
from ds4.core.sampling import Sampling
from ds4.core.step import Snapshot, SnapshotKind, SnapshotPart, StepKind, StepPlan, Trim, Work
from ds4.engine.llama import KvType, LlamaEngine

pytest_plugins = ("llama_fixtures",)
pytestmark = pytest.mark.engine

A = [100, 2000, 30000, 4000, 555, 66, 7]
B = [9, 80, 700, 6000, 5000]


def test_caps_info_and_memory(demo: Driver) -> None:
    engine = demo.engine
    assert engine.caps.trim is Trim.ANY
    assert engine.caps.memory_class == "plain"
    assert engine.caps.native_batch
    assert (engine.info.arch, engine.info.n_ctx, engine.info.n_slots) == ("llama", 512, 3)
    assert engine.info.chat_template is not None
    # 30 layers, K and V of 3 heads x 64 halves, 512 rows
    assert engine.memory().kv_per_slot == 30 * 2 * 3 * 64 * 2 * 512
    assert engine.memory().model > 50_000_000
    assert engine.memory().workspace > 0


def test_the_port_is_met(demo: Driver) -> None:
    engine: Engine = demo.engine  # checked by mypy
    tokenizer: Tokenizer = engine.tokenizer
    assert tokenizer.n_vocab == engine.info.n_vocab


def test_q8_0_takes_little_more_than_half(demo: Driver, demo_path: Path) -> None:
    engine = LlamaEngine.open(replace(small(demo_path), kv_type=KvType.Q8_0))
    assert engine.memory().kv_per_slot == pytest.approx(demo.engine.memory().kv_per_slot * 34 / 64, rel=0.01)
    Driver(engine).run(0, A)
    engine.close()


def test_a_slot_is_bit_equal_alone_and_beside_others(demo: Driver) -> None:
    alone = [demo.fresh(A, 0), demo.fresh(B, 1)]
    demo.clear()
    together = demo.run_all([(0, A), (1, B)])
    demo.clear()
    in_order = demo.run_all([(0, A), (1, B)], ordered=True)
    for one, two, three in zip(alone, together, in_order, strict=True):
        assert np.array_equal(one, two)
        assert np.array_equal(one, three)


def test_rows_cut_into_steps_give_the_same(demo: Driver) -> None:
    whole = demo.fresh(A)
    demo.engine.clear(0)
    demo.run(0, A[:3])
    assert np.array_equal(demo.run(0, A[3:]), whole)


def test_trim_and_go_on_equals_fresh(demo: Driver) -> None:
    expected = demo.fresh(A[:4] + B)
    demo.fresh(A)
    assert demo.engine.trim(0, 4)
    assert demo.rows(0) == 4
    assert np.array_equal(demo.run(0, B), expected)


def test_trim_to_what_is_held_to_nothing_and_beyond(demo: Driver) -> None:
    demo.fresh(A)
    assert demo.engine.trim(0, len(A))
    with pytest.raises(EngineError, match="cannot be trimmed"):
        demo.engine.trim(0, len(A) + 1)
    assert demo.engine.trim(0, 0)
    assert (demo.engine.frontier(0).pos_min, demo.engine.frontier(0).pos_max) == (-1, -1)


def test_copy_replaces_the_target_and_keeps_the_source(demo: Driver) -> None:
    expected = demo.fresh(A + B)
    demo.clear()
    demo.run(0, A)
    demo.run(1, B)
    demo.engine.copy(0, 1)
    assert np.array_equal(demo.run(1, B), expected)
    assert np.array_equal(demo.run(0, B), expected)
    demo.engine.copy(2, 1)
    assert demo.rows(1) == 0


def test_a_shared_prefix_is_a_copy_and_a_trim(demo: Driver) -> None:
    expected = demo.fresh(A[:5] + B)
    demo.clear()
    demo.run(0, A)
    demo.engine.copy(0, 2)
    assert demo.engine.trim(2, 5)
    assert np.array_equal(demo.run(2, B), expected)


@pytest.mark.parametrize("kind", SnapshotKind)
def test_an_exported_slot_goes_on_in_another(demo: Driver, kind: SnapshotKind) -> None:
    expected = demo.fresh(A + B)
    demo.clear()
    demo.run(0, A)
    snapshot = demo.engine.export(0, kind)
    assert (snapshot.rows, snapshot.positions) == (len(A), len(A))
    demo.run(0, B)
    target = 2 if kind is SnapshotKind.FULL else 0
    demo.engine.load(target, snapshot)
    assert np.array_equal(demo.run(target, B), expected)


def test_a_copy_can_be_exported_before_the_next_step(demo: Driver) -> None:
    expected = demo.fresh(A + B)
    demo.clear()
    demo.run_all([(0, A), (1, B)])
    demo.engine.copy(0, 1)
    snapshot = demo.engine.export(1, SnapshotKind.FULL)
    demo.engine.load(2, snapshot)
    assert np.array_equal(demo.run(2, B), expected)


def test_loading_over_either_side_of_a_fresh_copy(demo: Driver) -> None:
    of_a, of_b = demo.fresh(A + B), demo.fresh(B + B)
    demo.clear()
    demo.run(0, B)
    snapshot = demo.engine.export(0, SnapshotKind.FULL)
    for loaded, other in ((0, 1), (1, 0)):
        demo.clear()
        demo.run(0, A)
        demo.run(2, [1])
        demo.engine.copy(0, 1)
        demo.engine.load(loaded, snapshot)
        assert np.array_equal(demo.run(loaded, B), of_b)
        assert np.array_equal(demo.run(other, B), of_a)


def test_a_copy_can_be_exported_and_loaded_over_with_every_slot_in_use(demo: Driver) -> None:
    of_a, of_b = demo.fresh(A + B), demo.fresh(B + B)
    demo.clear()
    demo.run_all([(0, A), (2, B)])
    demo.engine.copy(0, 1)
    snapshot = demo.engine.export(1, SnapshotKind.FULL)
    demo.engine.copy(2, 1)
    demo.engine.load(2, snapshot)
    assert np.array_equal(demo.run(2, B), of_a)
    assert np.array_equal(demo.run(1, B), of_b)
    assert np.array_equal(demo.run(0, B), of_a)


def _snapshot(data: bytes, rows: int, kind: SnapshotKind = SnapshotKind.FULL) -> Snapshot:
    return Snapshot(kind, rows, rows, (SnapshotPart("target", data),))


def test_a_refused_snapshot_leaves_the_slot_empty(demo: Driver) -> None:
    demo.run(0, A)
    good = bytes(demo.engine.export(0, SnapshotKind.FULL).parts[0].data)
    partial = SnapshotKind.PARTIAL
    bad = [
        _snapshot(b"", len(A)),
        _snapshot(b"nonsense", len(A)),
        _snapshot(good[:-1], len(A)),
        _snapshot(good + b"x", len(A)),
        _snapshot(b"\0" + good[1:], len(A)),
        _snapshot(good, len(A) - 1),
        _snapshot(good, 513),
        _snapshot(good, 0),
        _snapshot(good, len(A) + 1, partial),
        Snapshot(SnapshotKind.FULL, 7, 7, (SnapshotPart("draft", good),)),
        Snapshot(SnapshotKind.FULL, 7, 7, ()),
    ]
    for snapshot in bad:
        demo.fresh(A)
        with pytest.raises(EngineError):
            demo.engine.load(0, snapshot)
        assert demo.rows(0) == 0
    assert np.array_equal(demo.run(0, A), demo.fresh(A, 1))


def _work(slot: int = 0, pos: int = 0, rows: object = (1,), draft: tuple[int, ...] = ()) -> Work:
    return Work(slot, pos, np.asarray(rows, dtype=np.int32), draft=draft)


def test_a_bad_step_is_refused_before_anything_runs(demo: Driver) -> None:
    demo.run(0, A)
    bad = [
        StepPlan(()),
        StepPlan((_work(slot=3),)),
        StepPlan((_work(slot=-1),)),
        StepPlan((_work(slot=1, pos=1),)),
        StepPlan((_work(slot=0, pos=0),)),
        StepPlan((_work(slot=1, rows=[49152]),)),
        StepPlan((_work(slot=1, rows=[-1]),)),
        StepPlan((_work(slot=1, rows=[]),)),
        StepPlan((_work(slot=1, rows=[[1.0]]),)),
        StepPlan((_work(slot=1, draft=(1,)),)),
        StepPlan((_work(slot=1), _work(slot=1))),
        StepPlan((_work(slot=1, rows=[1] * 65),)),
        StepPlan((_work(slot=1, rows=[1] * 40), _work(slot=2, rows=[1] * 40))),
        StepPlan((_work(slot=1),), kind=StepKind.EMBEDDINGS),
        StepPlan((Work(1, 0, np.ones((1, 4), dtype=np.float32)),)),
    ]
    for plan in bad:
        with pytest.raises(EngineError):
            demo.engine.step(plan)
    assert [demo.rows(slot) for slot in range(3)] == [len(A), 0, 0]


def test_the_context_is_a_hard_end(tiny: Callable[[str], Driver]) -> None:
    driver = tiny("llama")
    for _ in range(8):
        driver.run(0, [5] * 64)
    assert driver.rows(0) == 512
    with pytest.raises(EngineError, match="512 rows"):
        driver.run(0, [5])


def test_unknown_slots_are_refused_everywhere(demo: Driver) -> None:
    engine = demo.engine
    for slot in (-1, 3):
        for call in (
            lambda slot=slot: engine.clear(slot),
            lambda slot=slot: engine.trim(slot, 0),
            lambda slot=slot: engine.frontier(slot),
            lambda slot=slot: engine.export(slot, SnapshotKind.FULL),
            lambda slot=slot: engine.load(slot, _snapshot(b"x", 1)),
            lambda slot=slot: engine.copy(slot, 0),
            lambda slot=slot: engine.copy(0, slot),
        ):
            with pytest.raises(EngineError, match="does not exist"):
                call()


def test_an_empty_slot_has_nothing_to_export(demo: Driver) -> None:
    with pytest.raises(EngineError, match="empty"):
        demo.engine.export(0, SnapshotKind.FULL)


def test_a_failing_sampler_fails_alone_and_its_rows_stay(demo: Driver) -> None:
    class Failing:
        def sample(self, *_: object, **__: object) -> None:
            raise EngineError("no choice")

    failing = Work(0, 0, np.asarray(A, np.int32), sampler=Failing())  # type: ignore[arg-type]
    sound = Work(1, 0, np.asarray(B, np.int32), sampler=demo.engine.sampler(Sampling(temperature=0), B))
    bad, good = demo.engine.step(StepPlan((failing, sound))).outcomes
    assert str(bad.error) == "no choice"
    assert good.error is None
    assert len(good.tokens) == 1
    assert demo.engine.frontier(0).pos_max == len(A) - 1


def test_only_works_with_a_sampler_give_tokens(demo: Driver) -> None:
    sampler = demo.engine.sampler(Sampling(temperature=0), A)
    plan = StepPlan((_work(slot=0, rows=A), Work(1, 0, np.asarray(B, np.int32), sampler=sampler)))
    result = demo.engine.step(plan)
    assert [len(outcome.tokens) for outcome in result.outcomes] == [0, 1]
    assert [outcome.rows_kept for outcome in result.outcomes] == [len(A), len(B)]
    assert result.outcomes[1].tokens[0].id == int(demo.fresh(B).argmax())
    assert result.seconds > 0


def test_a_closed_engine_raises_and_its_tokenizer_goes_on(demo_path: Path) -> None:
    engine = LlamaEngine.open(replace(small(demo_path), n_ctx=100, n_slots=1))
    assert engine.info.n_ctx == 100
    assert "one slot" in engine.caps.batching_note
    tokenizer = engine.tokenizer
    engine.close()
    engine.close()
    with pytest.raises(EngineError, match="closed"):
        engine.frontier(0)
    del engine
    assert tokenizer.encode_plain("still here")
