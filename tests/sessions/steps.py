"""Which request of a recording goes on from which, and what an agent did itself that costs something."""

from dataclasses import dataclass, field
from itertools import pairwise

from ds4.core.usage import MissReason

TOOLS = frozenset({MissReason.TOOLS_CHANGED})
PREAMBLE = frozenset({MissReason.PREAMBLE_CHANGED})
EDITED = frozenset({MissReason.EDITED})


@dataclass(frozen=True)
class Step:
    """Request `number` of a recording.

    - `after`: the request whose answer it carries, behind the same history. Such a turn costs what is new.
    - `own`: in words, why the agent's request is not that: it edits its history, or asks something else.
    - `reasons`: what the server says of it where the memory can be cut back to any length.
    """

    number: int
    after: int | None = None
    own: str = ""
    reasons: frozenset[MissReason] = frozenset({MissReason.NONE})


@dataclass(frozen=True)
class Session:
    """A conversation of `recording`, with what else was asked meanwhile."""

    recording: str
    steps: tuple[Step, ...]
    name: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", f"{self.recording}-{self.steps[0].number}")


def first(number: int) -> tuple[Step, ...]:
    return (Step(number, own="the first request"),)


def chain(*numbers: int) -> tuple[Step, ...]:
    """Each goes on from the one before."""
    return (*first(numbers[0]), *(Step(number, after) for after, number in pairwise(numbers)))


CLAUDE = (
    Session("claude-basic", chain(0, 1)),
    Session("claude-old", chain(1, 2)),
    Session("claude-bare", chain(0, 1)),
    Session("claude-nobetas", chain(0, 1)),
    Session(
        "claude-tools",
        (
            *chain(0, 1, 2, 3, 4, 5),
            # Too short for a mark behind its system text.
            Step(6, own="the search that WebSearch asks for", reasons=EDITED | PREAMBLE),
            Step(7, 5),
            Step(8, 7),
            Step(9, own="a sub-agent", reasons=TOOLS),
            Step(10, 8),
        ),
    ),
    Session(
        "claude-compact",
        (
            *chain(0, 1),
            Step(2, own="compaction: reminders are left out of the first message", reasons=EDITED),
            Step(3, own="compaction again, in other words", reasons=EDITED),
            Step(4, own="a summary in the place of the conversation", reasons=EDITED),
        ),
    ),
)
CODEX = (
    Session("codex-basic", chain(0, 1)),
    Session("codex-0130", chain(0, 1)),
    Session("codex-tools", (*chain(0, 1, 2, 3, 4, 5), Step(6, own="a sub-agent", reasons=TOOLS))),
    Session("codex-gpt55", chain(0, 1, 2)),
    Session(
        "codex-compact",
        (
            *first(0),
            Step(1, own="compaction: the same history without tools", reasons=PREAMBLE),
            Step(2, own="a summary in the place of the answers", reasons=EDITED),
        ),
    ),
)
# Whether tools or system text come first is the family's.
TITLE = (
    Step(0, own="a title, before anything else"),
    Step(1, own="the first request", reasons=TOOLS | PREAMBLE),
)
OPENCODE = tuple(
    Session(f"opencode-{api}", (*TITLE, *chain(1, 2, 3, 4)[1:])) for api in ("chat", "messages", "responses")
)
PI = tuple(Session(f"pi-{api}", chain(0, 1, 2, 3)) for api in ("chat", "messages", "responses"))
FRAMEWORKS = (
    Session("aider", (*first(0), Step(1, own="a commit message", reasons=PREAMBLE))),
    Session("agents", chain(0, 1)),
    *(Session("lc", chain(number, number + 1)) for number in (0, 4, 8, 12)),
    *(Session("litellm", chain(number, number + 1)) for number in (2, 6, 10, 14)),
    *(Session("pyd", chain(number, number + 1)) for number in (0, 4, 8)),
    *(Session("sdk-js", chain(number, number + 1)) for number in (9, 13, 17, 21)),
)
SESSIONS = (*CLAUDE, *CODEX, *OPENCODE, *PI, *FRAMEWORKS)
