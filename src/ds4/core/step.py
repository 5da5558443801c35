"""The seam between scheduling and an engine: one step in, one result out."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ds4.core.errors import EngineError
from ds4.core.plan import Ids
from ds4.core.sampling import Sampled

if TYPE_CHECKING:
    from ds4.core.ports import Sampler


class Trim(StrEnum):
    """How far back a slot's memory can be cut."""

    ANY = "any"
    """To any length (plain and DSA caches)."""
    WINDOW = "window"
    """To any length whose attention window is still there (SWA)."""
    BOUNDARY = "boundary"
    """Not at all, except to nothing or to a saved checkpoint (dsv4, hybrids)."""


@dataclass(frozen=True, slots=True)
class Caps:
    """What a loaded model's memory can do, found by probing it.

    `window` is the sliding window in rows, 0 without one. `batching_note` says why native
    batching is on or off. `min_quantum` is the family's smallest sensible prefill quantum.
    """

    trim: Trim
    native_batch: bool
    memory_class: str
    window: int = 0
    batching_note: str = ""
    min_quantum: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """Rows of one slot for one step.

    `rows` is token ids, or an embedding matrix [rows, n_embd]. `pos` is the position of the first
    row. With a `sampler`, the last row's logits are sampled; `greedy` makes that argmax.
    `draft` are guesses to verify after the last row.
    """

    slot: int
    pos: int
    rows: Ids | NDArray[np.float32]
    sampler: "Sampler | None" = None
    greedy: bool = False
    draft: tuple[int, ...] = ()


class StepKind(StrEnum):
    TOKENS = "tokens"
    EMBEDDINGS = "embeddings"


@dataclass(frozen=True, slots=True, eq=False)
class StepPlan:
    """`ordered` runs the works one after the other instead of in one batch."""

    works: tuple[Work, ...]
    kind: StepKind = StepKind.TOKENS
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one work gave: 0..k tokens, and how many of its rows (and drafts) stay in the memory.

    `error` is this work's own failure (its logits could not be sampled); the others of the step are sound.
    """

    tokens: tuple[Sampled, ...]
    rows_kept: int
    error: EngineError | None = None


@dataclass(frozen=True, slots=True)
class StepResult:
    """`outcomes` stand in the order of the plan's works."""

    outcomes: tuple[Outcome, ...]
    seconds: float


class SnapshotKind(StrEnum):
    FULL = "full"
    PARTIAL = "partial"
    """Only what cannot be rolled back (window, recurrent or compressor state)."""


@dataclass(frozen=True, slots=True)
class SnapshotPart:
    """The state of one context (the target's, a draft model's).

    `data` is one block that nobody changes. A memoryview (read-only, of bytes) spares a copy of what may be
    a gigabyte; it compares and hashes like the bytes.
    """

    context: str
    data: bytes | memoryview


@dataclass(frozen=True, slots=True)
class Snapshot:
    kind: SnapshotKind
    rows: int
    positions: int
    parts: tuple[SnapshotPart, ...]

    @property
    def size(self) -> int:
        """Bytes of all parts."""
        return sum(len(part.data) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Frontier:
    """What a slot's memory holds, by position; (-1, -1) when empty."""

    pos_min: int
    pos_max: int


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """Bytes. `workspace` is shared by all slots."""

    model: int
    kv_per_slot: int
    workspace: int


@dataclass(frozen=True, slots=True)
class Identity:
    """Whose state a snapshot is. Each part is a digest or a word; equal parts mean interchangeable states.

    `model`: architecture, shapes, tokenizer and norm weights, the same for every quantisation of one model.
    `quant`: the tensor types, and a sample of the weights. `layout`: library build, KV cell types and
    whatever else decides whether a snapshot can be loaded.
    """

    model: str
    quant: str
    layout: str


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What the loaded model is. `n_ctx` is rows per slot, `n_batch` rows per step at most.

    `notes` are sentences for whoever started the server: what was asked for and could not be had.
    """

    name: str
    arch: str
    family: str
    path: str
    n_ctx: int
    n_ctx_train: int
    n_slots: int
    n_batch: int
    n_vocab: int
    backend: str
    chat_template: str | None = None
    notes: tuple[str, ...] = ()
    identity: Identity = Identity("", "", "")
