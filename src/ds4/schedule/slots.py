"""Slots and what they hold. Rules: all residency changes are in TRANSITIONS; an illegal one raises
and changes nothing. A slot's rows and namespace stay after a request ends: that is the cache."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from ds4.kv.rows import RowLog
from ds4.schedule.session import IllegalTransition, Session


class Residency(StrEnum):
    EMPTY = "empty"
    BUSY = "busy"
    IDLE = "idle"
    """Holds rows of a request that has ended."""


class Change(StrEnum):
    LEASE = "lease"
    RELEASE = "release"
    WIPE = "wipe"
    """The memory can no longer be trusted."""


TRANSITIONS: Mapping[tuple[Residency, Change], Residency] = MappingProxyType(
    {
        (Residency.EMPTY, Change.LEASE): Residency.BUSY,
        (Residency.IDLE, Change.LEASE): Residency.BUSY,
        (Residency.BUSY, Change.RELEASE): Residency.IDLE,
        (Residency.BUSY, Change.WIPE): Residency.EMPTY,
        (Residency.IDLE, Change.WIPE): Residency.EMPTY,
    }
)


class Slot:
    """`written` of its rows are on disk, or were when its conversation came in."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.residency = Residency.EMPTY
        self.rows = RowLog()
        self.prompt = 0
        self.namespace = ""
        self.session: Session | None = None
        self.used = 0.0
        self.written = 0

    def _change(self, change: Change) -> None:
        target = TRANSITIONS.get((self.residency, change))
        if target is None:
            raise IllegalTransition(f"slot {self.index} is {self.residency} and cannot {change}")
        self.residency = target

    def lease(self, session: Session, reused: int, written: int = 0) -> None:
        """Gives the slot to `session`; its memory holds the first `reused` rows of the prompt."""
        self._change(Change.LEASE)
        plan = session.plan
        self.rows.become(plan.ids[:reused])
        self.written = min(written, reused)
        self.session = session
        self.prompt = plan.rows
        self.namespace = plan.namespace

    def release(self, now: float) -> None:
        self._change(Change.RELEASE)
        self.session = None
        self.used = now

    def wipe(self) -> None:
        self._change(Change.WIPE)
        self.session = None
        self.rows.truncate(0)

    @property
    def prompt_held(self) -> int:
        """How many of the rows are the last request's prompt; fewer than all when it was cut short."""
        return min(self.prompt, len(self.rows))

    @property
    def empty(self) -> bool:
        return self.residency is Residency.EMPTY

    @property
    def free(self) -> bool:
        return self.residency is not Residency.BUSY
