"""What happened, as values. The scheduler hands them to an Observer; `observe.log` words them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ds4.core.usage import CacheReport


@dataclass(frozen=True, slots=True)
class Subject:
    """The request a record is about. `reused` of `prompt` rows came from the cache."""

    job: str
    kind: str
    flags: tuple[str, ...]
    reused: int
    prompt: int


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
    """`finish` is the finish reason, `cancelled` or `error`; `elapsed` since submission."""

    subject: Subject
    generated: int
    finish: str
    elapsed: float
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Notice:
    """A line about the server itself."""

    text: str
    level: Literal["info", "warning", "error"] = "info"


Record = PromptStarted | PrefillChunk | PromptDone | Decoding | Finished | Notice
Observer = Callable[[Record], None]
"""Must not block: it is called on the engine thread."""
