"""What holds whatever is reused: a row to compute, work that is kept, saves that nobody waits for long, and
moves of states that fail."""

import asyncio
from dataclasses import replace
from itertools import chain

import numpy as np
import pytest
from scripted_desk import QUANTUM, Desk, finish_of, on_desk, text_of

from ds4.core.errors import EngineError
from ds4.core.events import Event
from ds4.core.job import Job
from ds4.core.plan import Boundary, BoundaryKind
from ds4.core.sampling import Sampling
from ds4.core.step import SnapshotKind, StepPlan, StepResult, Trim
from ds4.core.usage import CacheSource, MissReason
from ds4.engine.scripted.cost import Cost
from ds4.engine.scripted.state import SlotState, layout_for
from ds4.kv.policy import Knobs
from ds4.observe.records import Decoding, PrefillChunk, PromptDone, RequestRecord
from ds4.schedule.scheduler import CachePlan
from ds4.testing.inline_store import InlineStore

ENDLESS = Sampling(temperature=0, ignore_eos=True)
STORY = "once upon a time there was an oak and it grew " * 6
OTHER = "an elm is another tree altogether, as is told elsewhere " * 6
RAM = CachePlan(ram=1 << 20)
each_trim = pytest.mark.parametrize("trim", list(Trim))


@each_trim
def test_one_row_at_least_is_computed(trim: Trim) -> None:
    @on_desk(slots=2, trim=trim, cache=RAM)
    async def run(desk: Desk) -> None:
        for name in "abc":
            end = finish_of(await desk.run(desk.job(name, STORY, max_tokens=2)))
            computed = [r.rows for r in desk.records if isinstance(r, PrefillChunk) and r.subject.job == name]
            assert sum(computed) == end.report.computed >= 1
        assert end.report.computed <= 4

    run()


@pytest.mark.parametrize("steps", [1, 2])
@each_trim
def test_a_cancelled_prefill_keeps_its_work_and_deletes_nothing(trim: Trim, steps: int) -> None:
    @on_desk(slots=1, trim=trim, cache=RAM)
    async def run(desk: Desk) -> None:
        told = finish_of(await desk.run(desk.job("a", STORY, max_tokens=2)))
        desk.pump.hold()
        left = asyncio.ensure_future(desk.run(desk.job("b", OTHER, max_tokens=2)))
        await asyncio.sleep(0)
        for _ in range(steps):
            desk.pump.step()
        (slot,) = desk.pump.backend.status().slots
        assert slot.phase == "prefill"
        desk.pump.backend.cancel("b")
        left.cancel()
        desk.pump.release()
        again = finish_of(await desk.run(desk.job("c", OTHER + "and more", max_tokens=2)))
        assert again.report.reused >= slot.prefilled - 4 > 0
        back = finish_of(await desk.run(desk.job("d", STORY + "answer to grew", max_tokens=2)))
        assert back.report.source is CacheSource.RAM
        assert back.report.reused >= told.usage.prompt

    run()


@each_trim
def test_saving_delays_no_decode_step_by_more_than_a_quantum(trim: Trim) -> None:
    """Exports at the price per byte of real ones, beside requests that mark, park, save and restore."""
    cost = Cost(per_mb=0.015)
    knobs = Knobs(min_tokens=32, cold_max=400, interval=64, trim=4, align=16, saves=True)

    @on_desk(slots=4, trim=trim, cost=cost, cache=CachePlan(knobs, ram=1 << 20, store=InlineStore()))
    async def run(desk: Desk) -> None:
        running = await desk.decoding(desk.job("a", "oak", max_tokens=400, sampling=ENDLESS))
        gaps = watch(desk)
        for turn in range(2):
            texts = [f"{name} says {STORY if turn else OTHER}" for name in "bcdefg"]
            jobs = [desk.job(f"{text[0]}{turn}", text, max_tokens=2) for text in texts]
            ends = [finish_of(events) for events in await asyncio.gather(*map(desk.run, jobs))]
            assert any(end.report.saved for end in ends)
        assert not running.done()
        quantum = cost.base + QUANTUM * cost.per_prefill_row
        decoders = 4 * cost.per_decode_row
        assert max(gaps) <= quantum + decoders + quantum
        assert max(gaps) > quantum
        desk.pump.backend.cancel("a")
        running.cancel()

    run()


def watch(desk: Desk) -> list[float]:
    """Seconds from the end of one step to the end of the next."""
    gaps: list[float] = []
    step, last = desk.engine.step, desk.clock.now()

    def timed(plan: StepPlan) -> StepResult:
        nonlocal last
        result = step(plan)
        gaps.append(desk.clock.now() - last)
        last = desk.clock.now()
        return result

    desk.engine.step = timed  # type: ignore[method-assign]
    return gaps


