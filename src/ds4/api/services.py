"""What the endpoints need from the rest of the program, handed in once at start."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from ds4.api.access import Access
from ds4.api.normalise import ALL_NORMALISED, AsSent
from ds4.api.responses.store import MemoryStore, ResponseStore
from ds4.api.workers import Workers
from ds4.core.constraint import Constraint
from ds4.core.job import JobKind
from ds4.core.messages import Conversation, Tool
from ds4.core.plan import PromptPlan
from ds4.core.ports import Backend, Clock, Guide, Ids, Reader, Tokenizer
from ds4.observe.records import Observer
from ds4.observe.requests import Journal

T = TypeVar("T")


class Renderer(Protocol):
    """Thread safe. Both methods raise BadRequest or TemplateError."""

    def render(self, conversation: Conversation) -> PromptPlan: ...

    def raw(self, prompt: str | tuple[int, ...], *, namespace: str = "") -> PromptPlan:
        """No template; control spellings are the caller's. Never an empty plan."""


class Runner(Protocol):
    """Does slow work away from the event loop."""

    async def __call__(self, work: Callable[[], T], /) -> T: ...


@dataclass(frozen=True, slots=True)
class Wished:
    """What an answer's reader and its guide must know. The end of `plan` says whether the answer begins
    inside reasoning; `thinks` is what the request says about it. `tokens`: each text names the sampled
    tokens it comes from. `begun` is the answer's own text at the end of the prompt, where it is continued."""

    kind: JobKind
    plan: PromptPlan
    stops: tuple[str, ...] = ()
    tools: tuple[Tool, ...] = ()
    tokens: bool = False
    constraint: Constraint | None = None
    thinks: bool | None = None
    begun: str = ""


ReaderFactory = Callable[[Wished], Reader]
"""A fresh reader for one answer."""
GuideFactory = Callable[[Wished], Guide | None]
"""A fresh guide for one answer, None without a constraint. Slow the first time. Raises BadRequest."""


@dataclass(frozen=True, slots=True)
class Alias:
    """Another name of the model. `thinking` is its default when the request says nothing."""

    id: str
    thinking: bool | None = None


@dataclass(frozen=True, slots=True)
class ModelCard:
    """`max_tokens` is the output limit of a request that names none."""

    id: str
    name: str
    n_ctx: int
    max_tokens: int
    aliases: tuple[Alias, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return (self.id, *(alias.id for alias in self.aliases if alias.id != self.id))

    def alias(self, name: str) -> Alias:
        return next((alias for alias in self.aliases if alias.id == name), Alias(name))


@dataclass(frozen=True, slots=True)
class Limits:
    """`inline_bytes`: larger bodies are parsed in a worker. `json_depth` is as deep as orjson can write
    again what it has read; `json_marks` counts commas and opening brackets, in strings too. Times in
    seconds.

    `body_patience` is the longest silence while a body is read; `heartbeat` the longest
    silence while an answer is streamed.
    """

    body_bytes: int = 64 * 1024 * 1024
    json_depth: int = 254
    json_marks: int = 1_000_000
    inline_bytes: int = 16 * 1024
    body_patience: float = 30.0
    heartbeat: float = 10.0


def _unguided(_wished: Wished) -> None:
    return None


def _unknown() -> int:
    """Of pieces of any length: then no text is too long."""
    return sys.maxsize


@dataclass(frozen=True, slots=True)
class Services:
    """`started` is `clock.now()` of the start, and `journal` is on that clock. `run` and `sleep` are replaced
    in tests.

    `longest_piece` gives the size in bytes of the vocabulary's longest piece; it may take its time.

    `as_sent` names what is not normalised (`ds4.api.normalise`).
    """

    backend: Backend
    renderer: Renderer
    reader: ReaderFactory
    tokenizer: Tokenizer
    card: ModelCard
    clock: Clock
    ids: Ids
    observe: Observer
    journal: Journal
    version: str
    started: float
    access: Access = field(default_factory=Access)
    limits: Limits = Limits()
    longest_piece: Callable[[], int] = _unknown
    as_sent: AsSent = ALL_NORMALISED
    guide: GuideFactory = _unguided
    responses: ResponseStore = field(default_factory=MemoryStore)
    run: Runner = field(default_factory=Workers)
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
