"""A backend whose engine turns on the event loop itself: no thread, no waiting, repeatable."""

import asyncio
from collections import deque

from ds4.core.ports import Clock, Engine
from ds4.observe.records import Observer, Record
from ds4.schedule.bridge import Command, LocalBackend
from ds4.schedule.scheduler import Limits, Scheduler
from ds4.schedule.thread import apply


def ignore(record: Record) -> None:
    """An observer for tests that do not look at records."""


class Pump:
    """Needs a running event loop. `turns` counts scheduler turns that computed something.

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
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._commands: deque[Command] = deque()
        self._scheduled = False
        self._held = False
        self.turns = 0
        self.scheduler = Scheduler(engine, limits, clock, observe, lambda out: self.backend.deliver(out))
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
        self.backend.publish(self.scheduler.status())
        return busy

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
