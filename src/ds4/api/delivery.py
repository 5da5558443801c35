"""From a job to its answer on the wire, streamed or whole.

Rules:
- The job is submitted before the headers go out, so that a refusal is a real HTTP status.
- Whatever ends the delivery early (the client left, a failure, a cancelled task) cancels the job.
- Nothing here knows a wire format: that is the Wire's business.
"""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Protocol

from starlette.types import Receive, Scope, Send

from ds4.api.collect import Answer
from ds4.api.errors import Header
from ds4.api.services import Services
from ds4.api.sse import HEADERS
from ds4.core.events import Event, Failed, Finish
from ds4.core.job import Job
from ds4.core.ports import EventStream
from ds4.core.usage import CacheReport

Routine = Coroutine[object, object, None]


class Wire(Protocol):
    """One answer in one API's format. `chunks` and `heartbeat` keep track of what was sent."""

    def chunks(self, events: Sequence[Event]) -> bytes:
        """The stream's bytes for these events; with Finish the end of the stream. Failed gives nothing."""

    def heartbeat(self) -> bytes: ...

    def whole(self, answer: Answer, finish: Finish) -> bytes: ...


class Delivery:
    """An ASGI app for one request whose body has been read."""

    def __init__(self, services: Services, job: Job, wire: Wire, *, stream: bool) -> None:
        self._services = services
        self._job = job
        self._wire = wire
        self._stream = stream

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        events = self._services.backend.submit(self._job)
        answered = False
        try:
            if self._stream:
                line = _Line(self._services, self._wire, send)
                answered = await first_to_end(line.pump(events), line.beat(), _client_left(receive))
            else:
                answered = await first_to_end(self._answer(events, send), _client_left(receive))
        finally:
            if not answered:
                self._services.backend.cancel(self._job.id)

    async def _answer(self, events: EventStream, send: Send) -> None:
        answer = Answer()
        while answer.finish is None:
            answer.add(await events.batch())
        body = self._wire.whole(answer, answer.finish)
        headers: list[Header] = [
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(body)),
            (b"x-ds4-cache", cache_words(answer.finish.report)),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})


class _Line:
    """The sending end of one stream. `last` is when the client was last given something."""

    def __init__(self, services: Services, wire: Wire, send: Send) -> None:
        self._now = services.clock.now
        self._sleep = services.sleep
        self._silence = services.limits.heartbeat
        self._wire = wire
        self._send = send
        self._last = self._now()
        self._writing = False

    async def pump(self, events: EventStream) -> None:
        """Sends until the end of the answer. Raises the error of a Failed event, after what preceded it."""
        await self._send({"type": "http.response.start", "status": 200, "headers": list(HEADERS)})
        finished = False
        while not finished:
            batch = await events.batch()
            end = batch[-1]
            finished = isinstance(end, Finish)
            await self._write(self._wire.chunks(batch), more=not finished)
            if isinstance(end, Failed):
                raise end.error

    async def beat(self) -> None:
        """Speaks up whenever the client heard nothing for `heartbeat` seconds. Never ends."""
        while True:
            wait = self._last + self._silence - self._now()
            if wait > 0:
                await self._sleep(wait)
            elif self._writing:
                # The client does not read: more bytes would not help it.
                await self._sleep(self._silence)
            else:
                await self._write(self._wire.heartbeat(), more=True)

    async def _write(self, data: bytes, *, more: bool) -> None:
        if not data and more:
            return
        self._writing = True
        await self._send({"type": "http.response.body", "body": data, "more_body": more})
        self._writing = False
        self._last = self._now()


def cache_words(report: CacheReport) -> bytes:
    """What the cache did for the prompt, for a header; counts are prompt rows."""
    words = f"{report.source} reused={report.reused} computed={report.computed} reason={report.reason}"
    return words.encode()


async def _client_left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def first_to_end(main: Routine, *others: Routine) -> bool:
    """Runs all side by side until one ends, and cancels the rest. True when `main` ended by itself.

    Raises what the one that ended raised.
    """
    tasks = [asyncio.create_task(coroutine) for coroutine in (main, *others)]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            if task.done():
                task.result()
        return tasks[0].done()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
