"""Whether a queued request can start now. It may have to wait for a read from disk, or for another request
to compute the prompt they share.

Rules:
- Whoever waits lets others pass, but keeps its claim to a slot (see `Scheduler._admit`).
- No wait is for ever: a read that does not come is given up, and whoever is waited for may end.
- After a wait everything is decided anew: what was best before need not be there any more.
- Who was refused REFUSALS times begins with nothing: an engine that cannot copy must not be asked for ever.
"""

from collections.abc import Iterable
from dataclasses import replace

from ds4.core.errors import EngineError
from ds4.core.ports import Clock, Engine
from ds4.core.usage import CacheReport, MissReason
from ds4.kv.policy import Knobs, places
from ds4.schedule.guided import guided
from ds4.schedule.keeper import Refused
from ds4.schedule.place import Wait
from ds4.schedule.pool import SlotPool, Start
from ds4.schedule.session import Hold, Session, State, Step
from ds4.schedule.stock import Stock

READ_SECONDS = 30.0
"""A read that has not come after this long is not waited for any more."""

REFUSALS = 3


class FrontDesk:
    def __init__(self, engine: Engine, pool: SlotPool, stock: Stock, clock: Clock, knobs: Knobs) -> None:
        self._engine = engine
        self._pool = pool
        self._stock = stock
        self._clock = clock
        self._knobs = knobs

    def start(self, session: Session) -> bool:
        """Puts a queued request into a slot; False while it has to wait. There must be a free slot."""
        while (start := self._ready(session)) is not None:
            try:
                self._begin(session, start)
            except Refused:
                session.damaged = True
                session.refusals += 1
            else:
                return True
        return False

    def _ready(self, session: Session) -> Start | None:
        """How to start; None while it has to wait. There must be a free slot."""
        if session.hold is not None and not self._over(session, session.hold):
            return None
        bare = session.refusals >= REFUSALS
        decision = self._pool.decide(session.plan, bare=bare, reads=session.reads)
        now = self._clock.now()
        if isinstance(decision, Wait):
            other = self._pool.stop_at(decision.slot, decision.rows)
            session.hold = Hold(now, other=other, rows=decision.rows)
            return None
        if decision.unread:
            for key in decision.unread:
                self._stock.fetch(key)
            session.hold = Hold(now, keys=decision.unread)
            return None
        return decision

    def let_go(self, queued: Iterable[Session]) -> None:
        """What was read for nobody who still waits goes into RAM."""
        wanted = {key for session in queued if session.hold for key in session.hold.keys}
        self._stock.let_go(wanted)

    def _begin(self, session: Session, start: Start) -> None:
        base = start.placement.base
        sent = session.plan
        session.plan = plan = base.healed if base and base.healed else sent
        sampling = session.job.sampling
        history = plan.ids.tolist() if sampling.repeat_penalty != 1.0 else []
        session.sampler = guided(self._engine.sampler(sampling, history), session.job.guide)
        try:
            report = self._pool.lease(session, start)
        except EngineError:
            session.plan = sent
            raise
        session.advance(Step.ADMIT)
        session.limit = min(session.limit, self._engine.info.n_ctx - plan.rows)
        session.report = _completed(session, report)
        session.prefilled = report.reused
        session.started = self._clock.now()
        kept = places(plan.rows, plan.boundaries, self._engine.caps, self._knobs, report.reused)
        session.stops = {place.row: place for place in kept}
        if here := session.stops.get(session.prefilled):
            saved = self._pool.keep(session, here)
            session.report = replace(session.report, saved=(*session.report.saved, *saved))

    def _over(self, session: Session, hold: Hold) -> bool:
        now = self._clock.now()
        if self._lasts(hold, now):
            return False
        for key in hold.keys:
            if self._stock.coming(key):
                self._stock.abandon(key)
                session.reads = False
            session.damaged |= self._stock.fetched(key) is None
        if hold.other is not None:
            session.waited += now - hold.since
        session.hold = None
        return True

    def _lasts(self, hold: Hold, now: float) -> bool:
        if hold.other is not None:
            return hold.other.state is State.PREFILL and hold.other.prefilled < hold.rows
        return now - hold.since < READ_SECONDS and any(self._stock.coming(key) for key in hold.keys)


def _completed(session: Session, report: CacheReport) -> CacheReport:
    why = MissReason.DAMAGED if session.damaged else report.reason
    job = session.job
    return replace(
        report,
        reason=why,
        waited_seconds=session.waited,
        normalised=job.normalised,
        replay=job.plan.replay,
    )
