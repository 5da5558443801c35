"""The scheduler on the scripted engine, on the event loop itself: no thread, no socket, no sleep."""

import asyncio
import math

import pytest
from scripted_desk import QUANTUM, Desk, failure_of, finish_of, on_desk, text_of

from ds4.core.errors import BadRequest, EngineError, Unavailable
from ds4.core.events import Event, Failed, Finish, FinishReason, Progress
from ds4.core.sampling import Sampling
from ds4.core.status import Readiness
from ds4.core.step import Trim
from ds4.core.usage import CacheSource, MissReason
from ds4.observe.records import Finished, PrefillChunk, PromptStarted
from ds4.schedule.scheduler import CachePlan


@on_desk()
async def test_an_answer_comes_whole_with_honest_usage(desk: Desk) -> None:
    job = desk.job("a", "say hello to river")
    events = await desk.run(job)
    assert text_of(events) == "answer to river"
    end = finish_of(events)
    assert end.reason is FinishReason.STOP
    assert (end.usage.prompt, end.usage.cached) == (job.plan.rows, 0)
    assert end.usage.completion > 0
    progress = [event.done for event in events if isinstance(event, Progress)]
    assert progress == sorted(progress)
    assert progress[-1] == job.plan.rows


@on_desk(slots=4)
async def test_several_at_once_share_steps_and_keep_their_answers(desk: Desk) -> None:
    names = ["oak", "elm", "ash", "fir"]
    answers = await asyncio.gather(*(desk.run(desk.job(name, f"tree {name}")) for name in names))
    assert [text_of(events) for events in answers] == [f"answer to {name}" for name in names]
    assert max(len(plan.works) for plan in desk.engine.plans) == 4


@on_desk(slots=1)
async def test_requests_queue_in_order(desk: Desk) -> None:
    await asyncio.gather(*(desk.run(desk.job(name, f"tree {name}")) for name in "abc"))
    ended = [record.subject.job for record in desk.records if isinstance(record, Finished)]
    assert ended == ["a", "b", "c"]


@on_desk()
async def test_max_tokens_cuts_with_length(desk: Desk) -> None:
    end = finish_of(await desk.run(desk.job("a", "tree oak", max_tokens=2)))
    assert (end.reason, end.usage.completion) == (FinishReason.LENGTH, 2)


@on_desk()
async def test_no_tokens_wanted_prefills_and_ends_with_length(desk: Desk) -> None:
    job = desk.job("a", "tree oak", max_tokens=0)
    events = await desk.run(job)
    assert text_of(events) == ""
    assert finish_of(events).reason is FinishReason.LENGTH
    again = finish_of(await desk.run(desk.job("b", "tree oak")))
    assert again.usage.cached == job.plan.rows - 1


@on_desk()
async def test_the_context_ends_an_answer_with_length(desk: Desk) -> None:
    sampling = Sampling(temperature=0, ignore_eos=True)
    job = desk.job("a", "word " * 100, max_tokens=10_000, sampling=sampling)
    end = finish_of(await desk.run(job))
    assert end.reason is FinishReason.LENGTH
    assert end.usage.total == 512


@on_desk()
async def test_a_stop_string_ends_the_answer_and_is_named(desk: Desk) -> None:
    events = await desk.run(desk.job("a", "tree oak", stops=(" to",)))
    assert text_of(events) == "answer"
    assert (finish_of(events).reason, finish_of(events).sequence) == (FinishReason.STOP, " to")


@on_desk()
async def test_the_next_turn_computes_only_what_is_new(desk: Desk) -> None:
    first = desk.job("a", "once there was an oak")
    await desk.run(first)
    second = desk.job("b", "once there was an oak and then an elm")
    end = finish_of(await desk.run(second))
    assert end.report.source is CacheSource.LIVE
    assert end.report.reused >= first.plan.rows - 1
    computed = sum(r.rows for r in desk.records if isinstance(r, PrefillChunk) and r.subject.job == "b")
    assert computed == end.report.computed == second.plan.rows - end.report.reused


@on_desk()
async def test_reuse_does_not_change_the_answer(desk: Desk) -> None:
    text = "once there was an oak and then an elm"
    fresh = text_of(await desk.run(desk.job("a", text)))
    await desk.run(desk.job("b", "once there was an ash"))
    assert text_of(await desk.run(desk.job("c", text))) == fresh


@on_desk(slots=1)
async def test_reuse_never_crosses_namespaces(desk: Desk) -> None:
    await desk.run(desk.job("a", "a secret oak", namespace="one"))
    end = finish_of(await desk.run(desk.job("b", "a secret oak", namespace="two")))
    assert end.usage.cached == 0
    assert end.report.common == 0


@on_desk(slots=1, trim=Trim.BOUNDARY, cache=CachePlan(marks=0))
async def test_a_memory_that_cannot_rewind_says_so(desk: Desk) -> None:
    await desk.run(desk.job("a", "once there was an oak"))
    end = finish_of(await desk.run(desk.job("b", "once there was an elm")))
    assert (end.usage.cached, end.report.reason) == (0, MissReason.CANNOT_REWIND)
    assert end.report.common > 0


@on_desk()
async def test_a_long_prefill_leaves_decoders_their_turn(desk: Desk) -> None:
    sampling = Sampling(temperature=0, ignore_eos=True)
    desk.pump.hold()
    decoding = asyncio.ensure_future(desk.run(desk.job("a", "oak", max_tokens=60, sampling=sampling)))
    await asyncio.sleep(0)
    while not desk.pump.backend.status().slots[0].generated:
        desk.pump.step()
    desk.pump.release()
    seen = len(desk.engine.plans)
    await asyncio.gather(decoding, desk.run(desk.job("b", "word " * 150, max_tokens=1)))
    mixed = [desk.shares(plan) for plan in desk.engine.plans[seen:]]
    both = [shares for shares in mixed if len(shares) == 2]
    assert len(both) > 5
    for shares in both:
        assert shares[0][1] == 1, "the decoder gets its row in every step"
        assert shares[1][1] <= QUANTUM


