"""Jobs as they were handed to the scheduler, for traces whose requests cannot be read."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from pydantic import TypeAdapter

from ds4.core.errors import Ds4Error
from ds4.core.events import Failed, Finish
from ds4.core.job import Job, JobKind
from ds4.core.plan import Boundary, Image, Origin, PromptPlan, Tokens
from ds4.core.ports import Backend, Guide, Reader
from ds4.core.sampling import Sampling
from ds4.core.usage import Replay
from ds4.observe.trace.values import Json
from ds4.rerun.moment import REQUEST
from ds4.rerun.replay.guide import RecordedGuide
from ds4.rerun.replay.script import Script
from ds4.rerun.replay.texts import RecordedReader

_BOUNDARIES = TypeAdapter(tuple[Boundary, ...])
_IMAGE = TypeAdapter(Image)
_SAMPLING = TypeAdapter(Sampling)
_REPLAY = TypeAdapter(Replay)


class Jobs:
    """A `front.Front`: in the place of the API."""

    drives = frozenset(("job",))

    def __init__(self, backend: Backend, script: Script, lines: Iterable[Json]) -> None:
        self._backend = backend
        self._script = script
        self._events: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        self.tasks: list[asyncio.Task[None]] = []
        for line in lines:
            match dict(line):
                case {"at": "read", "job": str(job), "events": list(events)}:
                    self._events[job] += events

    def take(self, line: dict[str, Any]) -> None:
        if line["at"] == "job":
            reader = RecordedReader(self._script, self._events[line["job"]])
            job = job_of(line, reader, RecordedGuide(self._script) if line.get("guided") else None)
            self.tasks.append(asyncio.create_task(self._listen(job, line["request"])))

    def cancel(self, job_id: str) -> None:
        """Whoever waited for it has left."""
        self._backend.cancel(job_id)

    async def _listen(self, job: Job, request: int) -> None:
        REQUEST.set(request)
        with suppress(Ds4Error):  # not taken, as it was not taken then
            stream = self._backend.submit(job)
            while not isinstance((await stream.batch())[-1], Finish | Failed):
                pass


def job_of(line: dict[str, Any], reader: Reader, guide: Guide | None) -> Job:
    return Job(
        id=line["job"],
        kind=JobKind(line["kind"]),
        plan=_plan(line),
        sampling=_SAMPLING.validate_python(line["sampling"]),
        max_tokens=line["max_tokens"],
        reader=reader,
        flags=tuple(line["flags"]),
        normalised=tuple(line["normalised"]),
        guide=guide,
    )


def _plan(line: dict[str, Any]) -> PromptPlan:
    plan = PromptPlan.of(
        map(_item, line["items"]),
        text=line["text"],
        boundaries=_BOUNDARIES.validate_python(line["boundaries"]),
        namespace=line["caller"],
    )
    return replace(plan, replay=_REPLAY.validate_python(line.get("replay", {})))


def _item(words: list[Any]) -> Tokens | Image:
    origin, what = words
    return Tokens(tuple(what), Origin(origin)) if isinstance(what, list) else _IMAGE.validate_python(what)
