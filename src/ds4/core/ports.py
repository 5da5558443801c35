"""The protocols at which packages meet.

Two seams: `Backend` is session level (a job in, events out), `Engine` is step level.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from ds4.core.events import Event, Fed
from ds4.core.sampling import Sampled, Sampling
from ds4.core.status import Status
from ds4.core.step import (
    Caps,
    Frontier,
    MemoryUse,
    ModelInfo,
    Snapshot,
    SnapshotKind,
    StepPlan,
    StepResult,
)

if TYPE_CHECKING:
    from ds4.core.job import Job

Logits = NDArray[np.float32]
Allowed = NDArray[np.bool_]
"""One flag per token of the vocabulary."""


class Clock(Protocol):
    def now(self) -> float:
        """Monotonic seconds."""

    def wall(self) -> float:
        """Seconds since the epoch."""


class Ids(Protocol):
    def new(self, prefix: str) -> str:
        """`prefix` and an unguessable tail."""


class Tokenizer(Protocol):
    """Thread safe."""

    @property
    def n_vocab(self) -> int: ...

    @property
    def bos(self) -> int | None:
        """The token to put first, None when the vocabulary asks for none."""

    @property
    def eos(self) -> int | None: ...

    @property
    def controls(self) -> Mapping[str, int]:
        """Spelling -> id of every CONTROL and USER_DEFINED entry that is not blank."""

    def encode_plain(self, text: str) -> list[int]:
        """Never yields a control token, whatever `text` spells. No BOS."""

    def encode_raw(self, text: str) -> list[int]:
        """Control spellings become control tokens: for callers who own the whole text. No BOS."""

    def piece(self, token: int) -> bytes:
        """The bytes a token stands for; a control token gives its spelling."""

    def is_control(self, token: int) -> bool:
        """CONTROL only: what is never visible text. USER_DEFINED entries may be ordinary words."""

    def is_eog(self, token: int) -> bool: ...


@dataclass(frozen=True, slots=True)
class Mark:
    """An opaque point in a sampler's history."""

    value: object


class Sampler(Protocol):
    """Owned by one request. `sample` reads, `accept` and `rollback` change state."""

    def sample(self, logits: Logits, *, greedy: bool = False, allowed: Allowed | None = None) -> Sampled:
        """Does not accept. `logits` is only valid during the call and must not be changed.

        With `allowed` only those tokens can be chosen; logprobs stay the model's own.
        """

    def accept(self, token: int) -> None: ...

    def mark(self) -> Mark: ...

    def rollback(self, mark: Mark) -> None: ...


class Guide(Protocol):
    """What one answer may still become, under a constraint. Owned by one request, used on the engine thread.

    Raises EngineError when the constraint grew too complex, or was not kept: then nothing more can be said.
    """

    def allows(self, token: int) -> bool:
        """Whether `token` may come next. End tokens may where the answer can end."""

    def allowed(self) -> Allowed:
        """All that may come next; never nothing."""

    def accept(self, token: int) -> None:
        """`token`, which is allowed and no end token, has come."""

    def forced(self) -> tuple[int, ...]:
        """The tokens that must come next, whatever is sampled. They are not accepted yet."""

    @property
    def done(self) -> bool:
        """Nothing but an end token may follow."""

    def mark(self) -> Mark: ...

    def rollback(self, mark: Mark) -> None: ...


class Engine(Protocol):
    """Runs tokens step by step. Every method belongs to the one engine thread.

    All methods raise EngineError. Slots are 0..n_slots-1.
    """

    @property
    def info(self) -> ModelInfo: ...

    @property
    def caps(self) -> Caps: ...

    @property
    def tokenizer(self) -> Tokenizer: ...

    def sampler(self, sampling: Sampling, prompt: Sequence[int]) -> Sampler:
        """A fresh sampler; `prompt` feeds the repeat penalty. Raises BadRequest on a bad logit_bias id."""

    def step(self, plan: StepPlan) -> StepResult:
        """Mutates the slots named in `plan`, also when it raises: then clear them."""

    def copy(self, source: int, target: int) -> None:
        """Replaces the whole of `target` by the whole of `source`."""

    def trim(self, slot: int, rows: int) -> bool:
        """Keeps the first `rows` rows. False and unchanged where the memory class cannot."""

    def clear(self, slot: int) -> None: ...

    def export(self, slot: int, kind: SnapshotKind) -> Snapshot:
        """The slot as it is. Belongs to no slot: equal `info.identity` is all that loading it needs.

        PARTIAL is all of it where any trim is possible, so only worth taking for Trim.WINDOW and BOUNDARY.
        """

    def load(self, slot: int, snapshot: Snapshot) -> None:
        """FULL replaces the slot's memory. Refused, it raises and leaves the slot empty, and no other.

        PARTIAL goes back to its rows, in every memory class: into any slot that holds at least those rows of
        the same tokens, however they came there (steps, copy, load) and however far it has gone on.
        """

    def frontier(self, slot: int) -> Frontier: ...

    def memory(self) -> MemoryUse: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Piece:
    """One sampled token as the parser sees it."""

    data: bytes
    id: int
    control: bool
    sampled: Sampled | None = None


class Reader(Protocol):
    """Turns one answer's pieces into events. Sans-IO; never raises on model output."""

    def feed(self, piece: Piece) -> Fed: ...

    def flush(self, *, cut: bool = False) -> Fed:
        """Everything held back, at the end of the answer.

        `cut`: the model was not done (a limit, a shutdown), so nothing is completed for it. A stop
        in the hint says better than the end token why the answer ended.
        """


class EventStream(Protocol):
    """One request's events, read by one coroutine."""

    async def batch(self) -> tuple[Event, ...]:
        """The next events, at least one; the last one ever is Finish or Failed.

        After `Backend.cancel` nothing more comes: the reader must not wait any longer.
        """


class Backend(Protocol):
    """Answers jobs. Called on the event loop; never blocks it."""

    def submit(self, job: "Job") -> EventStream:
        """Raises ContextOverflow, Overloaded or Unavailable."""

    def cancel(self, job_id: str) -> None:
        """Stops within one step. Unknown ids are ignored."""

    def status(self) -> Status: ...
