"""Looks around for a prompt: which slots are free, and which memories begin like it.

Rules:
- Nothing is changed here, but for slots whose books do not agree with the engine: those are emptied.
- A memory of another namespace is not seen.
- Where the tokens part, the text is looked at too (`kv.healing`): then the base comes with a plan of its own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ds4.core.errors import EngineError
from ds4.core.plan import Boundary, Ids, PromptPlan
from ds4.core.ports import Clock, Engine
from ds4.core.step import SnapshotKind
from ds4.kv.checkpoint import Checkpoint
from ds4.kv.healing import Healed, Spell, heal
from ds4.kv.index import Match
from ds4.kv.prefix import Reuse, common_prefix, reusable, window_start
from ds4.schedule.keeper import Keeper
from ds4.schedule.place import Base, Kind, Target
from ds4.schedule.session import State
from ds4.schedule.slots import Slot
from ds4.schedule.stock import Stock

OFFERS = 4
"""So many kept states are looked at: the longest within the prompt, and the nearest beyond it."""


class Surveyor:
    def __init__(
        self,
        engine: Engine,
        slots: Sequence[Slot],
        stock: Stock,
        keeper: Keeper,
        clock: Clock,
        spell: Spell,
    ) -> None:
        self._engine = engine
        self._slots = slots
        self._stock = stock
        self._keeper = keeper
        self._clock = clock
        self._spell = spell
        self._row_bytes = engine.memory().kv_per_slot / engine.info.n_ctx

    def targets(self) -> list[Target]:
        now = self._clock.now()
        return [self._target(slot, now) for slot in self._slots if slot.free]

    def bases(self, plan: PromptPlan) -> list[Base]:
        match = self._stock.find(plan.namespace, plan.ids)
        found = [*self._in_slots(plan, match), *self._kept(plan, match)]
        return [base for base in found if base.reuse.common or base.growing_to]

    def _target(self, slot: Slot, now: float) -> Target:
        rows = len(slot.rows)
        size = int(rows * self._row_bytes)
        keepable = self._keeper.keepable(rows, size)
        return Target(slot.index, rows, slot.prompt_held, now - slot.used, size, keepable)

    def _in_slots(self, plan: PromptPlan, match: Match) -> Iterator[Base]:
        for slot in self._slots:
            if slot.namespace == plan.namespace and (len(slot.rows) or slot.session):
                base = self._in_slot(slot, plan, match)
                if base is not None:
                    yield base

    def _in_slot(self, slot: Slot, plan: PromptPlan, match: Match) -> Base | None:
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
        return self._fitted(base, plan, match, common_prefix(held, plan.ids), pos_min)

    def _kept(self, plan: PromptPlan, match: Match) -> Iterator[Base]:
        whole = SnapshotKind.FULL
        within = [checkpoint for checkpoint in match.within if checkpoint.kind is whole][-OFFERS:]
        beyond = [checkpoint for checkpoint in match.beyond if checkpoint.kind is whole][:OFFERS]
        for checkpoint in (*within, *beyond):
            if checkpoint.rows > self._engine.info.n_ctx:
                continue
            kind = self._stock.where(checkpoint.key)
            base = Base(
                kind,
                checkpoint.rows,
                Reuse(0, 0),
                size=checkpoint.size,
                key=checkpoint.key,
                ids=checkpoint.ids,
            )
            pos_min = window_start(checkpoint.rows, self._engine.caps)
            yield self._fitted(base, plan, match, min(match.common, checkpoint.rows), pos_min)

    def _fitted(self, base: Base, plan: PromptPlan, match: Match, common: int, pos_min: int) -> Base:
        """The base with what the prompt can reuse of it."""
        healed = self._healed(base.ids, plan, common)
        if healed is not None:
            plan, common = healed
            match = self._stock.find(plan.namespace, plan.ids[:common])
        marks = [m for m in match.within if m.kind is SnapshotKind.PARTIAL and m.rows <= common]
        reuse = reusable(base.held, common, plan.rows - 1, self._engine.caps, pos_min, marks)
        return replace(
            base, reuse=reuse, healed=plan if healed else None, mark_fetch=self._unread(reuse.mark)
        )

    def _unread(self, mark: Checkpoint | None) -> int:
        """Bytes of a mark that lies on disk alone."""
        return mark.size if mark is not None and self._stock.where(mark.key) is Kind.DISK else 0

    def _healed(self, held: Ids, plan: PromptPlan, common: int) -> tuple[PromptPlan, int] | None:
        if common >= min(held.size, plan.rows - 1):
            return None
        found = heal(held, plan.ids, common, self._spell)
        if found is None:
            return None
        healed = self._rewritten(held, plan, found)
        return (healed, found.held) if healed.rows < self._engine.info.n_ctx else None

    def _rewritten(self, held: Ids, plan: PromptPlan, found: Healed) -> PromptPlan:
        bridge = np.asarray(
            self._engine.tokenizer.encode_plain(found.bridge) if found.bridge else [], np.int32
        )
        ids = np.concatenate([held[: found.held], bridge, plan.ids[found.wanted :]])
        ids.setflags(write=False)
        grown = ids.size - plan.rows
        boundaries = tuple(_moved(b, found, grown) for b in plan.boundaries if not found.parts(b.row))
        return replace(plan, ids=ids, boundaries=boundaries)


def _moved(boundary: Boundary, found: Healed, grown: int) -> Boundary:
    return boundary if boundary.row < found.wanted else replace(boundary, row=boundary.row + grown)


def _growing_to(slot: Slot, plan: PromptPlan) -> int:
    """The rows of `plan` that a request still in prefill will have computed; 0 where it has them already."""
    session = slot.session
    if session is None or session.state is not State.PREFILL:
        return 0
    common = min(common_prefix(session.plan.ids, plan.ids), plan.rows - 1)
    return common if common > len(slot.rows) else 0
