"""One answer to be made: what a Backend takes."""

from dataclasses import dataclass
from enum import StrEnum

from ds4.core.plan import PromptPlan
from ds4.core.ports import Guide, Reader
from ds4.core.sampling import Sampling


class JobKind(StrEnum):
    """The first word of a request's log lines."""

    CHAT = "chat"
    COMPLETION = "completion"


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """`max_tokens` is what the caller asked for; the scheduler clamps it to the context.

    `flags` are the words of the log line (TOOLS, THINKING, ...). `normalised` names what was left out of
    the client's prompt. `guide` holds the answer to a constraint.
    """

    id: str
    kind: JobKind
    plan: PromptPlan
    sampling: Sampling
    max_tokens: int
    reader: Reader
    flags: tuple[str, ...] = ()
    normalised: tuple[str, ...] = ()
    guide: Guide | None = None
