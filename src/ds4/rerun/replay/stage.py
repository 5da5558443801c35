"""The server of a trace, assembled of the real parts and the recorded world."""

import asyncio
from collections import deque
from dataclasses import dataclass

from ds4.api.access import Access
from ds4.api.app import build_app
from ds4.api.keys import Keyring
from ds4.api.origin import Hosts
from ds4.api.responses.store import ResponseStore
from ds4.api.services import GuideFactory, Services
from ds4.core.clock import SystemClock
from ds4.core.ports import Ids, Tokenizer
from ds4.formats.registry import family_named
from ds4.formats.tools.registry import tool_format_named
from ds4.kv.replay.notebook import Notebook
from ds4.observe.records import Observer
from ds4.observe.requests import Journal
from ds4.observe.tee import tee
from ds4.observe.trace.reading import Run
from ds4.observe.trace.values import Json
from ds4.prompt.options import PromptOptions
from ds4.prompt.renderer import PromptRenderer
from ds4.rerun.head import Doors, Head
from ds4.rerun.recorder import Recorder
from ds4.rerun.replay.earlier import Earlier
from ds4.rerun.replay.engine import RecordedEngine
from ds4.rerun.replay.front import Front, Visits
from ds4.rerun.replay.gates import Gates
from ds4.rerun.replay.guide import RecordedGuides
from ds4.rerun.replay.jobs import Jobs
from ds4.rerun.replay.ports import (
    Gate,
    GatedBackend,
    GatedRunner,
    GatedSleep,
    RecordedIds,
    RecordedKeys,
    RecordedMoments,
)
from ds4.rerun.replay.script import Script
from ds4.rerun.replay.store import RecordedRates, RecordedStore
from ds4.rerun.replay.texts import recorded_comparer
from ds4.rerun.replay.tokenizer import RecordedTokenizer
from ds4.rerun.replay.visit import NUMBER
from ds4.schedule.bridge import Command, LocalBackend
from ds4.schedule.scheduler import CachePlan, Scheduler
from ds4.wiring import AnswerStyle, readers, replaying


@dataclass(frozen=True, slots=True)
class Stage:
    """`posted` commands wait for the turn that took them then. `made` is the new trace."""

    front: Front
    scheduler: Scheduler
    backend: LocalBackend
    posted: deque[Command]
    script: Script
    gates: Gate
    tokenizer: RecordedTokenizer
    earlier: Earlier
    made: list[Json]


def stage(head: Head, run: Run) -> Stage:
    """Needs a running event loop."""
    script, gates = Script(), Gates[tuple[str, object], int]()
    made: list[Json] = []
    known = RecordedTokenizer(head.vocabulary, run.lines)
    recorder = Recorder(
        made.append,
        RecordedMoments(run.lines),
        SystemClock(),
        rates=RecordedRates(script),
        number=lambda scope: scope[NUMBER],
        compare=recorded_comparer(script) if head.redacted else None,
    )
    engine = recorder.engine(RecordedEngine(head, known, script))
    store = RecordedStore(script) if head.cache.disk else None
    earlier = Earlier()
    notebook = None
    if head.cache.replay is not None:
        notebook = Notebook(head.cache.replay, recorder.clock, recorder.answers(earlier.answers))
    cache = recorder.cache(CachePlan(head.cache.knobs, head.cache.ram, head.cache.marks, store, notebook))
    journal = Journal(recorder.clock)
    observe = tee(journal, recorder.observe)
    posted: deque[Command] = deque()
    backend: LocalBackend
    scheduler = recorder.scheduler(
        engine, head.limits, recorder.clock, observe, lambda out: backend.deliver(out), cache
    )
    loop = asyncio.get_running_loop()
    backend = LocalBackend(loop, posted.append, recorder.clock, scheduler.status(), head.max_queue)
    gated = GatedBackend(backend, gates)
    recorder.begin(lambda: head)
    front: Front
    if head.redacted:
        front = Jobs(recorder.backend(gated), script, run.lines)
    else:
        ids = recorder.ids(RecordedIds(run.lines))
        services = recorder.services(
            _services(
                head,
                gated,
                engine.tokenizer,
                recorder,
                ids,
                observe,
                journal,
                gates,
                notebook,
                earlier.responses,
                RecordedGuides(script, run.lines),
            )
        )
        front = Visits(recorder.app(build_app(services)), locked=head.doors.locked)
    return Stage(front, scheduler, backend, posted, script, gates, known, earlier, made)


def _services(
    head: Head,
    backend: GatedBackend,
    tokenizer: Tokenizer,
    recorder: Recorder,
    ids: Ids,
    observe: Observer,
    journal: Journal,
    gates: Gate,
    notebook: Notebook | None,
    responses: ResponseStore,
    guide: GuideFactory,
) -> Services:
    model, family = head.model, family_named(head.model.family)
    asked = head.prompts
    options = PromptOptions(asked.n_ctx, family.efforts, asked.tools_first, asked.preamble, asked.think_max)
    style = AnswerStyle(family.reasoning, tool_format_named(model.tool_format))
    templated = PromptRenderer(
        tokenizer,
        model.template,
        recorder.clock,
        bos_token=model.bos,
        eos_token=model.eos,
        options=options,
    )
    return Services(
        backend=backend,
        renderer=replaying(templated, notebook, tokenizer),
        reader=readers(style, tokenizer, ids, observe),
        tokenizer=tokenizer,
        card=model.card,
        clock=recorder.clock,
        ids=ids,
        observe=observe,
        journal=journal,
        version=head.version,
        started=head.t[0],
        access=_access(head.doors),
        limits=head.api,
        longest_piece=lambda: head.vocabulary.longest,
        as_sent=frozenset(head.as_sent),
        responses=responses,
        guide=guide,
        run=GatedRunner(gates),
        sleep=GatedSleep(gates),
    )


def _access(doors: Doors) -> Access:
    keys = RecordedKeys() if doors.locked else Keyring()
    return Access(Hosts(frozenset(doors.names), any_name=doors.any_name), keys, cors=doors.cors)
