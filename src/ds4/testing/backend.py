"""A backend whose engine turns on the event loop itself: no thread, no waiting, repeatable."""

import asyncio
from collections import deque

from ds4.core.ports import Clock, Engine
from ds4.engine.scripted.engine import ScriptedEngine
from ds4.observe.records import Observer, Record
from ds4.schedule.bridge import Command, LocalBackend, Nudge
from ds4.schedule.scheduler import CachePlan, Limits, Scheduler, SchedulerMaker
from ds4.schedule.thread import apply


def ignore(record: Record) -> None:
    """An observer for tests that do not look at records."""


class Pump:
    """Needs a running event loop. `turns` counts scheduler turns that computed something.

    Whenever there is nothing to compute, the books are held against the engine; they must agree, with a
    scripted engine token by token. Where they do not, SystemExit ends the loop, which only logs exceptions.
    While `held`, commands are taken but nothing is computed; `release` goes on.
    """

    def __init__(
        self,
        engine: Engine,
        clock: Clock,
        *,
        limits: Limits = Limits(),  # noqa: B008  (frozen)
        observe: Observer = ignore,
        max_queue: int = 64,
        cache: CachePlan = CachePlan(),  # noqa: B008  (frozen)
        make: SchedulerMaker = Scheduler,
    ) -> None:
        self._engine = engine
        self._loop = asyncio.get_running_loop()
        self._commands: deque[Command] = deque()
        self._scheduled = False
        self._held = False
        self.turns = 0
        self.scheduler = make(engine, limits, clock, observe, lambda out: self.backend.deliver(out), cache)
        if cache.store is not None:
            cache.store.on_news(lambda: self._post(Nudge()))
        self.backend = LocalBackend(self._loop, self._post, clock, self.scheduler.status(), max_queue)

    def hold(self) -> None:
        self._held = True

    def release(self) -> None:
        self._held = False
        self._wake()

    def step(self) -> bool:
        """One turn by hand, also while held. False when there was nothing to compute."""
        while self._commands:
            apply(self.scheduler, self._commands.popleft())
        busy = self.scheduler.turn()
        self.turns += busy
        if not busy and (faults := [*self.scheduler.faults(), *self._strangers()]):
            raise SystemExit("; ".join(faults))
        self.backend.publish(self.scheduler.status())
        return busy

    def _strangers(self) -> list[str]:
        if not isinstance(self._engine, ScriptedEngine):
            return []
        books = self.scheduler.books()
        return [
            f"slot {slot} holds other tokens than the books say"
            for slot, ids in enumerate(books)
            if ids is not None and ids != self._engine.held(slot)
        ]

    def _post(self, command: Command) -> None:
        self._commands.append(command)
        self._wake()

    def _wake(self) -> None:
        if not self._scheduled and not self._held:
            self._scheduled = True
            self._loop.call_soon(self._turn)

    def _turn(self) -> None:
        self._scheduled = False
        if not self._held and self.step():
            self._wake()
