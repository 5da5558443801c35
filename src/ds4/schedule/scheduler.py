"""The scheduler: a queue, slots and an engine, advanced one step per `turn`.

Rules:
- Everything here runs on the one engine thread; nothing here blocks but the engine itself.
- Decisions are taken by the pure modules beside this one (planner, place, rates).
- Events go out once per turn, for all requests together, through `deliver`.
- `_guarded` is the engine-step boundary, the one place where any exception becomes an answer.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from ds4.core.errors import Ds4Error, EngineError, RequestError, Unavailable
from ds4.core.events import Event, Failed, FinishReason, Progress, Stop
from ds4.core.job import Job
from ds4.core.plan import Ids
from ds4.core.ports import Clock, Engine
from ds4.core.status import Readiness, Status
from ds4.core.step import Outcome, StepPlan, Work
from ds4.core.usage import SaveReason
from ds4.kv.checkpoint import CheckpointStore
from ds4.kv.policy import Knobs, Place, due, to_due
from ds4.kv.replay.notebook import Notebook
from ds4.observe.records import Observer, PromptStarted, Queued
from ds4.schedule.answer import digest, finish
from ds4.schedule.desk import FrontDesk
from ds4.schedule.keeper import Keeper
from ds4.schedule.planner import Budget, Share, Turn, plan_step
from ds4.schedule.pool import SlotPool
from ds4.schedule.rates import Rates, chunk_rows
from ds4.schedule.report import Reporter
from ds4.schedule.rewrite import Comparer, comparer
from ds4.schedule.session import Session, State, Step
from ds4.schedule.stock import Stock

Delivery = tuple[str, tuple[Event, ...]]
"""A job id and its new events."""


@dataclass(frozen=True, slots=True)
class Limits:
    """`quantum`: prefill rows per step while anything decodes. `chunk`: at most so many otherwise."""

    quantum: int = 128
    chunk: int = 2048

    def within(self, engine: Engine) -> "Limits":
        """Cut to what the engine's batch holds and its model family needs."""
        return Limits(max(self.quantum, engine.caps.min_quantum), min(self.chunk, engine.info.n_batch))


@dataclass(frozen=True, slots=True)
class CachePlan:
    """What is kept beside the slots. `ram` bytes for whole states, `marks` bytes for PARTIAL ones.

    Answers are remembered in the `notebook`.
    """

    knobs: Knobs = Knobs()  # noqa: RUF009  (frozen)
    ram: int = 0
    marks: int = 256 << 20
    store: CheckpointStore | None = None
    notebook: Notebook | None = None


class SchedulerMaker(Protocol):
    """Makes a scheduler of an engine; `Scheduler` itself, or what makes one that is watched."""

    def __call__(
        self,
        engine: Engine,
        limits: Limits,
        clock: Clock,
        observe: Observer,
        deliver: Callable[[Sequence[Delivery]], None],
        cache: CachePlan,
        /,
    ) -> "Scheduler": ...