@on_desk(slots=2)
async def test_an_engine_that_cannot_copy_is_not_asked_for_ever(desk: Desk) -> None:
    tried = []

    def refuse(source: int, target: int) -> None:
        tried.append((source, target))
        raise EngineError("no copies")

    desk.engine.copy = refuse  # type: ignore[method-assign]
    running = await desk.decoding(desk.job("a", STORY, max_tokens=200, sampling=ENDLESS))
    events = await desk.run(desk.job("b", STORY + "tall", max_tokens=30))
    assert text_of(events) == "answer to tall"
    assert (finish_of(events).report.reason, finish_of(events).report.reused) == (MissReason.DAMAGED, 0)
    assert 1 <= len(tried) <= 3
    desk.pump.backend.cancel("a")
    running.cancel()


@on_desk(slots=1, trim=Trim.BOUNDARY, cache=RAM)
async def test_many_marks_do_not_hide_the_state_behind_them(desk: Desk) -> None:
    """A long conversation, parked, is found again for an edit near its beginning."""
    encode = desk.engine.tokenizer.encode_plain
    head, turns = encode("it begins here. "), [encode(f"turn {n} says this. ") for n in range(24)]
    starts = [len(head) + sum(map(len, turns[:n])) for n in range(len(turns))]
    long = told(desk, "a", [*head, *chain(*turns)], starts)
    await desk.run(long)
    await desk.run(desk.job("b", OTHER, max_tokens=2))
    edited = told(desk, "c", [*long.plan.ids[: starts[2]].tolist(), *encode("otherwise told")], starts[:3])
    end = finish_of(await desk.run(edited))
    assert (end.report.source, end.report.rewound) == (CacheSource.RAM, True)
    assert end.report.reused == starts[2]


def told(desk: Desk, name: str, ids: list[int], starts: list[int]) -> Job:
    boundaries = tuple(Boundary(row, BoundaryKind.TURN_START, n) for n, row in enumerate(starts))
    job = desk.job(name, "x", max_tokens=2)
    return replace(job, plan=replace(job.plan, ids=np.array(ids, np.int32), boundaries=boundaries))


@on_desk(slots=1, cache=CachePlan(ram=40_000))
async def test_what_is_loaded_may_have_to_leave_for_what_is_parked(desk: Desk) -> None:
    for turn in range(3):
        for name in ("ann", "bob"):
            text = f"{name} tells: {STORY}" + "and so on " * (turn + 1)
            end = finish_of(await desk.run(desk.job(f"{name}{turn}", text, max_tokens=2)))
            assert end.report.source is CacheSource.RAM or not turn, end.report


@on_desk(slots=1)
async def test_a_prompt_in_other_tokens_is_reported_with_its_own_rows(desk: Desk) -> None:
    job = desk.job("a", STORY, max_tokens=2)
    letters = [token for char in STORY for token in desk.engine.tokenizer.encode_plain(char)]
    await desk.run(replace(job, plan=replace(job.plan, ids=np.array(letters, np.int32))))
    end = finish_of(await desk.run(desk.job("b", STORY + "and on", max_tokens=60, sampling=ENDLESS)))
    records = [r for r in desk.records if isinstance(r, RequestRecord) and r.subject.job == "b"]
    assert end.report.healed
    (chunk,) = [record for record in records if isinstance(record, PrefillChunk)]
    assert chunk.done == chunk.total == end.report.computed
    assert [record.subject.prompt for record in records if isinstance(record, PromptDone)] == [
        end.usage.prompt
    ]
    (decoding,) = [record for record in records if isinstance(record, Decoding)]
    assert decoding.elapsed < 1.0


def test_a_state_of_other_rows_is_put_aside() -> None:
    events = asyncio.run(after_a_swap(missing=1))
    assert text_of(events) == "answer to tall"
    assert finish_of(events).report.reason is MissReason.DAMAGED


def test_a_state_of_other_tokens_stops_the_test() -> None:
    """No engine could tell, so the books of each test are held against the scripted one, token by token."""
    with pytest.raises(SystemExit, match="other tokens"):
        asyncio.run(after_a_swap(missing=0))


async def after_a_swap(missing: int) -> list[Event]:
    """Goes on after a restart, with the state of another text, `missing` rows shorter, under each key."""
    store = InlineStore()
    cache = CachePlan(Knobs(min_tokens=32, saves=True), store=store)
    desk = Desk(slots=1, cache=cache)
    await desk.run(desk.job("a", STORY, max_tokens=2))
    desk.pump.scheduler.persist()
    strange = SlotState(layout_for(Trim.ANY, window=0))
    others = desk.engine.tokenizer.encode_plain(OTHER * 4)
    for key, save in store.saves.items():
        strange.clear()
        strange.append(others[: save.checkpoint.rows - missing])
        store.saves[key] = replace(save, snapshot=strange.export(SnapshotKind.FULL))
    again = Desk(slots=1, cache=replace(cache, store=store.reopened()))
    return await again.run(again.job("b", STORY + "tall", max_tokens=30))
