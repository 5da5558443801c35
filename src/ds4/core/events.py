"""What happens to a request, in order. Every API renders these, streamed or collected."""

from dataclasses import dataclass
from enum import StrEnum

from ds4.core.errors import Ds4Error
from ds4.core.sampling import Sampled
from ds4.core.usage import CacheReport, Usage


class FinishReason(StrEnum):
    STOP = "stop"
    """The model ended its turn, or a stop string was found (then `sequence` names it)."""
    LENGTH = "length"
    """max_tokens or the context is used up."""
    TOOL_CALLS = "tool_calls"
    SHUTDOWN = "shutdown"
    """The server was told to stop; the answer is cut."""


@dataclass(frozen=True, slots=True)
class Progress:
    """`done` of `total` prompt rows are in the memory (reused rows count as done)."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Reasoning:
    text: str


@dataclass(frozen=True, slots=True)
class Text:
    """Visible text. `tokens` are the sampled tokens it came from, when logprobs are wanted."""

    text: str
    tokens: tuple[Sampled, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolStart:
    index: int
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class ToolArgs:
    """A piece of the call's JSON arguments."""

    index: int
    text: str


@dataclass(frozen=True, slots=True)
class ToolEnd:
    index: int


@dataclass(frozen=True, slots=True)
class Finish:
    """Always the last event of an answer."""

    reason: FinishReason
    usage: Usage
    report: CacheReport
    sequence: str | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """The last event of a request that could not be answered."""

    error: Ds4Error


ParsedEvent = Reasoning | Text | ToolStart | ToolArgs | ToolEnd
Event = Progress | ParsedEvent | Finish | Failed


@dataclass(frozen=True, slots=True)
class Stop:
    """The parser has seen the end of the answer."""

    reason: FinishReason
    sequence: str | None = None


@dataclass(frozen=True, slots=True)
class Hint:
    """What the parser asks of the next sample."""

    greedy: bool = False
    constrain: bool = False
    stop: Stop | None = None


@dataclass(frozen=True, slots=True)
class Fed:
    """What one piece of output meant."""

    events: tuple[ParsedEvent, ...] = ()
    hint: Hint = Hint()
