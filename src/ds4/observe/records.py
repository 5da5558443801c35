"""What happened, as values. The scheduler hands them to an Observer; `observe.log` words them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ds4.core.usage import CacheReport, SaveReason


@dataclass(frozen=True, slots=True)
class Subject:
    """The request a record is about. `reused` of `prompt` rows came from the cache.

    `namespace` is its caller's; it is never shown.
    """

    job: str
    kind: str
    flags: tuple[str, ...]
    reused: int
    prompt: int
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class Queued:
    """The scheduler has the request; it waits for a slot, if only for a moment. Not logged."""

    subject: Subject


@dataclass(frozen=True, slots=True)
class PromptStarted:
    subject: Subject
    slot: int
    report: CacheReport


@dataclass(frozen=True, slots=True)
class PrefillChunk:
    """`done` of `total` rows of the new suffix; `rows` in this step, which took `seconds`."""

    subject: Subject
    done: int
    total: int
    rows: int
    seconds: float
    elapsed: float


@dataclass(frozen=True, slots=True)
class PromptDone:
    subject: Subject
    elapsed: float


@dataclass(frozen=True, slots=True)
class Decoding:
    """Every 50 tokens. `rate` over the last 50, `average` since the first; tokens per second."""

    subject: Subject
    generated: int
    rate: float
    average: float
    elapsed: float


@dataclass(frozen=True, slots=True)
class Finished:
    """`finish` is the finish reason, `cancelled` or `error`; `elapsed` since submission. `forced` of the
    generated tokens were not sampled, since the answer's constraint allowed no other."""

    subject: Subject
    generated: int
    finish: str
    elapsed: float
    error: str | None = None
    report: CacheReport = CacheReport()  # noqa: RUF009  (frozen)
    forced: int = 0


@dataclass(frozen=True, slots=True)
class Stored:
    """A checkpoint was written to the cache directory. `trimmed` rows were cut off its end first.

    `written` of its `size` bytes were new; the rest was there already.
    """

    reason: SaveReason
    rows: int
    trimmed: int
    key: str
    size: int
    written: int
    seconds: float


@dataclass(frozen=True, slots=True)
class StoreSkipped:
    """A checkpoint was not written."""

    reason: SaveReason
    rows: int
    why: str


@dataclass(frozen=True, slots=True)
class CheckpointHit:
    """A checkpoint was read and loaded. `quant` is its own quantisation."""

    rows: int
    key: str
    quant: str
    seconds: float
    size: int


@dataclass(frozen=True, slots=True)
class CheckpointEvicted:
    why: str
    rows: int
    hits: int
    size: int
    key: str


@dataclass(frozen=True, slots=True)
class LoadFailed:
    """`quarantined`: it was put aside and is not read again."""

    key: str
    why: str
    quarantined: bool


@dataclass(frozen=True, slots=True)
class Notice:
    """A line about the server itself."""

    text: str
    level: Literal["info", "warning", "error"] = "info"


CacheRecord = Stored | StoreSkipped | CheckpointHit | CheckpointEvicted | LoadFailed
RequestRecord = Queued | PromptStarted | PrefillChunk | PromptDone | Decoding | Finished
Record = RequestRecord | CacheRecord | Notice
Observer = Callable[[Record], None]
"""Must not block: it is called on the engine thread."""
