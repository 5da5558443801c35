"""One traced run: the same few wrappers, put around a server's parts by whoever assembles one."""

import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from typing import Protocol

from starlette.types import ASGIApp, Scope

from ds4.api.services import Services
from ds4.core.ports import Backend, Clock, Engine, Ids
from ds4.kv.replay.disk_copy import Disk
from ds4.observe.records import Observer, Record
from ds4.observe.trace.values import Json
from ds4.observe.trace.writer import Put
from ds4.rerun.head import Head
from ds4.rerun.moment import Callers, Moments, NotedIds, StandingClock
from ds4.rerun.record.api import (
    NotedApp,
    NotedBackend,
    NotedRenderer,
    NotedRunner,
    Notes,
    Numbers,
    noted_sleep,
)
from ds4.rerun.record.earlier import NotedAnswers, NotedResponses
from ds4.rerun.record.engine import NotedEngine
from ds4.rerun.record.guide import noted_guides
from ds4.rerun.record.scheduler import NotedScheduler, noted_records
from ds4.rerun.record.store import NotedStore
from ds4.rerun.record.tokenizer import NotedTokenizer
from ds4.rerun.tape import Tape
from ds4.schedule.rates import Rates
from ds4.schedule.rewrite import Comparer, comparer
from ds4.schedule.scheduler import CachePlan, Delivery, Limits, Scheduler, SchedulerMaker


class Watch(Protocol):
    """Stands between a server's parts, or does not."""

    @property
    def clock(self) -> Clock:
        """For every part whose decisions depend on time."""

    @property
    def observe(self) -> Observer: ...

    @property
    def scheduler(self) -> SchedulerMaker: ...

    def ids(self, ids: Ids) -> Ids: ...

    def engine(self, engine: Engine) -> Engine: ...

    def answers(self, disk: Disk) -> Disk: ...

    def cache(self, plan: CachePlan) -> CachePlan: ...

    def services(self, services: Services) -> Services: ...

    def app(self, app: ASGIApp) -> ASGIApp: ...

    def begin(self, head: Callable[[], Head]) -> None:
        """All parts are there; `head` says what server this is."""


class Unwatched:
    """Nothing is recorded, and nothing is in the way."""

    scheduler: SchedulerMaker = Scheduler

    def __init__(self, clock: Clock) -> None:
        self.clock = clock

    def observe(self, record: Record) -> None:
        pass

    def ids(self, ids: Ids) -> Ids:
        return ids

    def engine(self, engine: Engine) -> Engine:
        return engine

    def answers(self, disk: Disk) -> Disk:
        return disk

    def cache(self, plan: CachePlan) -> CachePlan:
        return plan

    def services(self, services: Services) -> Services:
        return services

    def app(self, app: ASGIApp) -> ASGIApp:
        return app

    def begin(self, head: Callable[[], Head]) -> None:
        pass


class Recorder:
    """Lines that come before the head wait for it. `rates`, `number` and `compare` are given when a run is
    repeated."""

    def __init__(
        self,
        put: Put,
        moments: Moments,
        clock: Clock,
        *,
        rates: Rates | None = None,
        number: Numbers | None = None,
        compare: Comparer | None = None,
    ) -> None:
        self._put = put
        self._early: list[Json] | None = []
        self._lock = threading.Lock()
        self._longest = sys.maxsize
        self._rates = rates
        self._number = number or counted()
        self._compare = compare
        self._callers = Callers()
        self._tape = Tape(self._line, moments)
        self._notes = Notes(self._line, moments, self._callers)
        self.clock: Clock = StandingClock(clock)
        self.observe: Observer = noted_records(self._line)

    def begin(self, head: Callable[[], Head]) -> None:
        made = head()
        self._longest = made.vocabulary.longest
        with self._lock:
            for line in (made.line, *(self._early or ())):
                self._put(line)
            self._early = None

    def ids(self, ids: Ids) -> Ids:
        return NotedIds(ids, self._line, lambda made: self._tape.note("ids", made))

    def engine(self, engine: Engine) -> Engine:
        return NotedEngine(engine, NotedTokenizer(engine.tokenizer, self._line), self._tape)

    def answers(self, disk: Disk) -> Disk:
        return NotedAnswers(disk, self._notes)

    def cache(self, plan: CachePlan) -> CachePlan:
        store = plan.store
        return plan if store is None else replace(plan, store=NotedStore(store, self._tape, self._callers))

    def scheduler(
        self,
        engine: Engine,
        limits: Limits,
        clock: Clock,
        observe: Observer,
        deliver: Callable[[Sequence[Delivery]], None],
        cache: CachePlan,
        /,
    ) -> Scheduler:
        rates, compare = self._rates or Rates(), self._compare or comparer(engine.tokenizer)
        return NotedScheduler(self._tape, rates, compare, engine, limits, clock, observe, deliver, cache)

    def backend(self, backend: Backend) -> Backend:
        return NotedBackend(backend, self._notes, self._tape)

    def services(self, services: Services) -> Services:
        return replace(
            services,
            backend=self.backend(services.backend),
            renderer=NotedRenderer(services.renderer, self._notes),
            guide=noted_guides(services.guide, self._line),
            responses=NotedResponses(services.responses, self._notes),
            run=NotedRunner(services.run, self._notes),
            sleep=noted_sleep(services.sleep, self._notes),
            # Asking every piece of the vocabulary again would note them all.
            longest_piece=lambda: self._longest,
        )

    def app(self, app: ASGIApp) -> ASGIApp:
        return NotedApp(app, self._notes, self._number)

    def _line(self, line: Json) -> None:
        if self._early is not None:
            with self._lock:
                if self._early is not None:
                    self._early.append(line)
                    return
        self._put(line)


def counted() -> Numbers:
    numbers = count(1)

    def number(_scope: Scope) -> int:
        return next(numbers)

    return number
