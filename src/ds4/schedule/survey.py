"""Looks around for a prompt: which slots are free, and which memories begin like it.

Rules:
- Nothing is changed here, but for slots whose books do not agree with the engine: those are emptied.
- A memory of another namespace is not seen.
- Where the tokens part, the text is looked at too (`kv.healing`): then the base comes with a plan of its own.
- With that plan more may be found: of a conversation's kept states each has its last answer's tokens only
  once. So it is looked again, ROUNDS times at most.
"""

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace

from ds4.core.errors import EngineError
from ds4.core.plan import Ids, PromptPlan
from ds4.core.ports import Clock, Engine
from ds4.core.step import SnapshotKind
from ds4.kv.checkpoint import Checkpoint
from ds4.kv.index import Match
from ds4.kv.prefix import Reuse, common_prefix, reusable, window_start
from ds4.schedule.keeper import Keeper
from ds4.schedule.place import Base, Kind, Target
from ds4.schedule.rewrite import Comparer, rewritten
from ds4.schedule.session import State
from ds4.schedule.slots import Slot
from ds4.schedule.stock import Stock

OFFERS = 4
"""So many kept states are looked at: the longest within the prompt; beyond it the nearest, and one far."""
ROUNDS = 4
HEALED = 3
"""Of so many memories, those that agree longest, the text is compared too."""


@dataclass(frozen=True, slots=True)
class _Sight:
    """A memory that has `common` rows with the prompt; `pos_min` as in `kv.prefix.reusable`."""

    base: Base
    common: int
    pos_min: int


class Surveyor:
    def __init__(
        self,
        engine: Engine,
        slots: Sequence[Slot],
        stock: Stock,
        keeper: Keeper,
        clock: Clock,
        compare: Comparer,
    ) -> None:
        self._engine = engine
        self._slots = slots
        self._stock = stock
        self._keeper = keeper
        self._clock = clock
        self._compare = compare
        self._row_bytes = engine.memory().kv_per_slot / engine.info.n_ctx

    def targets(self) -> list[Target]:
        now = self._clock.now()
        return [self._target(slot, now) for slot in self._slots if slot.free]

    def bases(self, plan: PromptPlan) -> list[Base]:
        match = self._stock.find(plan.namespace, plan.ids)
        found = self._fitting([*self._in_slots(plan), *self._kept(match)], plan, match)
        more = found
        for _ in range(ROUNDS):
            best = max((b for b in more if b.healed), key=lambda base: base.reuse.common, default=None)
            if best is None or best.healed is None:
                break
            more = self._seen_with(best.healed, {base.key for base in found})
            found = found + more
        return [base for base in found if base.reuse.common or base.growing_to]

    def _seen_with(self, healed: PromptPlan, seen: Container[str]) -> list[Base]:
        """The kept states that only this rewriting of the prompt leads to."""
        match = self._stock.find(healed.namespace, healed.ids)
        sights = [sight for sight in self._kept(match) if sight.base.key not in seen]
        return [replace(b, healed=b.healed or healed) for b in self._fitting(sights, healed, match)]

    def _fitting(self, sights: list[_Sight], plan: PromptPlan, match: Match) -> list[Base]:
        marks = _marks(match)
        sights = sorted(sights, key=lambda sight: (sight.common, sight.base.held), reverse=True)
        return [self._fitted(sight, plan, marks, heals=n < HEALED) for n, sight in enumerate(sights)]

    def _target(self, slot: Slot, now: float) -> Target:
        rows = len(slot.rows)
        size = int(rows * self._row_bytes)
        keepable = self._keeper.keepable(rows, size)
        return Target(slot.index, rows, slot.prompt_held, now - slot.used, size, keepable)

    def _in_slots(self, plan: PromptPlan) -> Iterator[_Sight]:
        for slot in self._slots:
            if slot.namespace == plan.namespace and (len(slot.rows) or slot.session):
                sight = self._in_slot(slot, plan)
                if sight is not None:
                    yield sight

    def _in_slot(self, slot: Slot, plan: PromptPlan) -> _Sight | None:
        try:
            pos_min = self._engine.frontier(slot.index).pos_min
        except EngineError:
            # The engine and our books disagree: what is there cannot be trusted, but it can be cleared.
            if slot.free:
                slot.wipe()
            return None
        held = slot.rows.view()
        base = Base(
            Kind.SLOT,
            held.size,
            Reuse(0, 0),
            size=int(held.size * self._row_bytes),
            slot=slot.index,
            growing_to=_growing_to(slot, plan),
            ids=held,
        )
        return _Sight(base, common_prefix(held, plan.ids), pos_min)

    def _kept(self, match: Match) -> Iterator[_Sight]:
        within = [checkpoint for checkpoint in match.within if checkpoint.kind is SnapshotKind.FULL]
        beyond = (*match.beyond[: OFFERS - 1], *match.beyond[OFFERS - 1 :][-1:])
        for checkpoint in (*within[-OFFERS:], *beyond):
            if checkpoint.kind is SnapshotKind.FULL and checkpoint.rows <= self._engine.info.n_ctx:
                base = Base(
                    self._stock.where(checkpoint.key),
                    checkpoint.rows,
                    Reuse(0, 0),
                    size=checkpoint.size,
                    key=checkpoint.key,
                    ids=checkpoint.ids,
                )
                pos_min = window_start(checkpoint.rows, self._engine.caps)
                yield _Sight(base, min(match.common, checkpoint.rows), pos_min)

    def _fitted(self, sight: _Sight, plan: PromptPlan, marks: Sequence[Checkpoint], *, heals: bool) -> Base:
        """The base with what the prompt can reuse of it."""
        base, common, healed = sight.base, sight.common, None
        if heals and common < min(base.held, plan.rows - 1):
            healed = self._healed(base.ids, plan, common)
        if healed is not None:
            plan, common = healed
            marks = _marks(self._stock.find(plan.namespace, plan.ids[:common]))
        reuse = reusable(base.held, common, plan.rows - 1, self._engine.caps, sight.pos_min, marks)
        return replace(
            base, reuse=reuse, healed=plan if healed else None, mark_fetch=self._unread(reuse.mark)
        )

    def _healed(self, held: Ids, plan: PromptPlan, common: int) -> tuple[PromptPlan, int] | None:
        alike = self._compare(held, plan.ids, common)
        made = None if alike is None else rewritten(plan, held, common, alike)
        return (made, alike.held) if alike and made and made.rows < self._engine.info.n_ctx else None

    def _unread(self, mark: Checkpoint | None) -> int:
        """Bytes of a mark that lies on disk alone."""
        return mark.size if mark is not None and self._stock.where(mark.key) is Kind.DISK else 0


def _marks(match: Match) -> list[Checkpoint]:
    return [checkpoint for checkpoint in match.within if checkpoint.kind is SnapshotKind.PARTIAL]


def _growing_to(slot: Slot, plan: PromptPlan) -> int:
    """The rows of `plan` that a request still in prefill will have computed; 0 where it has them already."""
    session = slot.session
    if session is None or session.state is not State.PREFILL:
        return 0
    common = min(common_prefix(session.plan.ids, plan.ids), plan.rows - 1)
    return common if common > len(slot.rows) else 0
