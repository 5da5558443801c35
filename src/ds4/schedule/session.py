"""A request's life. Rules: all transitions are in TRANSITIONS; an illegal one raises and changes nothing."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from ds4.core.events import Hint
from ds4.core.job import Job
from ds4.core.ports import Sampler
from ds4.core.usage import CacheReport, Usage
from ds4.observe.records import Subject


class State(StrEnum):
    QUEUED = "queued"
    PREFILL = "prefill"
    DECODE = "decode"
    FINISHED = "finished"
    CANCELLED = "cancelled"
    FAILED = "failed"


class Step(StrEnum):
    """What can happen to a request."""

    ADMIT = "admit"
    PROMPT_DONE = "prompt_done"
    FINISH = "finish"
    CANCEL = "cancel"
    FAIL = "fail"


TRANSITIONS: Mapping[tuple[State, Step], State] = MappingProxyType(
    {
        (State.QUEUED, Step.ADMIT): State.PREFILL,
        (State.QUEUED, Step.CANCEL): State.CANCELLED,
        (State.QUEUED, Step.FAIL): State.FAILED,
        (State.PREFILL, Step.PROMPT_DONE): State.DECODE,
        (State.PREFILL, Step.CANCEL): State.CANCELLED,
        (State.PREFILL, Step.FAIL): State.FAILED,
        (State.DECODE, Step.FINISH): State.FINISHED,
        (State.DECODE, Step.CANCEL): State.CANCELLED,
        (State.DECODE, Step.FAIL): State.FAILED,
    }
)


class IllegalTransition(RuntimeError):
    pass


class Session:
    """One request while the scheduler has it. Belongs to the engine thread.

    `prefilled` of the prompt's rows are in the slot; `last` is the sampled token that is not there
    yet; `generated` of at most `limit` tokens were sampled, `reasoned` of them in reasoning.
    """

    def __init__(self, job: Job, limit: int, submitted: float) -> None:
        self.job = job
        self.limit = limit
        self.submitted = submitted
        self.state = State.QUEUED
        self.slot = -1
        self.sampler: Sampler | None = None
        self.stops: tuple[int, ...] = ()
        self.report = CacheReport()
        self.prefilled = 0
        self.served = 0
        self.started = submitted
        self.last = -1
        self.hint = Hint()
        self.generated = 0
        self.reasoned = 0
        self.in_reasoning = False
        self.decode_started = 0.0
        self.marked = 0.0

    def advance(self, step: Step) -> None:
        target = TRANSITIONS.get((self.state, step))
        if target is None:
            raise IllegalTransition(f"a request that is {self.state} cannot {step}")
        self.state = target

    @property
    def alive(self) -> bool:
        return self.state in (State.QUEUED, State.PREFILL, State.DECODE)

    @property
    def remaining(self) -> int:
        return self.job.plan.rows - self.prefilled

    @property
    def to_stop(self) -> int:
        """Rows up to the next stop; the prompt's end is always one."""
        ahead = (stop for stop in self.stops if stop > self.prefilled)
        return min(ahead, default=self.job.plan.rows) - self.prefilled

    @property
    def usage(self) -> Usage:
        return Usage(self.job.plan.rows, self.report.reused, self.generated, self.reasoned)

    @property
    def subject(self) -> Subject:
        job = self.job
        return Subject(job.id, job.kind, job.flags, self.report.reused, job.plan.rows)
