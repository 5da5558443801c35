"""The whole server in one process and on one event loop: API, scheduler and scripted engine, no socket."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from starlette.types import ASGIApp

from ds4.api.access import Access
from ds4.api.app import build_app
from ds4.api.responses.store import MemoryStore, ResponseStore
from ds4.api.services import GuideFactory, ModelCard, Services
from ds4.core.step import Trim
from ds4.core.usage import CacheReport
from ds4.engine.scripted.engine import ScriptedEngine, ScriptedOptions
from ds4.formats.registry import family_named
from ds4.kv.replay.disk_copy import Disk
from ds4.kv.replay.notebook import Notebook, Options
from ds4.observe.records import PrefillChunk, PromptStarted, Record
from ds4.observe.requests import Journal
from ds4.observe.tee import tee
from ds4.observe.trace.writer import Put
from ds4.prompt.options import PromptOptions
from ds4.prompt.renderer import PromptRenderer
from ds4.rerun.head import Format, Head, head
from ds4.rerun.moment import ReadMoments
from ds4.rerun.recorder import Recorder, Unwatched
from ds4.schedule.scheduler import CachePlan, Limits
from ds4.testing.asgi import Client
from ds4.testing.backend import Pump
from ds4.testing.clock import FakeClock
from ds4.testing.ids import SequentialIds
from ds4.testing.pauses import Pauses
from ds4.wiring import AnswerStyle, guides, readers, replaying

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Setting:
    """With `answers` of earlier runs the cache gets a notebook over them. `guide` None: the server's own."""

    family: str = "chatml"
    n_ctx: int = 4096
    n_slots: int = 2
    max_queue: int = 64
    max_tokens: int = 4096
    trim: Trim = Trim.ANY
    limits: Limits = Limits(quantum=128, chunk=512)  # noqa: RUF009  (frozen)
    access: Access = field(default_factory=Access)
    cache: CachePlan = CachePlan()  # noqa: RUF009  (frozen)
    tools_first: bool = True
    template: str = ""
    answers: Disk | None = None
    guide: GuideFactory | None = None
    responses: ResponseStore = field(default_factory=MemoryStore)


@dataclass(frozen=True, slots=True)
class Cost:
    """What one request took: rows computed by prefill, and rows reused."""

    computed: int
    reused: int


@dataclass(slots=True)
class Inside:
    """`records` is everything that was reported. `pauses` are what silence is measured by."""

    app: ASGIApp
    client: Client
    pump: Pump
    engine: ScriptedEngine
    clock: FakeClock
    pauses: Pauses
    records: list[Record] = field(default_factory=list)

    async def chat(self, *messages: tuple[str, str], **fields: object) -> Any:
        """The JSON of a whole greedy answer to (role, content) pairs. Raises on an error status."""
        reply = await self.client.post("/v1/chat/completions", chat_body(*messages, **fields))
        if reply.status != 200:
            raise AssertionError(f"{reply.status}: {reply.body.decode()}")
        return reply.json()

    def last_report(self) -> CacheReport:
        """Of the request that was started last, as it began."""
        return [record.report for record in self.records if isinstance(record, PromptStarted)][-1]

    def last_cost(self) -> Cost:
        """Of the request that was started last."""
        last = [record.subject for record in self.records if isinstance(record, PromptStarted)][-1]
        chunks = [r for r in self.records if isinstance(r, PrefillChunk) and r.subject.job == last.job]
        return Cost(sum(chunk.rows for chunk in chunks), last.reused)


def chat_body(*messages: tuple[str, str], **fields: object) -> dict[str, object]:
    turns = [{"role": role, "content": content} for role, content in messages]
    return {"messages": turns, "temperature": 0, **fields}


def text_of(answer: Any) -> str:
    """The visible text of a whole chat answer."""
    return str(answer["choices"][0]["message"]["content"])


def streamed_text(body: bytes) -> tuple[str, str | None]:
    """The visible text and the finish reason of a streamed chat answer."""
    text, reason = "", None
    for line in body.decode().splitlines():
        if line.startswith("data: {"):
            for choice in json.loads(line[6:])["choices"]:
                text += choice["delta"].get("content") or ""
                reason = choice["finish_reason"] or reason
    return text, reason


def inside(reply: Callable[[str], str], setting: Setting = Setting(), put: Put | None = None) -> Inside:
    """Needs a running event loop. The engine's virtual cost moves the clock. `put` takes a trace's lines."""
    clock, family = FakeClock(), family_named(setting.family)
    watch = Unwatched(clock) if put is None else Recorder(put, ReadMoments(clock), clock)
    records: list[Record] = []
    engine = _engine(reply, setting, clock)
    options = PromptOptions(n_ctx=setting.n_ctx, efforts=family.efforts, tools_first=setting.tools_first)
    style = AnswerStyle(family.reasoning, family.tool_format)
    ids = watch.ids(SequentialIds())
    journal, pauses = Journal(clock), Pauses()
    observe = tee(records.append, journal, watch.observe)
    plan = setting.cache
    if setting.answers is not None:
        plan = replace(plan, notebook=Notebook(Options(), watch.clock, watch.answers(setting.answers)))
    cache, watched = watch.cache(plan), watch.engine(engine)
    pump = Pump(
        watched,
        watch.clock,
        limits=setting.limits,
        observe=observe,
        max_queue=setting.max_queue,
        cache=cache,
        make=watch.scheduler,
    )
    template = setting.template or family.template
    renderer = PromptRenderer(watched.tokenizer, template, watch.clock, options=options)
    services = Services(
        backend=pump.backend,
        renderer=replaying(renderer, plan.notebook, watched.tokenizer),
        reader=readers(style, watched.tokenizer, ids, records.append),
        tokenizer=watched.tokenizer,
        card=ModelCard("inside", "inside", setting.n_ctx, setting.max_tokens),
        clock=watch.clock,
        ids=ids,
        observe=observe,
        journal=journal,
        version="0",
        started=clock.now(),
        access=setting.access,
        responses=setting.responses,
        guide=setting.guide or guides(style, engine.tokenizer, records.append),
        run=_at_once,
        sleep=pauses,
    )
    watch.begin(lambda: _head(engine, services, options, setting, plan))
    app = watch.app(build_app(watch.services(services)))
    return Inside(app, Client(app), pump, engine, clock, pauses, records)


def _engine(reply: Callable[[str], str], setting: Setting, clock: FakeClock) -> ScriptedEngine:
    return ScriptedEngine.open(
        ScriptedOptions(
            reply,
            family_named(setting.family),
            n_ctx=setting.n_ctx,
            n_slots=setting.n_slots,
            n_batch=setting.limits.chunk,
            trim=setting.trim,
            pace=clock.advance,
        )
    )


def _head(
    engine: ScriptedEngine, services: Services, options: PromptOptions, setting: Setting, cache: CachePlan
) -> Head:
    family = family_named(setting.family)
    how = Format(family.name, family.tool_format.name, family.template, "", "")
    moment = services.clock.now(), services.clock.wall()
    return head(engine, services, how, options, setting.limits, setting.max_queue, cache, moment=moment)


async def _at_once(work: Callable[[], T], /) -> T:
    return work()
