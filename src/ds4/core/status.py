"""What a server can say about itself at a moment, for /slots, /ready and the log."""

from dataclasses import dataclass
from enum import StrEnum


class Readiness(StrEnum):
    READY = "ready"
    LOADING = "loading"
    DRAINING = "draining"
    FAILED = "failed"
    """The last engine step failed; the next one that succeeds makes it ready again."""
    STALLED = "stalled"
    """The engine thread has not shown itself for too long."""


@dataclass(frozen=True, slots=True)
class SlotStatus:
    """`rows` are in the memory. `job` and `namespace` belong to the request that runs or ran there."""

    slot: int
    state: str
    rows: int
    namespace: str
    job: str | None = None
    phase: str | None = None
    prompt: int = 0
    prefilled: int = 0
    generated: int = 0


@dataclass(frozen=True, slots=True)
class Status:
    readiness: Readiness
    slots: tuple[SlotStatus, ...]
    queued: int
    n_ctx: int
    detail: str = ""
    capacity: int = 0
    """Requests that may run or wait at once; 0 when unknown."""
    retry_after: int = 1
    """Seconds after which a request that was refused for want of room may be sent again."""
