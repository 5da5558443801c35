"""The slots of one engine: where a request goes, and making that slot's memory ready for it."""

from dataclasses import dataclass, replace

from ds4.core.errors import EngineError
from ds4.core.plan import Ids, PromptPlan
from ds4.core.ports import Clock, Engine
from ds4.core.status import SlotStatus
from ds4.core.step import Trim
from ds4.core.usage import CacheReport, CacheSource, Saved, SaveReason, SaveTier
from ds4.kv.policy import Place
from ds4.schedule.explain import explain
from ds4.schedule.keeper import Keeper
from ds4.schedule.place import Base, Kind, Placement, Wait, place
from ds4.schedule.rates import Rates
from ds4.schedule.rewrite import Comparer
from ds4.schedule.session import Session
from ds4.schedule.slots import Slot
from ds4.schedule.stock import Stock
from ds4.schedule.survey import Surveyor

REST_SECONDS = 2.0
"""A slot that was not used for so long may be written."""
REST_ROWS = {Trim.ANY: 256, Trim.WINDOW: 1024, Trim.BOUNDARY: 1024}
"""So many rows must be new: each time, all of the slot's memory is copied and looked through, and a window is
written anew."""


@dataclass(frozen=True, slots=True)
class Start:
    """A request can start: where, with what, and why so. `unread` must be fetched from disk first."""

    placement: Placement
    report: CacheReport
    unread: tuple[str, ...] = ()


class SlotPool:
    def __init__(
        self, engine: Engine, clock: Clock, stock: Stock, keeper: Keeper, rates: Rates, compare: Comparer
    ) -> None:
        self._engine = engine
        self._clock = clock
        self._stock = stock
        self._keeper = keeper
        self._rates = rates
        self._slots = [Slot(index) for index in range(engine.info.n_slots)]
        self._surveyor = Surveyor(engine, self._slots, stock, keeper, clock, compare)

    def running(self) -> list[Session]:
        return [slot.session for slot in self._slots if slot.session is not None]

    def free(self) -> int:
        return sum(slot.free for slot in self._slots)

    def decide(self, plan: PromptPlan, *, bare: bool = False, reads: bool = True) -> Start | Wait:
        """Where `plan` should run; there must be a free slot. `bare`: with nothing to begin
        with; unless `reads`, with nothing that must be read from disk first."""
        bases = [] if bare else self._surveyor.bases(plan)
        bases = [base for base in bases if reads or not self._unread(base)]
        choice = place(self._surveyor.targets(), bases, plan.rows, self._rates.prices())
        if isinstance(choice, Wait):
            return choice
        report = explain(choice, bases, plan, self._engine.tokenizer.piece)
        return Start(choice, report, self._unread(choice.base))

    def stop_at(self, slot: int, rows: int) -> Session | None:
        """Makes the request that prefills in `slot` end a chunk at `rows`, where another will take over."""
        session = self._slots[slot].session
        if session is not None:
            session.stops[rows] = replace(session.stops.get(rows, Place(rows)), mark=True)
        return session

    def lease(self, session: Session, start: Start) -> CacheReport:
        """Gives the slot to `session` and makes its memory begin as decided. Raises EngineError.

        The report says what it took. After `keeper.Refused` the slot is free and empty.
        """
        placement, report = start.placement, start.report
        slot, base = self._slots[placement.slot], placement.base
        report = _origin(self._stock, base, report)
        foreign = slot.namespace != session.plan.namespace
        try:
            begun = self._keeper.begin(slot, base, park=placement.park)
        except EngineError:
            if not slot.empty:
                slot.wipe()
            raise
        slot.lease(session, report.reused, self._written(base))
        session.slot = slot.index
        report = replace(report, restored_bytes=begun.restored, restore_seconds=begun.seconds)
        # The report is its caller's to read: it says nothing of what another caller had in the slot.
        return replace(report, displaced=0) if foreign else replace(report, saved=begun.saved)

    def rows(self, session: Session) -> int:
        """Rows in the session's memory."""
        return len(self._slots[session.slot].rows)

    def add(self, session: Session, ids: Ids) -> None:
        """Notes the rows that a step added."""
        self._slots[session.slot].rows.extend(ids)

    def keep(self, session: Session, place: Place) -> tuple[Saved, ...]:
        """Keeps what the policy wants kept of the session's memory as it is now."""
        slot = self._slots[session.slot]
        marked = self._keeper.mark(slot) if place.mark else ()
        saved = self._keeper.save(slot, place.save, place.trimmed) if place.save else ()
        if any(made.tier is SaveTier.DISK for made in saved):
            slot.written = len(slot.rows)
        return (*marked, *saved)

    def rest(self) -> None:
        """For when there is nothing to do: writes one conversation that has grown, so that a crash costs
        little."""
        now, least = self._clock.now(), REST_ROWS[self._engine.caps.trim]
        for slot in self._slots:
            grown = len(slot.rows) - slot.written
            if slot.free and now - slot.used >= REST_SECONDS and grown >= least:
                slot.written = len(slot.rows)
                if self._keeper.save(slot, SaveReason.REST):
                    return

    def faults(self) -> list[str]:
        """Where the books and the engine disagree: slots whose rows are not the positions held.

        What an empty slot holds is nobody's: it is replaced before it is built upon.
        """
        found = self._stock.faults()
        for slot in self._slots:
            held = self._engine.frontier(slot.index).pos_max + 1
            if not slot.empty and held != len(slot.rows):
                found.append(f"slot {slot.index} has {len(slot.rows)} rows in the books and {held} in memory")
        return found

    def books(self) -> tuple[tuple[int, ...] | None, ...]:
        """The row ids each slot should hold, None for an empty one; for tests."""
        return tuple(None if slot.empty else tuple(slot.rows.view().tolist()) for slot in self._slots)

    def persist(self) -> None:
        """Writes what every slot holds to disk, if there is one."""
        self._keeper.persist(self._slots)

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

    def _written(self, base: Base | None) -> int:
        """Rows of the memory that are on disk."""
        if base is None:
            return 0
        if base.kind is Kind.SLOT:
            return self._slots[base.slot].written
        return base.held if self._stock.on_disk(base.key) else 0

    def _unread(self, base: Base | None) -> tuple[str, ...]:
        if base is None:
            return ()
        keys = [] if base.kind is Kind.SLOT else [base.key]
        if base.reuse.mark is not None:
            keys.append(base.reuse.mark.key)
        return tuple(key for key in keys if self._stock.where(key) is Kind.DISK)


def _origin(stock: Stock, base: Base | None, report: CacheReport) -> CacheReport:
    """What was fetched for this request came from disk, though it is in RAM by now."""
    if base is None or not base.key:
        return report
    source = CacheSource.DISK if stock.fetched(base.key) else report.source
    return replace(report, source=source, other_quant=stock.other_quant(base.key))


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
        prompt=session.plan.rows,
        prefilled=session.prefilled,
        generated=session.generated,
    )
