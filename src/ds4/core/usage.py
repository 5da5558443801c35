"""What a request cost, and what the cache did for it."""

from dataclasses import dataclass
from enum import StrEnum


class CacheSource(StrEnum):
    NONE = "none"
    LIVE = "live"
    """Rows were still in the slot that ran the request."""
    COPIED = "copied"
    """Rows of another slot, copied."""
    RAM = "ram"
    """A parked state."""
    DISK = "disk"
    """A checkpoint from the cache directory."""


class MissReason(StrEnum):
    """Why less than the whole known prefix was reused. A closed list: new reasons are added here."""

    NONE = "none"
    """Nothing better was known, or all of it was reused."""
    EDITED = "edited"
    """The prompt differs from what is held, after its tools and system text."""
    TOOLS_CHANGED = "tools_changed"
    """The prompt differs within its tools: in which there are, their order, or their text."""
    PREAMBLE_CHANGED = "preamble_changed"
    """The prompt differs within its leading system text, or somewhere before it ends where it is not known
    where the tools stand."""
    CANNOT_REWIND = "cannot_rewind"
    """The prefix is common, but this memory class cannot be cut back to it."""
    NOT_WORTH_IT = "not_worth_it"
    """Reusing it would take longer, here or for the conversations it displaces, than computing it."""
    DAMAGED = "damaged"
    """What was kept could not be read or loaded; it is not used again."""


class SaveReason(StrEnum):
    """Why a state is kept."""

    COLD = "cold"
    """A first prompt, at its last place worth returning to."""
    CONTINUED = "continued"
    """Another interval of tokens is in the memory."""
    BOUNDARY = "boundary"
    """A place in the prompt that the next one may go back to."""
    REST = "rest"
    """Nothing else was to be done, and the conversation has grown."""
    EVICT = "evict"
    """Another conversation takes the slot."""
    SHUTDOWN = "shutdown"


class SaveTier(StrEnum):
    RAM = "ram"
    DISK = "disk"


@dataclass(frozen=True, slots=True)
class Saved:
    """A state of `rows` rows was kept; on disk it is written a little later."""

    reason: SaveReason
    tier: SaveTier
    rows: int
    size: int


class Part(StrEnum):
    """A part of a prompt."""

    TOOLS = "tools"
    PREAMBLE = "preamble"
    """The leading system text, with the tools where it is not known where they stand."""
    MESSAGES = "messages"


@dataclass(frozen=True, slots=True)
class Difference:
    """Where the prompt leaves the best known prefix: row `row`, in message `message` where that is known.

    `held` and `wanted` are the two texts around it; `first` is the row of the first of their ids.
    """

    row: int
    message: int | None
    held: str
    wanted: str
    first: int = 0
    held_ids: tuple[int, ...] = ()
    wanted_ids: tuple[int, ...] = ()
    part: Part = Part.MESSAGES


class Unlike(StrEnum):
    """Why an answer of the history is rendered as the client sent it, though its tokens are known."""

    TEXT = "text_changed"
    CALLS = "calls_changed"
    """Other tools, or another number or order of calls."""
    ARGUMENTS = "arguments_changed"
    REASONING = "reasoning_changed"
    REASONING_LEFT_OUT = "reasoning_left_out"
    """The template leaves its reasoning out, and the operator wants that."""
    NO_PLACE = "no_place"
    """Where it ends in the template's text could not be told."""


@dataclass(frozen=True, slots=True)
class AsSent:
    """The client's message `message` (its first, where one answer is several) was not replayed."""

    message: int
    why: Unlike


@dataclass(frozen=True, slots=True)
class Replay:
    """`turns` answers of the history stand there as they were sampled; those `refused` are known, too.

    `behind`: so many answers behind the first one refused are as sent because nothing is known behind the
    rows that are in front of them now.
    """

    turns: int = 0
    refused: tuple[AsSent, ...] = ()
    behind: int = 0


@dataclass(frozen=True, slots=True)
class CacheReport:
    """`reused` + `computed` = prompt rows. `common` is the longest known prefix of the prompt.

    - `held`: how many rows the memory with that prefix has.
    - `restored_bytes`, `restore_seconds`: what reading and loading took. `waited_seconds`: how long another
      request's prefill of the same prefix was waited for.
    - `rewound`: a saved boundary was needed to go back. `healed`: the prefix was found by its text, its
      tokens are others than those that the client's text is encoded to.
    - `displaced`: rows of a prompt that left the slot, another conversation's or an older course of this one.
    - `saved`: what was kept on the way, displaced rows included.
    - `other_quant`: the quantisation of a source that is not this model's.
    - `normalised`: what was left out of the client's prompt. `replay`: what its history was replaced by.
    """

    source: CacheSource = CacheSource.NONE
    reused: int = 0
    computed: int = 0
    common: int = 0
    reason: MissReason = MissReason.NONE
    held: int = 0
    restored_bytes: int = 0
    restore_seconds: float = 0.0
    waited_seconds: float = 0.0
    rewound: bool = False
    healed: bool = False
    displaced: int = 0
    saved: tuple[Saved, ...] = ()
    difference: Difference | None = None
    other_quant: str = ""
    normalised: tuple[str, ...] = ()
    replay: Replay = Replay()

    @property
    def changed(self) -> Part | None:
        """The part that the prompt differs in, where `reason` names something else."""
        named = (MissReason.EDITED, MissReason.TOOLS_CHANGED, MissReason.PREAMBLE_CHANGED)
        return None if self.difference is None or self.reason in named else self.difference.part


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts. `completion` counts all sampled tokens but the end token."""

    prompt: int
    cached: int
    completion: int
    reasoning: int = 0

    @property
    def total(self) -> int:
        return self.prompt + self.completion
