"""The requests of this run that are waiting, running, or among the last to end.

Rules:
- One thread writes: records of requests all come from the engine thread. Others are not looked at.
- Any thread reads, without a lock, and nobody waits for anybody: an entry never changes, each record replaces
  one in a single dict operation, and a reader copies the dict in another. Both are atomic in CPython.
- Only what has ended is forgotten. What waits or runs is bounded by the queue.
"""

from collections import deque
from dataclasses import dataclass, replace
from enum import StrEnum

from ds4.core.ports import Clock
from ds4.core.usage import CacheReport
from ds4.observe.records import (
    Decoding,
    Finished,
    PrefillChunk,
    PromptDone,
    PromptStarted,
    Queued,
    Record,
    RequestRecord,
    Subject,
)

CAPACITY = 1000
"""Requests that ended."""


class RequestState(StrEnum):
    QUEUED = "queued"
    PREFILL = "prefill"
    DECODE = "decode"
    FINISHED = "finished"
    CANCELLED = "cancelled"
    FAILED = "failed"


_ENDS = {"cancelled": RequestState.CANCELLED, "error": RequestState.FAILED}


@dataclass(frozen=True, slots=True)
class Times:
    """In monotonic seconds, None for what has not come: submitted, given a slot, prompt computed, ended.

    `counted` is when the generated tokens were last told.
    """

    submitted: float
    started: float | None = None
    prompted: float | None = None
    counted: float | None = None
    ended: float | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """One request so far. `created` in seconds since the epoch; `prefilled` prompt rows are in the slot.

    `generated` is told every 50 tokens and at the end; `forced` and `finish` at the end.
    """

    subject: Subject
    created: float
    times: Times
    state: RequestState = RequestState.QUEUED
    slot: int | None = None
    report: CacheReport = CacheReport()  # noqa: RUF009  (frozen)
    prefilled: int = 0
    generated: int = 0
    forced: int = 0
    finish: str | None = None
    error: str | None = None


class Journal:
    """An Observer. Keeps all requests that have not ended, and the last `capacity` that have."""

    def __init__(self, clock: Clock, *, capacity: int = CAPACITY) -> None:
        self._clock = clock
        self._capacity = capacity
        self._entries: dict[str, Entry] = {}
        self._ended: deque[str] = deque()

    def __call__(self, record: Record) -> None:
        if not isinstance(record, RequestRecord):
            return
        job, now = record.subject.job, self._clock.now()
        known = self._entries.get(job)
        if known is None:
            known = Entry(record.subject, self._clock.wall(), Times(now))
        self._entries[job] = after(known, record, now)
        if isinstance(record, Finished):
            self._retire(job)

    def entries(self) -> tuple[Entry, ...]:
        """Newest first."""
        return tuple(reversed(self._entries.copy().values()))

    def find(self, job: str) -> Entry | None:
        return self._entries.get(job)

    def _retire(self, job: str) -> None:
        self._ended.append(job)
        if len(self._ended) > self._capacity:
            self._entries.pop(self._ended.popleft(), None)


def after(entry: Entry, record: RequestRecord, now: float) -> Entry:
    """The entry once `record` has come, at `now`."""
    entry = replace(entry, subject=record.subject)
    times = entry.times
    match record:
        case Queued():
            return entry
        case PromptStarted():
            return replace(
                entry,
                state=RequestState.PREFILL,
                times=replace(times, started=now),
                slot=record.slot,
                report=record.report,
                prefilled=record.subject.reused,
            )
        case PrefillChunk():
            return replace(entry, prefilled=record.subject.reused + record.done)
        case PromptDone():
            return replace(entry, state=RequestState.DECODE, times=replace(times, prompted=now))
        case Decoding():
            return replace(entry, generated=record.generated, times=replace(times, counted=now))
        case Finished():
            return replace(
                entry,
                state=_ENDS.get(record.finish, RequestState.FINISHED),
                times=replace(times, counted=now, ended=now),
                report=record.report,
                generated=record.generated,
                forced=record.forced,
                finish=record.finish,
                error=record.error,
            )