@on_desk(native_batch=False)
async def test_without_native_batching_steps_are_ordered(desk: Desk) -> None:
    await asyncio.gather(desk.run(desk.job("a", "oak")), desk.run(desk.job("b", "elm")))
    assert all(plan.ordered for plan in desk.engine.plans)


@pytest.mark.parametrize("phase", ["queued", "prefill", "decode"])
def test_cancel_stops_within_one_step_and_keeps_the_work(phase: str) -> None:
    async def body() -> None:
        desk = Desk(slots=1)
        desk.pump.hold()
        backend = desk.pump.backend
        sampling = Sampling(temperature=0, ignore_eos=True)
        backend.submit(desk.job("a", "word " * 100, sampling=sampling))
        if phase == "queued":
            backend.submit(desk.job("b", "elm"))
        while phase == "decode" and not (desk.pump.step() and backend.status().slots[0].generated):
            pass
        if phase != "decode":
            desk.pump.step()
        target = "b" if phase == "queued" else "a"
        backend.cancel(target)
        steps = len(desk.engine.plans)
        desk.pump.step()
        ended = [r for r in desk.records if isinstance(r, Finished)]
        assert [(r.subject.job, r.finish) for r in ended] == [(target, "cancelled")]
        if phase != "queued":
            assert len(desk.engine.plans) == steps, "no step ran for a request that is gone"
            slot = backend.status().slots[0]
            assert (slot.state, slot.job) == ("idle", None)
            assert slot.rows > 0, "the work is kept"

    asyncio.run(body())


@on_desk()
async def test_an_engine_failure_is_answered_and_shown_until_a_step_succeeds(desk: Desk) -> None:
    desk.engine.broken = EngineError("the device is gone")
    assert "the device is gone" in str(failure_of(await desk.run(desk.job("a", "oak"))))
    status = desk.pump.backend.status()
    assert status.readiness is Readiness.FAILED
    assert "the device is gone" in status.detail
    assert text_of(await desk.run(desk.job("b", "elm"))) == "answer to elm"
    assert desk.pump.backend.status().readiness is Readiness.READY


@on_desk(slots=2)
async def test_a_failed_step_ends_only_its_own_requests_and_wipes_their_slots(desk: Desk) -> None:
    await desk.run(desk.job("a", "once there was an oak"))
    desk.engine.broken = RuntimeError("a defect")
    assert isinstance(
        failure_of(await desk.run(desk.job("b", "once there was an oak, and more"))), EngineError
    )
    end = finish_of(await desk.run(desk.job("c", "once there was an oak, and more")))
    assert end.usage.cached == 0, "what a failed step left in a slot is not trusted"


@on_desk()
async def test_a_bad_request_found_late_is_the_callers_fault(desk: Desk) -> None:
    bad = Sampling(temperature=0, logit_bias=((10**9, 1.0),))
    assert isinstance(failure_of(await desk.run(desk.job("a", "oak", sampling=bad))), BadRequest)
    assert desk.pump.backend.status().readiness is Readiness.READY


@on_desk(slots=1)
async def test_drain_ends_the_answer_honestly_and_refuses_the_rest(desk: Desk) -> None:
    desk.pump.hold()
    backend = desk.pump.backend
    sampling = Sampling(temperature=0, ignore_eos=True)
    running = backend.submit(desk.job("a", "oak", sampling=sampling))
    waiting = backend.submit(desk.job("b", "elm"))
    while desk.pump.step() and backend.status().slots[0].generated < 3:
        pass
    backend.drain()
    desk.pump.release()
    events: list[Event] = []
    while not (events and isinstance(events[-1], Finish | Failed)):
        events.extend(await running.batch())
    assert finish_of(events).reason is FinishReason.SHUTDOWN
    assert text_of(events)
    assert isinstance(failure_of(await waiting.batch()), Unavailable)
    assert [slot.state for slot in backend.status().slots] == ["idle"]


@on_desk()
async def test_the_log_hears_of_every_request_once(desk: Desk) -> None:
    await asyncio.gather(*(desk.run(desk.job(name, f"tree {name}")) for name in "abcde"))
    started = [r.subject.job for r in desk.records if isinstance(r, PromptStarted)]
    ended = [r.subject.job for r in desk.records if isinstance(r, Finished)]
    assert sorted(started) == sorted(ended) == list("abcde")


@on_desk(slots=1)
async def test_a_slot_the_engine_disowns_is_cleared_and_used(desk: Desk) -> None:
    await desk.run(desk.job("a", "once there was an oak"))
    desk.engine.disowned = True
    end = finish_of(await desk.run(desk.job("b", "once there was an oak")))
    assert (end.reason, end.usage.cached) == (FinishReason.STOP, 0)


@on_desk(slots=2)
async def test_a_request_that_fails_alone_leaves_its_neighbour_and_readiness_alone(desk: Desk) -> None:
    failing = Sampling(temperature=0, logit_bias=tuple((token, -math.inf) for token in range(desk.n_vocab)))
    good, bad = await asyncio.gather(
        desk.run(desk.job("good", "tree oak")), desk.run(desk.job("bad", "tree elm", sampling=failing))
    )
    assert text_of(good) == "answer to oak"
    assert isinstance(failure_of(bad), EngineError)
    assert desk.pump.backend.status().readiness is Readiness.READY
