"""A request's life. Rules: all transitions are in TRANSITIONS; an illegal one raises and changes nothing."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from ds4.core.events import Hint
from ds4.core.job import Job
from ds4.core.ports import Sampler
from ds4.core.usage import CacheReport, Usage
from ds4.kv.policy import Place
from ds4.observe.records import Subject
from ds4.schedule.transcript import Transcript


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


@dataclass(frozen=True, slots=True)
class Hold:
    """Why a request that could start does not yet: `keys` are being read from disk, or the request `other`
    computes the same prompt up to row `rows`. `since` is when it began, on the scheduler's clock."""

    since: float
    keys: tuple[str, ...] = ()
    other: "Session | None" = None
    rows: int = 0


class Session:
    """One request while the scheduler has it. Belongs to the engine thread.

    `plan` is the job's, or the same text with tokens that the cache knows. `stops` are by row. It `waited`
    seconds for another's prefill; `damaged`: what it was to begin with could not be read or, `refusals`
    times, not be loaded; `reads`: it may still wait for a disk.
    `prefilled` of the prompt's rows are in the slot; `pending` are the answer's tokens that are not there
    yet, the last one sampled and what its constraint forced behind it; `generated` of at most `limit` tokens
    are there, `reasoned` of them in reasoning and `forced` of them not sampled.
    """

    def __init__(self, job: Job, limit: int, submitted: float) -> None:
        self.job = job
        self.plan = job.plan
        self.limit = limit
        self.submitted = submitted
        self.state = State.QUEUED
        self.slot = -1
        self.sampler: Sampler | None = None
        self.stops: dict[int, Place] = {}
        self.hold: Hold | None = None
        self.waited = 0.0
        self.damaged = False
        self.reads = True
        self.refusals = 0
        self.report = CacheReport()
        self.prefilled = 0
        self.served = 0
        self.started = submitted
        self.pending: list[int] = []
        self.hint = Hint()
        self.said = Transcript()
        self.generated = 0
        self.reasoned = 0
        self.forced = 0
        self.in_reasoning = False
        self.decode_started = 0.0
        self.marked = 0.0
        self.logged = 0

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
        return self.plan.rows - self.prefilled

    @property
    def to_stop(self) -> int:
        """Rows up to the next stop; the prompt's end is always one."""
        ahead = (row for row in self.stops if row > self.prefilled)
        return min(ahead, default=self.plan.rows) - self.prefilled

    @property
    def jumps(self) -> bool:
        """Forced tokens are taken without asking the model; not where it is to say how likely they were."""
        return self.job.guide is not None and self.job.sampling.logprobs is None

    @property
    def usage(self) -> Usage:
        return Usage(self.plan.rows, self.report.reused, self.generated, self.reasoned)

    @property
    def subject(self) -> Subject:
        job = self.job
        flags = (*job.flags, *(("CONSTRAINED",) if job.guide else ()))
        return Subject(job.id, job.kind, flags, self.report.reused, self.plan.rows, self.plan.namespace)
