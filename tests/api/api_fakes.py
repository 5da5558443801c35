"""Stand-ins the tests of this folder share: a backend that replays, and time that moves when told."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
from starlette.types import ASGIApp

from ds4.api.access import Access
from ds4.api.app import build_app
from ds4.api.services import Limits, ModelCard, Services, Wished
from ds4.core.errors import Ds4Error
from ds4.core.events import Event, Fed, Finish, FinishReason
from ds4.core.job import Job, JobKind
from ds4.core.messages import Conversation
from ds4.core.plan import Origin, PromptPlan, Tokens
from ds4.core.ports import Allowed, Guide, Mark, Piece, Reader
from ds4.core.status import Readiness, SlotStatus, Status
from ds4.core.usage import CacheReport, CacheSource, Usage
from ds4.observe.records import Record
from ds4.observe.requests import Journal
from ds4.testing.asgi import Client
from ds4.testing.clock import FakeClock
from ds4.testing.ids import SequentialIds

T = TypeVar("T")
N_CTX = 100
CARD = ModelCard("tiny-model", "Tiny Model", N_CTX, 1000)


def finish(reason: FinishReason = FinishReason.STOP, sequence: str | None = None) -> Finish:
    report = CacheReport(CacheSource.LIVE, reused=3, computed=4, common=3)
    return Finish(reason, Usage(prompt=7, cached=3, completion=5, reasoning=2), report, sequence)


class Time(FakeClock):
    """A clock whose sleepers wake when it is advanced past them."""

    def __init__(self) -> None:
        super().__init__()
        self._sleepers: list[tuple[float, asyncio.Event]] = []

    async def sleep(self, seconds: float) -> None:
        wake = asyncio.Event()
        self._sleepers.append((self.now() + seconds, wake))
        await wake.wait()

    async def pass_(self, seconds: float) -> None:
        """Advances in one go, then lets everything that is due run."""
        await settle()
        self.advance(seconds)
        for due, wake in self._sleepers:
            if due <= self.now():
                wake.set()
        await settle()


async def settle() -> None:
    """Lets every task run until it waits for something from outside."""
    for _ in range(20):
        await asyncio.sleep(0)


class Stream:
    def __init__(self) -> None:
        self._batches: asyncio.Queue[tuple[Event, ...]] = asyncio.Queue()

    def push(self, *events: Event) -> None:
        self._batches.put_nowait(events)

    async def batch(self) -> tuple[Event, ...]:
        return await self._batches.get()


READY = Status(Readiness.READY, (SlotStatus(0, "idle", 12, "secret"),), queued=2, n_ctx=N_CTX)


class FakeBackend:
    """Replays `script` for every job, or `refusal`; a script without an end is continued with `push`."""

    def __init__(
        self,
        script: Iterable[tuple[Event, ...]] = (),
        refusal: Exception | None = None,
        stream: type[Stream] = Stream,
    ) -> None:
        self.script = tuple(script)
        self.refusal = refusal
        self.make_stream = stream
        self.jobs: list[Job] = []
        self.cancelled: list[str] = []
        self.state = READY
        self.streams: dict[str, Stream] = {}

    @property
    def stream(self) -> Stream:
        """The stream of the latest job."""
        return self.streams[self.jobs[-1].id]

    def submit(self, job: Job) -> Stream:
        if self.refusal is not None:
            raise self.refusal
        self.jobs.append(job)
        stream = self.streams[job.id] = self.make_stream()
        for batch in self.script:
            stream.push(*batch)
        return stream

    def cancel(self, job_id: str) -> None:
        self.cancelled.append(job_id)

    def status(self) -> Status:
        return self.state


class FakeRenderer:
    """One row per character."""

    def __init__(self, error: Ds4Error | None = None) -> None:
        self.error = error
        self.conversations: list[Conversation] = []
        self.prompts: list[str | tuple[int, ...]] = []

    def render(self, conversation: Conversation) -> PromptPlan:
        if self.error is not None:
            raise self.error
        self.conversations.append(conversation)
        text = "".join(f"[{message.role}]{message.text}" for message in conversation.messages)
        return _plan(text, conversation.namespace)

    def raw(self, prompt: str | tuple[int, ...], *, namespace: str = "") -> PromptPlan:
        self.prompts.append(prompt)
        return _plan(prompt if isinstance(prompt, str) else "".join(map(chr, prompt)), namespace)


def _plan(text: str, namespace: str) -> PromptPlan:
    return PromptPlan.of([Tokens(tuple(map(ord, text)), Origin.PLAIN)], text=text, namespace=namespace)


class ByteTokenizer:
    """256 bytes, then `<bos>`, which only raw encoding recognises."""

    n_vocab = 257
    bos: int | None = 256
    eos: int | None = None
    controls: Mapping[str, int] = {"<bos>": 256}

    def encode_plain(self, text: str) -> list[int]:
        return list(text.encode())

    def encode_raw(self, text: str) -> list[int]:
        pieces = text.split("<bos>")
        tokens = list(pieces[0].encode())
        for piece in pieces[1:]:
            tokens += [256, *piece.encode()]
        return tokens

    def piece(self, token: int) -> bytes:
        return b"<bos>" if token == 256 else bytes([token])

    def is_control(self, token: int) -> bool:
        return token == 256

    def is_eog(self, token: int) -> bool:  # noqa: ARG002
        return False


@dataclass(frozen=True)
class DeafReader:
    """Remembers what it was made for; the fake backend never feeds it."""

    kind: JobKind
    stops: tuple[str, ...]
    want_tokens: bool = False

    def feed(self, piece: Piece) -> Fed:  # noqa: ARG002
        return Fed()

    def flush(self, *, cut: bool = False) -> Fed:  # noqa: ARG002
        return Fed()


def deaf_reader(wished: Wished) -> Reader:
    return DeafReader(wished.kind, wished.stops, wished.tokens)


@dataclass(frozen=True, eq=False)
class NotedGuide:
    """Remembers what it was made for; the fake backend never asks it."""

    wished: Wished

    @classmethod
    def of(cls, wished: Wished) -> "NotedGuide | None":
        return None if wished.constraint is None else cls(wished)

    @property
    def done(self) -> bool:
        return False

    def allows(self, token: int) -> bool:  # noqa: ARG002
        return True

    def allowed(self) -> Allowed:
        return np.ones(1, dtype=np.bool_)

    def accept(self, token: int) -> None: ...

    def forced(self) -> tuple[int, ...]:
        return ()

    def mark(self) -> Mark:
        return Mark(None)

    def rollback(self, mark: Mark) -> None: ...


async def inline(work: Callable[[], T], /) -> T:
    return work()


@dataclass
class World:
    """An app with everything around it in the test's hands."""

    backend: FakeBackend = field(default_factory=FakeBackend)
    renderer: FakeRenderer = field(default_factory=FakeRenderer)
    time: Time = field(default_factory=Time)
    records: list[Record] = field(default_factory=list)
    cors: bool = False
    access: Access | None = None
    limits: Limits = field(default_factory=Limits)
    card: ModelCard = CARD
    journal: Journal | None = None
    refused_form: Ds4Error | None = None
    """What making a guide raises."""

    def _guide(self, wished: Wished) -> Guide | None:
        if self.refused_form is not None and wished.constraint is not None:
            raise self.refused_form
        return NotedGuide.of(wished)

    def services(self) -> Services:
        return Services(
            backend=self.backend,
            renderer=self.renderer,
            reader=deaf_reader,
            tokenizer=ByteTokenizer(),
            card=self.card,
            clock=self.time,
            ids=SequentialIds(1),
            observe=self.records.append,
            journal=self.journal or Journal(self.time),
            version="1.2.3",
            started=self.time.now(),
            access=self.access or Access(cors=self.cors),
            limits=self.limits,
            guide=self._guide,
            run=inline,
            sleep=self.time.sleep,
        )

    def app(self) -> ASGIApp:
        return build_app(self.services())

    def client(self) -> Client:
        return Client(self.app())

    def with_limits(self, **changes: float) -> "World":
        return replace(self, limits=replace(self.limits, **changes))  # type: ignore[arg-type]


def run(scenario: Awaitable[T]) -> T:
    async def main() -> T:
        return await asyncio.wait_for(scenario, 10)

    return asyncio.run(main())
