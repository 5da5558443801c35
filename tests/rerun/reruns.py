"""Traces made and repeated in one test."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import orjson

from ds4.observe.trace.reading import Run, read_lines, runs
from ds4.observe.trace.redact import redacted
from ds4.observe.trace.values import Json, plain
from ds4.replay_command import Verdict, replay
from ds4.rerun.head import read_head
from ds4.testing.inside import Inside, Setting, inside

TRACES = Path(__file__).parents[1] / "traces"
NAMES = sorted(path.name.removesuffix(".jsonl.gz") for path in TRACES.glob("*.jsonl.gz"))


def as_read(lines: list[Json]) -> list[dict[str, Any]]:
    return [orjson.loads(orjson.dumps(plain(line))) for line in lines]


def traced(
    play: Callable[[Inside], Awaitable[object]],
    reply: Callable[[str], str] = lambda _: "An answer of some words.",
    setting: Setting = Setting(),  # noqa: B008  (frozen)
) -> Run:
    """The trace of what `play` does with a server."""
    made: list[Json] = []

    async def run() -> None:
        await play(inside(reply, setting, made.append))

    asyncio.run(run())
    head, *lines = as_read(made)
    return Run(head, list(lines))


def lines_of(run: Run) -> list[dict[str, Any]]:
    return [dict(line) for line in run.lines]


def recorded(name: str) -> Run:
    path = TRACES / f"{name}.jsonl.gz"
    return runs(read_lines(path), path)[0]


def without_texts(run: Run) -> Run:
    """What --trace-redact would have written."""
    return Run({**run.head, "redacted": True}, list(as_read([redacted(line) for line in run.lines])))


def verdict(run: Run) -> Verdict:
    return replay(read_head(run.head), run)
