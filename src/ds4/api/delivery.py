"""From a request's jobs to its answer on the wire, streamed or whole.

Rules:
- All jobs are submitted before the headers go out, so that a refusal is a real HTTP status. One
  refused job refuses the request.
- Whatever ends the delivery early (the client left, a failure, a cancelled task) cancels every job.
- Nothing here knows a wire format: that is the Wire's business.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import NoReturn, Protocol

from starlette.types import Receive, Scope, Send

from ds4.api import cache_header
from ds4.api.collect import Answer
from ds4.api.errors import Header
from ds4.api.race import client_left, first_to_end
from ds4.api.rounds import rounds
from ds4.api.services import Services
from ds4.api.sse import HEADERS
from ds4.core.errors import Ds4Error
from ds4.core.events import Event, Failed, Finish
from ds4.core.job import Job
from ds4.core.ports import EventStream

LastWords = Callable[[Ds4Error], bytes]
Settle = Callable[[], Awaitable[None]]


async def _nothing() -> None:
    pass


class Wire(Protocol):
    """One request's choices in one API's format. Choices are numbered as the jobs stand.

    What makes the stream keeps track of what was sent.
    """

    def chunks(self, choice: int, events: Sequence[Event]) -> bytes:
        """The stream's bytes for new events of a choice, its Finish among them. Failed gives nothing."""

    def end(self) -> bytes:
        """The end of the stream, once every choice has its Finish."""

    def heartbeat(self) -> bytes: ...

    def whole(self, answers: Sequence[Answer]) -> bytes:
        """All choices, finished."""


class Delivery:
    """An ASGI app for one request whose body has been read. Every choice of the answer is a job.

    `last_words` end a stream whose answer failed, where the API has a better end than an error event.
    `settle` is awaited when the answer's end is made, before the client has it.
    """

    def __init__(
        self,
        services: Services,
        jobs: Sequence[Job],
        wire: Wire,
        *,
        stream: bool,
        last_words: LastWords | None = None,
        settle: Settle = _nothing,
    ) -> None:
        self._services = services
        self._jobs = jobs
        self._wire = wire
        self._stream = stream
        self._last_words = last_words
        self._settle = settle

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        backend = self._services.backend
        streams: list[EventStream] = []
        answered = False
        try:
            for job in self._jobs:
                streams.append(backend.submit(job))  # noqa: PERF401  (counts also when the next is refused)
            if self._stream:
                line = _Line(self._services, self._wire, send, self._last_words, self._settle)
                answered = await first_to_end(line.pump(streams), line.beat(), client_left(receive))
            else:
                answered = await first_to_end(self._answer(streams, send), client_left(receive))
        finally:
            if not answered:
                for job in self._jobs[: len(streams)]:
                    backend.cancel(job.id)

    async def _answer(self, streams: Sequence[EventStream], send: Send) -> None:
        answers = [Answer() for _ in streams]
        async with aclosing(rounds(streams)) as news:
            async for new in news:
                for choice, events in new:
                    answers[choice].add(events)
        body = self._wire.whole(answers)
        await self._settle()
        headers: list[Header] = [
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(body)),
            (cache_header.NAME, cache_header.cache_words(answers[0].finish.report)),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})


class _Line:
    """The sending end of one stream. `last` is when the client was last given something."""

    def __init__(
        self, services: Services, wire: Wire, send: Send, last_words: LastWords | None, settle: Settle
    ) -> None:
        self._now = services.clock.now
        self._sleep = services.sleep
        self._silence = services.limits.heartbeat
        self._wire = wire
        self._send = send
        self._last_words = last_words
        self._settle = settle
        self._last = self._now()
        self._writing = False

    async def pump(self, streams: Sequence[EventStream]) -> None:
        """Sends until all choices have ended. Raises the error of a Failed event, after what preceded it."""
        await self._send({"type": "http.response.start", "status": 200, "headers": list(HEADERS)})
        unfinished = len(streams)
        async with aclosing(rounds(streams)) as news:
            async for new in news:
                ends = [events[-1] for _, events in new]
                unfinished -= sum(isinstance(end, Finish) for end in ends)
                data = b"".join(self._wire.chunks(choice, events) for choice, events in new)
                if unfinished:
                    await self._write(data, more=True)
                else:
                    await self._end(data + self._wire.end())
                for end in ends:
                    if isinstance(end, Failed):
                        await self._fail(end.error)

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

    async def _fail(self, error: Ds4Error) -> NoReturn:
        if self._last_words is not None:
            await self._end(self._last_words(error))
        raise error

    async def _end(self, data: bytes) -> None:
        # No heartbeat may come between the end and what settles it.
        self._writing = True
        await self._settle()
        await self._write(data, more=False)

    async def _write(self, data: bytes, *, more: bool) -> None:
        if not data and more:
            return
        self._writing = True
        await self._send({"type": "http.response.body", "body": data, "more_body": more})
        self._writing = False
        self._last = self._now()
