"""The event loop's side of the bridge, without an engine: commands in, deliveries out."""

import asyncio
from collections.abc import Callable

import pytest

from ds4.core.errors import ContextOverflow, EngineError, Overloaded, Unavailable
from ds4.core.events import Event, Failed, Finish, FinishReason, Progress, Text
from ds4.core.job import Job
from ds4.core.status import Readiness, SlotStatus, Status
from ds4.core.usage import CacheReport, Usage
from ds4.schedule.bridge import MAX_BATCHES, STALL_SECONDS, Cancel, Command, Drain, LocalBackend, Submit
from ds4.testing.clock import FakeClock
from ds4.testing.jobs import make_job

FINISH = Finish(FinishReason.STOP, Usage(10, 0, 1), CacheReport())


def job(name: str, rows: int = 10, max_tokens: int = 5) -> Job:
    return make_job(name, list(range(rows)), max_tokens=max_tokens)


class Desk:
    """A backend with one slot of 100 rows and room for one waiting job; `posted` is the engine's inbox."""

    def __init__(self) -> None:
        self.posted: list[Command] = []
        self.clock = FakeClock()
        status = Status(Readiness.READY, (SlotStatus(0, "empty", 0, ""),), 0, 100)
        self.backend = LocalBackend(
            asyncio.get_running_loop(), self.posted.append, self.clock, status, max_queue=1
        )

    async def deliver(self, name: str, *events: Event) -> None:
        self.backend.deliver([(name, events)])
        await asyncio.sleep(0)


def on_loop(test: Callable[[Desk], object]) -> Callable[[], None]:
    async def with_desk() -> None:
        await test(Desk())  # type: ignore[misc]

    def run() -> None:
        asyncio.run(with_desk())

    run.__name__ = test.__name__
    return run


@on_loop
async def test_batches_are_joined_and_kept_in_order(desk: Desk) -> None:
    stream = desk.backend.submit(job("a"))
    await desk.deliver("a", Progress(1, 10))
    await desk.deliver("a", Text("x"), Text("y"))
    assert await stream.batch() == (Progress(1, 10), Text("x"), Text("y"))


@on_loop
async def test_a_waiting_reader_is_woken(desk: Desk) -> None:
    stream = desk.backend.submit(job("a"))
    reading = asyncio.ensure_future(stream.batch())
    await asyncio.sleep(0)
    await desk.deliver("a", FINISH)
    assert await reading == (FINISH,)


@on_loop
async def test_the_limit_is_clamped_and_overflow_refused_before_the_queue(desk: Desk) -> None:
    desk.backend.submit(job("a", rows=90, max_tokens=1000))
    assert [c.limit for c in desk.posted if isinstance(c, Submit)] == [10]
    with pytest.raises(ContextOverflow):
        desk.backend.submit(job("b", rows=100))


@on_loop
async def test_a_full_queue_refuses_and_opens_again(desk: Desk) -> None:
    desk.backend.submit(job("running"))
    desk.backend.submit(job("waiting"))
    with pytest.raises(Overloaded):
        desk.backend.submit(job("late"))
    await desk.deliver("running", FINISH)
    desk.backend.submit(job("late"))


@on_loop
async def test_cancel_reaches_the_engine_once_and_frees_the_place(desk: Desk) -> None:
    desk.backend.submit(job("a"))
    desk.backend.submit(job("b"))
    desk.backend.cancel("a")
    desk.backend.cancel("a")
    desk.backend.cancel("unknown")
    assert [c for c in desk.posted if isinstance(c, Cancel)] == [Cancel("a")]
    await desk.deliver("a", Text("too late"))
    desk.backend.submit(job("c"))


@on_loop
async def test_a_reader_that_does_not_keep_up_is_dropped_alone(desk: Desk) -> None:
    slow = desk.backend.submit(job("slow"))
    other = desk.backend.submit(job("other"))
    for _ in range(MAX_BATCHES + 1):
        desk.backend.deliver([("slow", (Text("x"),))])
    await desk.deliver("other", Text("fine"), FINISH)
    (left,) = await slow.batch()
    assert isinstance(left, Failed)
    assert Cancel("slow") in desk.posted
    assert await other.batch() == (Text("fine"), FINISH)


@on_loop
async def test_draining_refuses_and_shows(desk: Desk) -> None:
    desk.backend.drain()
    assert desk.posted == [Drain()]
    assert desk.backend.status().readiness is Readiness.DRAINING
    with pytest.raises(Unavailable):
        desk.backend.submit(job("a"))


@on_loop
async def test_a_silent_engine_is_stalled_until_it_shows_itself(desk: Desk) -> None:
    desk.clock.advance(STALL_SECONDS + 1)
    assert desk.backend.status().readiness is Readiness.STALLED
    desk.backend.publish(Status(Readiness.READY, (SlotStatus(0, "idle", 0, ""),), 0, 100))
    assert desk.backend.status().readiness is Readiness.READY


@on_loop
async def test_a_dead_engine_thread_answers_everyone(desk: Desk) -> None:
    stream = desk.backend.submit(job("a"))
    desk.backend.died("the engine thread ended")
    (event,) = await stream.batch()
    assert isinstance(event, Failed)
    assert isinstance(event.error, EngineError)
    assert desk.backend.status().readiness is Readiness.FAILED
    with pytest.raises(Unavailable):
        desk.backend.submit(job("b"))


@on_loop
async def test_retry_after_follows_how_long_jobs_take(desk: Desk) -> None:
    for _ in range(30):
        desk.backend.submit(job("a"))
        desk.clock.advance(500)  # in the queue, which says nothing about a job
        await desk.deliver("a", Progress(0, 10))
        desk.clock.advance(20)
        await desk.deliver("a", FINISH)
    desk.backend.submit(job("a"))
    desk.backend.submit(job("b"))
    with pytest.raises(Overloaded) as caught:
        desk.backend.submit(job("c"))
    assert 35 <= caught.value.retry_after <= 40