class Scheduler:
    def __init__(
        self,
        engine: Engine,
        limits: Limits,
        clock: Clock,
        observe: Observer,
        deliver: Callable[[Sequence[Delivery]], None],
        cache: CachePlan = CachePlan(),
        rates: Rates | None = None,
        compare: Comparer | None = None,
    ) -> None:
        self._engine = engine
        self._limits = limits.within(engine)
        self._clock = clock
        self._report = Reporter(observe, clock)
        self._deliver = deliver
        self._queue: list[Session] = []
        self._rates = rates or Rates()
        self._knobs = cache.knobs
        self._notebook = cache.notebook
        self._stock = Stock(clock, self._rates, ram=cache.ram, marks=cache.marks, store=cache.store)
        keeper = Keeper(engine, self._stock, self._rates, clock, cache.knobs, observe)
        compare = compare or comparer(engine.tokenizer)
        self._pool = SlotPool(engine, clock, self._stock, keeper, self._rates, compare)
        self._desk = FrontDesk(engine, self._pool, self._stock, clock, cache.knobs)
        self._steps = 0
        self._out: list[Delivery] = []
        self._draining = False
        self._failure = ""

    def submit(self, job: Job, limit: int) -> None:
        """Queues `job`, which may generate `limit` tokens."""
        session = Session(job, limit, self._clock.now())
        if self._draining:
            self._fail(session, Unavailable("server shutting down"))
        else:
            self._queue.append(session)
            self._report(Queued(session.subject))

    def cancel(self, job_id: str) -> None:
        """Ends the job without an answer; its slot keeps what was computed. Unknown ids are ignored."""
        for session in self._sessions():
            if session.job.id == job_id:
                if session.state is State.DECODE:
                    # What the reader still holds back was sampled, too.
                    finish(session, Stop(FinishReason.LENGTH))
                    self._remember(session, None)
                self._end(session, Step.CANCEL, "cancelled")
                return

    def drain(self) -> None:
        """Ends everything: answers that have begun get an honest finish, the rest are refused."""
        self._draining = True
        for session in self._sessions():
            if session.state is State.DECODE:
                self._finish(session, Stop(FinishReason.SHUTDOWN))
            else:
                self._fail(session, Unavailable("server shutting down"))

    def turn(self) -> bool:
        """Admits what fits, runs one step, delivers. False when there was nothing to compute."""
        self._admit()
        shares = plan_step([self._turn_of(session) for session in self._pool.running()], self._budget())
        if shares:
            self._run(shares)
        elif not self._queue:
            self._pool.rest()
        self._flush()
        return bool(shares)

    def persist(self) -> None:
        """Writes to disk, if there is one, what every slot holds; for the end of the process."""
        self._pool.persist()

    def faults(self) -> list[str]:
        """Where the books and the engine disagree; for tests, between turns."""
        return self._pool.faults()

    def books(self) -> tuple[tuple[int, ...] | None, ...]:
        """The row ids each slot should hold, None for an empty one; for tests."""
        return self._pool.books()

    def status(self) -> Status:
        readiness = Readiness.READY
        if self._draining:
            readiness = Readiness.DRAINING
        elif self._failure:
            readiness = Readiness.FAILED
        n_ctx = self._engine.info.n_ctx
        return Status(readiness, self._pool.statuses(), len(self._queue), n_ctx, self._failure)

    def _sessions(self) -> list[Session]:
        return [*self._pool.running(), *self._queue]

    def _admit(self) -> None:
        self._stock.listen()
        claimed = 0
        for session in tuple(self._queue):
            if self._pool.free() <= claimed:
                break
            self._guarded([session], self._starter(session))
            claimed += session.state is State.QUEUED
        self._desk.let_go(self._queue)

    def _starter(self, session: Session) -> Callable[[], None]:
        return lambda: self._start(session)

    def _start(self, session: Session) -> None:
        if self._desk.start(session):
            self._queue.remove(session)
            self._report(PromptStarted(session.subject, session.slot, session.report))
            self._emit(session, Progress(session.prefilled, session.plan.rows))

    def _budget(self) -> Budget:
        quantum = self._limits.quantum
        chunk = chunk_rows(self._rates.prefill, quantum, self._limits.chunk)
        return Budget(quantum, chunk, self._engine.info.n_batch)

    def _turn_of(self, session: Session) -> Turn:
        if session.state is not State.DECODE:
            return Turn(session.slot, session.remaining, session.to_stop, session.served)
        pending = len(session.pending)
        if pending > 1:
            pending = min(pending, to_due(self._pool.rows(session), self._knobs))
        return Turn(session.slot, 0, 0, 0, pending)

    def _run(self, shares: tuple[Share, ...]) -> None:
        self._steps += 1
        sessions = [self._pool.session_in(share.slot) for share in shares]
        self._guarded(sessions, lambda: self._step(sessions, shares))

    def _step(self, sessions: list[Session], shares: tuple[Share, ...]) -> None:
        works = tuple(self._work(s, share.rows) for s, share in zip(sessions, shares, strict=True))
        result = self._engine.step(StepPlan(works, ordered=not self._engine.caps.native_batch))
        self._failure = ""
        if all(session.remaining for session in sessions):
            self._rates.observe(sum(share.rows for share in shares), result.seconds)
        for session, outcome in zip(sessions, result.outcomes, strict=True):
            self._guarded([session], self._advancer(session, outcome, result.seconds), engine=False)

    def _advancer(self, session: Session, outcome: Outcome, seconds: float) -> Callable[[], None]:
        return lambda: self._advance(session, outcome, seconds)

    def _work(self, session: Session, rows: int) -> Work:
        ids = _next_rows(session, rows)
        pos = self._pool.rows(session)
        if session.state is State.DECODE:
            sampler = session.sampler if rows == len(session.pending) else None
            return Work(session.slot, pos, ids, sampler, greedy=session.hint.greedy)
        ends_prompt = rows == session.remaining and session.limit > 0
        return Work(session.slot, pos, ids, session.sampler if ends_prompt else None)

    def _advance(self, session: Session, outcome: Outcome, seconds: float) -> None:
        if outcome.error is not None:
            raise outcome.error
        self._pool.add(session, _next_rows(session, outcome.rows_kept))
        if session.state is State.PREFILL:
            self._prefilled(session, outcome.rows_kept, seconds)
        else:
            del session.pending[: outcome.rows_kept]
        if session.state is State.DECODE:
            self._decoded(session, outcome)

    def _prefilled(self, session: Session, rows: int, seconds: float) -> None:
        session.prefilled += rows
        session.served = self._steps
        if (place := session.stops.get(session.prefilled)) is not None:
            self._keep(session, place)
        self._emit(session, Progress(session.prefilled, session.plan.rows))
        if not session.remaining:
            session.advance(Step.PROMPT_DONE)
        self._report.prefilled(session, rows, seconds)

    def _decoded(self, session: Session, outcome: Outcome) -> None:
        if not session.limit:
            self._finish(session, Stop(FinishReason.LENGTH))
            return
        digested = digest(session, outcome.tokens, self._engine.tokenizer)
        self._emit(session, *digested.events)
        self._report.decoded(session)
        if digested.stop is not None:
            self._finish(session, digested.stop)
        elif due(rows := self._pool.rows(session), self._knobs) and not session.hint.greedy:
            # Not within tool markup: nobody comes back to a half-written call.
            self._keep(session, Place(rows, mark=True, save=SaveReason.CONTINUED))

    def _keep(self, session: Session, place: Place) -> None:
        saved = self._pool.keep(session, place)
        session.report = replace(session.report, saved=(*session.report.saved, *saved))

    def _finish(self, session: Session, stop: Stop) -> None:
        held, end = finish(session, stop)
        # Before the client hears of the end: its next request may come at once.
        self._remember(session, replace(stop, sequence=end.sequence))
        self._emit(session, *held, end)
        self._end(session, Step.FINISH, end.reason)

    def _remember(self, session: Session, end: Stop | None) -> None:
        """`end` None: the client has left."""
        if self._notebook is not None:
            record = session.said.record(session.job.plan, end, self._engine.tokenizer.is_eog)
            if record is not None:
                self._notebook.remember(record)

    def _fail(self, session: Session, error: Ds4Error) -> None:
        self._emit(session, Failed(error))
        self._end(session, Step.FAIL, "error", error.message)

    def _end(self, session: Session, step: Step, finish: str, error: str | None = None) -> None:
        session.advance(step)
        if session.slot >= 0:
            self._pool.release(session)
        elif session in self._queue:
            self._queue.remove(session)
        self._report.ended(session, finish, error)

    def _emit(self, session: Session, *events: Event) -> None:
        if events:
            self._out.append((session.job.id, events))

    def _flush(self) -> None:
        if self._out:
            out, self._out = self._out, []
            self._deliver(out)

    def _guarded(
        self, sessions: Sequence[Session], action: Callable[[], None], *, engine: bool = True
    ) -> None:
        """Runs `action`; whatever it raises ends `sessions` with an answer and distrusts their slots.

        `engine`: a failure says something about the engine, and not about one request alone.
        """
        try:
            action()
        except Exception as error:  # noqa: BLE001  (the boundary: a hang or a dead thread would be worse)
            if engine and not isinstance(error, RequestError):
                self._failure = f"{type(error).__name__}: {error}"
            known = error if isinstance(error, Ds4Error) else EngineError(f"engine failure: {error}")
            for session in sessions:
                if session.alive:
                    self._fail(session, known)
                    self._distrust(session)

    def _distrust(self, session: Session) -> None:
        if session.slot >= 0:
            self._pool.wipe(session)


def _next_rows(session: Session, rows: int) -> Ids:
    """The ids the session feeds next: prompt rows, or tokens of the answer."""
    if session.state is State.DECODE:
        return np.array(session.pending[:rows], dtype=np.int32)
    return session.plan.ids[session.prefilled : session.prefilled + rows]
