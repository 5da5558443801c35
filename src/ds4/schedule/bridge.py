"""Between the event loop and the engine thread.

Rules:
- Everything in this file but `LocalBackend.deliver`, `publish` and `alive` runs on the event loop.
- The engine thread never waits for a reader: it hands over one batch per step and goes on.
- A reader that lets more than MAX_BATCHES pile up is dropped; its job is cancelled.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ds4.core.errors import EngineError, Unavailable
from ds4.core.events import Event, Failed, Finish
from ds4.core.job import Job
from ds4.core.ports import Clock
from ds4.core.status import Readiness, Status
from ds4.schedule.admission import check_queue, completion_limit, retry_after
from ds4.schedule.scheduler import Delivery

MAX_BATCHES = 4096
STALL_SECONDS = 120.0
"""A step may take long (a first chunk on a slow machine), but not this long."""
SMOOTHING = 0.2


@dataclass(frozen=True, slots=True)
class Submit:
    job: Job
    limit: int


@dataclass(frozen=True, slots=True)
class Cancel:
    job_id: str


@dataclass(frozen=True, slots=True)
class Drain:
    pass


@dataclass(frozen=True, slots=True)
class Nudge:
    """There is news from the checkpoint store."""


Command = Submit | Cancel | Drain | Nudge


class JobStream:
    """One job's events, from the engine thread to one reader. `started`: when it left the queue."""

    def __init__(self) -> None:
        self.started: float | None = None
        self._batches: deque[tuple[Event, ...]] = deque()
        self._wake: asyncio.Future[None] | None = None

    async def batch(self) -> tuple[Event, ...]:
        while not self._batches:
            self._wake = asyncio.get_running_loop().create_future()
            await self._wake
        events = tuple(event for batch in self._batches for event in batch)
        self._batches.clear()
        return events

    def push(self, events: tuple[Event, ...]) -> bool:
        """False when the reader is too far behind: then only the failure is left to read."""
        fits = len(self._batches) < MAX_BATCHES
        if not fits:
            self._batches.clear()
            events = (Failed(Unavailable("the client did not read its answer; it was dropped")),)
        self._batches.append(events)
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)
        return fits


class LocalBackend:
    """The Backend of an engine in this process."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        post: Callable[[Command], None],
        clock: Clock,
        status: Status,
        max_queue: int,
    ) -> None:
        self._loop = loop
        self._post = post
        self._clock = clock
        self._status = status
        self._seen = clock.now()
        self._max_queue = max_queue
        self._streams: dict[str, JobStream] = {}
        self._job_seconds = 1.0
        self._draining = False
        self._dead = ""

    def submit(self, job: Job) -> JobStream:
        if self._draining:
            raise Unavailable("server shutting down")
        if self._dead:
            raise Unavailable(self._dead)
        limit = completion_limit(job.plan.rows, job.max_tokens, self._status.n_ctx)
        check_queue(len(self._streams), len(self._status.slots), self._max_queue, self._job_seconds)
        stream = JobStream()
        self._streams[job.id] = stream
        self._post(Submit(job, limit))
        return stream

    def cancel(self, job_id: str) -> None:
        if self._streams.pop(job_id, None) is not None:
            self._post(Cancel(job_id))

    def drain(self) -> None:
        """Refuses new jobs and ends the running ones."""
        self._draining = True
        self._post(Drain())

    def status(self) -> Status:
        n_slots = len(self._status.slots)
        status = replace(
            self._status,
            capacity=n_slots + self._max_queue,
            retry_after=retry_after(len(self._streams), n_slots, self._job_seconds),
        )
        if self._dead:
            return replace(status, readiness=Readiness.FAILED, detail=self._dead)
        if self._draining:
            return replace(status, readiness=Readiness.DRAINING)
        silent = self._clock.now() - self._seen
        if silent > STALL_SECONDS:
            detail = f"the engine has not answered for {silent:.0f} s"
            return replace(status, readiness=Readiness.STALLED, detail=detail)
        return status

    def died(self, message: str) -> None:
        """The engine thread is gone: everything waiting is answered, and nothing comes in any more."""
        self._dead = message
        for stream in self._streams.values():
            stream.push((Failed(EngineError(message)),))
        self._streams.clear()

    def publish(self, status: Status) -> None:
        """Called on the engine thread: how things stand."""
        self._status = status
        self.alive(self._clock.now())

    def alive(self, now: float) -> None:
        """Called on the engine thread after every turn: a sign of life."""
        self._seen = now

    def deliver(self, deliveries: Sequence[Delivery]) -> None:
        """Called on the engine thread; returns at once."""
        self._loop.call_soon_threadsafe(self._hand_out, deliveries)

    def _hand_out(self, deliveries: Sequence[Delivery]) -> None:
        for job_id, events in deliveries:
            stream = self._streams.get(job_id)
            if stream is None:
                continue
            if stream.started is None:
                stream.started = self._clock.now()
            if not stream.push(events):
                self.cancel(job_id)
            elif isinstance(events[-1], Finish | Failed):
                del self._streams[job_id]
                self._learn(self._clock.now() - stream.started)

    def _learn(self, seconds: float) -> None:
        """How long a job occupies a slot."""
        self._job_seconds += SMOOTHING * (seconds - self._job_seconds)
