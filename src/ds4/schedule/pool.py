"""The slots of one engine: which is best for a job, and making its memory ready for it."""

from ds4.core.errors import EngineError
from ds4.core.job import Job
from ds4.core.plan import Ids
from ds4.core.ports import Clock, Engine
from ds4.core.status import SlotStatus
from ds4.kv.prefix import Reuse, reusable
from ds4.schedule.place import Candidate, Placement, place
from ds4.schedule.session import Session
from ds4.schedule.slots import Slot


class SlotPool:
    def __init__(self, engine: Engine, clock: Clock) -> None:
        self._engine = engine
        self._clock = clock
        self._slots = [Slot(index) for index in range(engine.info.n_slots)]

    def running(self) -> list[Session]:
        return [slot.session for slot in self._slots if slot.session is not None]

    def any_free(self) -> bool:
        return any(slot.free for slot in self._slots)

    def placement(self, job: Job) -> Placement:
        """The best free slot for `job`; there must be one."""
        now = self._clock.now()
        candidates = [
            Candidate(slot.index, len(slot.rows), slot.prompt_held, now - slot.used, self._reuse(slot, job))
            for slot in self._slots
            if slot.free
        ]
        return place(candidates, job.plan.rows)

    def _reuse(self, slot: Slot, job: Job) -> Reuse:
        if slot.namespace != job.plan.namespace or not len(slot.rows):
            return Reuse(0, 0)
        try:
            frontier = self._engine.frontier(slot.index)
        except EngineError:
            # The engine and our books disagree: what is there cannot be trusted, but the slot can be cleared.
            slot.wipe()
            return Reuse(0, 0)
        return reusable(slot.rows.view(), job.plan.ids, self._engine.caps, frontier)

    def lease(self, session: Session, placement: Placement) -> None:
        """Gives the slot to `session` and cuts its memory to the rows it keeps. Raises EngineError."""
        slot = self._slots[placement.slot]
        keep, held = placement.report.reused, len(slot.rows)
        slot.lease(session, keep)
        session.slot = slot.index
        if not keep:
            self._engine.clear(slot.index)
        elif keep < held and not self._engine.trim(slot.index, keep):
            raise EngineError(f"slot {slot.index} could not be cut from {held} to {keep} rows")

    def rows(self, session: Session) -> int:
        """Rows in the session's memory."""
        return len(self._slots[session.slot].rows)

    def keep(self, session: Session, ids: Ids) -> None:
        """Notes the rows that a step added."""
        self._slots[session.slot].rows.extend(ids)

    def release(self, session: Session) -> None:
        """Ends the lease; the rows stay for the next request."""
        self._slots[session.slot].release(self._clock.now())

    def wipe(self, session: Session) -> None:
        """Forgets the slot's rows: its memory can no longer be trusted. Ends the lease."""
        self._slots[session.slot].wipe()

    def session_in(self, slot: int) -> Session:
        session = self._slots[slot].session
        if session is None:
            raise EngineError(f"slot {slot} has no request")
        return session

    def statuses(self) -> tuple[SlotStatus, ...]:
        return tuple(_status(slot) for slot in self._slots)


def _status(slot: Slot) -> SlotStatus:
    session = slot.session
    if session is None:
        return SlotStatus(slot.index, slot.residency, len(slot.rows), slot.namespace)
    return SlotStatus(
        slot.index,
        slot.residency,
        len(slot.rows),
        slot.namespace,
        job=session.job.id,
        phase=session.state,
        prompt=session.job.plan.rows,
        prefilled=session.prefilled,
        generated=session.generated,
    )
