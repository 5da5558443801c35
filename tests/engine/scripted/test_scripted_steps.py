"""Steps of the scripted engine: what is refused, what it costs, what it says about itself."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scripted_run import OPTIONS, TOKENIZER, Run, answer, opened, rows

from ds4.core.errors import EngineError, StartError
from ds4.core.step import SnapshotKind, StepKind, StepPlan, Trim, Work
from ds4.engine.scripted.cost import Cost
from ds4.engine.scripted.engine import ScriptedEngine
from ds4.formats.registry import family_named
from ds4.testing.clock import FakeClock


@pytest.mark.parametrize(
    ("works", "told"),
    [
        ([Work(3, 0, rows(1))], "slot 3 is not one of 0..2"),
        ([Work(-1, 0, rows(1))], "slot -1 is not one of"),
        ([Work(1, 0, rows(1))], "rows start at 0, but the slot holds 2 rows"),
        ([Work(0, 1, rows(1))], "rows start at 1, but the slot holds 0 rows"),
        ([Work(0, 0, rows())], "non-empty"),
        ([Work(0, 0, np.zeros((1, 4), np.float32))], "vector of token ids"),
        ([Work(0, 0, rows(-1))], "outside the vocabulary"),
        ([Work(0, 0, rows(TOKENIZER.n_vocab))], "outside the vocabulary"),
        ([Work(0, 0, rows(*[1] * 65))], "66 rows do not fit into a batch of 64"),
        ([Work(0, 0, rows(*[1] * 33)), Work(2, 0, rows(*[1] * 32))], "65 rows do not fit into a batch"),
        ([Work(0, 0, rows(*[1] * 513))], "513 rows do not fit into 512"),
        ([Work(0, 0, rows(1)), Work(0, 1, rows(1))], "only once"),
    ],
)
def test_a_wrong_step_is_refused_and_changes_nothing(works: list[Work], told: str) -> None:
    engine = opened()
    engine.step(StepPlan((Work(1, 0, rows(5, 6)),)))
    before = [engine.export(slot, SnapshotKind.FULL) for slot in range(3)]
    with pytest.raises(EngineError, match=told):
        engine.step(StepPlan((Work(2, 0, rows(7)), *works) if len(works) == 1 else tuple(works)))
    assert [engine.export(slot, SnapshotKind.FULL) for slot in range(3)] == before


def test_embedding_steps_are_refused() -> None:
    work = Work(0, 0, np.zeros((1, 4), np.float32))
    with pytest.raises(EngineError, match="token rows only"):
        opened().step(StepPlan((work,), kind=StepKind.EMBEDDINGS))


def test_ordered_works_have_a_batch_each() -> None:
    works = tuple(Work(slot, 0, rows(*[1] * 64)) for slot in range(3))
    cost = Cost(1.0, 0, 0, 0)
    assert opened(cost=cost).step(StepPlan(works, ordered=True)).seconds == 3.0
    unbatched = ScriptedEngine.open(replace(OPTIONS, cost=cost, native_batch=False))
    assert unbatched.step(StepPlan(works)).seconds == 3.0


@pytest.mark.parametrize("call", ["trim", "clear", "export", "load", "frontier", "copy"])
def test_an_unknown_slot_is_refused(call: str) -> None:
    engine = opened()
    snapshot = engine.export(0, SnapshotKind.FULL)
    calls: dict[str, Callable[[], object]] = {
        "trim": lambda: engine.trim(3, 0),
        "clear": lambda: engine.clear(-1),
        "export": lambda: engine.export(3, SnapshotKind.FULL),
        "load": lambda: engine.load(3, snapshot),
        "frontier": lambda: engine.frontier(3),
        "copy": lambda: engine.copy(0, 3),
    }
    with pytest.raises(EngineError, match="is not one of"):
        calls[call]()


def test_a_failing_reply_is_an_engine_error_and_the_engine_goes_on() -> None:
    def reply(prompt: str) -> str:
        if "bad" in prompt:
            raise ValueError("no answer for this")
        return "fine"

    engine = opened(reply)
    with pytest.raises(EngineError, match="ValueError: no answer for this"):
        answer(engine, "bad")
    engine.clear(0)
    assert answer(engine, "good").text == "fine"


def test_a_failing_reply_fails_alone() -> None:
    def reply(prompt: str) -> str:
        if "bad" in prompt:
            raise ValueError("no answer for this")
        return "fine"

    engine = opened(reply)
    runs = [Run(engine, slot, TOKENIZER.encode_plain(text)) for slot, text in enumerate(("bad", "good"))]
    works = tuple(run.work(run.ids, 0, True) for run in runs)
    bad, good = engine.step(StepPlan(works)).outcomes
    assert isinstance(bad.error, EngineError)
    assert good.error is None
    assert good.tokens


def test_virtual_time_drives_a_clock() -> None:
    clock = FakeClock()
    cost = Cost(base=1.0, per_decode_row=0.25, per_prefill_row=0.5, per_mb=1024.0)
    engine = ScriptedEngine.open(replace(OPTIONS, cost=cost, pace=clock.advance))
    run = Run(engine, 0, [1, 2, 3])
    run.prefill()
    assert clock.now() == 1.0 + 3 * 0.5
    result = engine.step(StepPlan((run.next(), Work(1, 0, rows(1, 2)))))
    assert result.seconds == 1.0 + 0.25 + 2 * 0.5
    assert clock.now() == 4.75
    snapshot = engine.export(0, SnapshotKind.FULL)
    size = len(snapshot.parts[0].data) / 1024
    assert clock.now() == 4.75 + size
    engine.load(2, snapshot)
    assert clock.now() == 4.75 + 2 * size


def test_realtime_sleeps_unless_paced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr("time.sleep", slept.append)
    path = tmp_path / "answers.py"
    path.write_text("REALTIME = True\nCOST = {'base': 8.0}\ndef reply(prompt): return prompt\n")
    clock, plan = FakeClock(), StepPlan((Work(0, 0, rows(1)),))
    seconds = ScriptedEngine.open(replace(OPTIONS, script=path)).step(plan).seconds
    ScriptedEngine.open(replace(OPTIONS, script=path, pace=clock.advance)).step(plan)
    assert slept == [seconds]
    assert clock.now() == seconds


def test_a_script_file_sets_its_cost(tmp_path: Path) -> None:
    path = tmp_path / "answers.py"
    path.write_text("COST = {'base': 8.0, 'per_prefill_row': 0.0}\ndef reply(prompt): return prompt * 2\n")
    engine = ScriptedEngine.open(replace(OPTIONS, script=path))
    assert answer(engine, "ab").text == "abab"
    engine.clear(0)
    assert engine.step(StepPlan((Work(0, 0, rows(1, 2)),))).seconds == 8.0
    assert engine.info.path == str(path)
    with pytest.raises(StartError):
        ScriptedEngine.open(replace(OPTIONS, script=tmp_path / "none.py"))


def test_what_it_says_about_itself() -> None:
    engine = ScriptedEngine.open(
        replace(OPTIONS, family=family_named("glm-5.3"), tokenizer=None, trim=Trim.WINDOW, chat_template="T")
    )
    info, caps = engine.info, engine.caps
    assert (info.name, info.backend, info.family) == ("scripted", "scripted", "glm-5.3")
    assert (info.n_ctx, info.n_slots, info.n_batch, info.chat_template) == (512, 3, 64, "T")
    assert info.n_vocab == engine.tokenizer.n_vocab
    assert "<|observation|>" in engine.tokenizer.controls
    assert (caps.trim, caps.window, caps.native_batch, caps.min_quantum) == (Trim.WINDOW, 8, True, 1024)
    assert engine.memory().kv_per_slot > 0
