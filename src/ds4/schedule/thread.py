"""The engine thread: opens the engine, takes commands, turns the scheduler, closes the engine.

Every call that touches the engine happens on it, the opening too, so that the compute library's own
thread pool belongs to this one thread. A one-thread executor is that thread: what goes wrong on it
comes back through futures.
"""

import asyncio
import math
import queue
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from ds4.core.ports import Clock, Engine
from ds4.observe.records import Observer
from ds4.schedule.bridge import Cancel, Command, Drain, LocalBackend, Nudge, Submit
from ds4.schedule.scheduler import CachePlan, Limits, Scheduler, SchedulerMaker

T = TypeVar("T")

IDLE_SECONDS = 1.0
"""How often an idle engine thread shows that it is alive."""
STATUS_SECONDS = 0.1
TOGETHER_SECONDS = 0.002
"""Requests that come so close together begin together: one step then computes all their prompts, where
otherwise the first would be decoding already and hold the others to a quantum per step."""
TOGETHER_COMMANDS = 16
"""So many are waited for at most: a steady trickle must not keep the engine from starting."""


def apply(scheduler: Scheduler, command: Command) -> None:
    match command:
        case Submit(job, limit):
            scheduler.submit(job, limit)
        case Cancel(job_id):
            scheduler.cancel(job_id)
        case Drain():
            scheduler.drain()
        case Nudge():
            pass  # the turn that follows is all it asks for


class EngineThread:
    """`open`, then `serve`, then `close`; all called on one event loop."""

    def __init__(self, clock: Clock, observe: Observer) -> None:
        self._clock = clock
        self._observe = observe
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="engine")
        self._commands: queue.SimpleQueue[Command | None] = queue.SimpleQueue()
        self._engine: Engine | None = None
        self._scheduler: Scheduler | None = None
        self._cache = CachePlan()
        self._loop_done: asyncio.Future[None] | None = None
        self._death = asyncio.Event()
        self._cause = ""

    async def open(self, open_engine: Callable[[], Engine]) -> Engine:
        """Runs `open_engine` on the thread. Raises what it raises (StartError)."""
        self._engine = await self.call(open_engine)
        return self._engine

    async def call(self, work: Callable[[], T]) -> T:
        """Runs `work` on the thread; only while it does not serve."""
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)

    def serve(
        self,
        engine: Engine,
        limits: Limits,
        max_queue: int,
        cache: CachePlan = CachePlan(),  # noqa: B008  (frozen)
        make: SchedulerMaker = Scheduler,
    ) -> LocalBackend:
        """Starts turning; the backend answers from now on."""
        loop = asyncio.get_running_loop()
        backend: LocalBackend
        scheduler = make(engine, limits, self._clock, self._observe, lambda out: backend.deliver(out), cache)
        self._scheduler, self._cache = scheduler, cache
        if cache.store is not None:
            cache.store.on_news(lambda: self._commands.put(Nudge()))
        backend = LocalBackend(loop, self._commands.put, self._clock, scheduler.status(), max_queue)
        self._loop_done = loop.run_in_executor(self._executor, self._turn_around, scheduler, backend)
        self._loop_done.add_done_callback(lambda done: self._ended(done, backend))
        return backend

    async def broken(self) -> str:
        """Waits until a defect ends the thread; what went wrong."""
        await self._death.wait()
        return self._cause

    async def halt(self) -> None:
        """Stops turning after the current step; the engine stays open."""
        if self._loop_done is not None:
            self._commands.put(None)
            await asyncio.wait([self._loop_done])
            self._loop_done = None

    async def close(self) -> None:
        """Halts, writes what is worth it to the checkpoint store, closes both and ends the thread."""
        await self.halt()
        if self._cache.store is not None and self._scheduler is not None:
            # A broken engine has nothing to give; what is queued is written all the same.
            if not self._cause:
                await self.call(self._scheduler.persist)
            await self.call(self._cache.store.close)
        if self._cache.notebook is not None:
            await self.call(self._cache.notebook.close)
        if self._engine is not None:
            await self.call(self._engine.close)
        self._executor.shutdown(wait=False)

    def _turn_around(self, scheduler: Scheduler, backend: LocalBackend) -> None:
        busy, shown = False, -math.inf
        while True:
            for command in self._take(wait=not busy):
                if command is None:
                    return
                apply(scheduler, command)
            busy = scheduler.turn()
            now = self._clock.now()
            # A status a tenth of a second old is fresh enough, and a decode step has no time to give away.
            if not busy or now - shown >= STATUS_SECONDS:
                backend.publish(scheduler.status())
                shown = now
            backend.alive(now)

    def _take(self, *, wait: bool) -> Iterator[Command | None]:
        """All commands that are there; with `wait`, the first may take IDLE_SECONDS to come, and what
        comes right behind it is waited for."""
        try:
            yield self._commands.get(block=wait, timeout=IDLE_SECONDS)
            for _ in range(TOGETHER_COMMANDS if wait else 0):
                yield self._commands.get(timeout=TOGETHER_SECONDS)
            while True:
                yield self._commands.get(block=False)
        except queue.Empty:
            return

    def _ended(self, done: "asyncio.Future[None]", backend: LocalBackend) -> None:
        """When the scheduler itself broke: a defect, which must be answered too and never hang."""
        if not done.cancelled() and (error := done.exception()) is not None:
            self._cause = f"the engine thread ended: {type(error).__name__}: {error}"
            backend.died(self._cause)
            self._death.set()
