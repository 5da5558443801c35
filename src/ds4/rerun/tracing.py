"""--trace: from a Config to a Watch, and to the first line."""

from collections.abc import Iterator
from contextlib import contextmanager

from ds4.api.services import Services
from ds4.config import Config
from ds4.core.clock import SystemClock
from ds4.core.ports import Engine
from ds4.observe.records import Notice, Observer, Record
from ds4.observe.trace.redact import redacted
from ds4.observe.trace.values import Json
from ds4.observe.trace.writer import TraceWriter
from ds4.rerun.head import Format, Head, head
from ds4.rerun.moment import ReadMoments
from ds4.rerun.recorder import Recorder, Unwatched, Watch
from ds4.schedule.scheduler import CachePlan, Limits
from ds4.wiring.blueprint import Blueprint
from ds4.wiring.prompts import prompt_options


@contextmanager
def tracing(config: Config, observe: Observer) -> Iterator[Watch]:
    """Raises StartError when the file cannot be opened."""
    clock = SystemClock()
    if config.trace is None:
        yield Unwatched(clock)
        return
    writer = TraceWriter(config.trace, observe, dress=redacted if config.trace_redact else _in_clear)
    held = "no texts" if config.trace_redact else "prompts and answers in clear"
    observe(Notice(f"trace {config.trace} ({held})"))
    try:
        yield Recorder(writer, ReadMoments(clock), clock)
    finally:
        writer.close()


def trace_head(
    config: Config, plan: Blueprint, engine: Engine, services: Services, limits: Limits, cache: CachePlan
) -> Head:
    clock = SystemClock()
    how = Format(plan.family.name, plan.style.tools.name, plan.template, plan.bos, plan.eos)
    options = prompt_options(config, plan.family, plan.template, engine.info.n_ctx, _told_already)
    return head(
        engine,
        services,
        how,
        options,
        limits,
        config.max_queue,
        cache,
        moment=(clock.now(), clock.wall()),
        redacted=config.trace_redact,
    )


def _in_clear(line: Json) -> Json:
    return line


def _told_already(record: Record) -> None:
    """What is to be said about prompts was said at the start."""
