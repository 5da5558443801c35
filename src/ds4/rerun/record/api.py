"""The API's ports, with what clients send and get noted: requests, prompts, events read, bytes sent."""

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import copy_context
from dataclasses import dataclass, replace
from typing import TypeVar

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ds4.api.access import namespace_of
from ds4.api.services import Renderer, Runner
from ds4.core.events import Event, Failed
from ds4.core.job import Job
from ds4.core.messages import Conversation
from ds4.core.plan import PromptPlan, Tokens
from ds4.core.ports import Backend, EventStream
from ds4.core.status import Status
from ds4.observe.trace.secrets import clean_headers, clean_query, secrets_in, without
from ds4.observe.trace.values import Json, plain
from ds4.observe.trace.writer import Put
from ds4.rerun.moment import REQUEST, WORKING, Callers, Moments
from ds4.rerun.record.guide import NotedGuide
from ds4.rerun.record.reader import NotedReader
from ds4.rerun.tape import Tape

T = TypeVar("T")

GLANCES = ("/health", "/ready", "/slots", "/requests", "/metrics")
"""Paths that only look at the server. They change nothing, and supervisors ask for them all the time."""
CALLER = b"x-ds4-key"
"""Stands in a repeated request for the key that its trace does not hold."""
_KEYS = (b"authorization", b"x-api-key", CALLER)

Numbers = Callable[[Scope], int]
"""The number of a new request."""


@dataclass(frozen=True, slots=True)
class Notes:
    """Where lines go, where moments come from, what callers are called."""

    put: Put
    moments: Moments
    callers: Callers


class NotedApp:
    """The outermost ASGI app around another."""

    def __init__(self, app: ASGIApp, notes: Notes, number: Numbers) -> None:
        self._app = app
        self._notes = notes
        self._number = number

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].startswith(GLANCES):
            await self._app(scope, receive, send)
            return
        number = self._number(scope)
        REQUEST.set(number)
        exchange = _Exchange(number, scope, receive, send, self._notes)
        self._notes.moments.take("request", number)
        try:
            await self._app(scope, exchange.receive, exchange.send)
        finally:
            exchange.done()


class _Exchange:
    """One request. It is noted when its body is there, or when it is answered without."""

    def __init__(self, number: int, scope: Scope, receive: Receive, send: Send, notes: Notes) -> None:
        self._number = number
        self._scope = scope
        self._inner_receive = receive
        self._inner_send = send
        self._notes = notes
        self._body: list[bytes] | None = []
        self._answered = False
        self._secrets = frozenset[str]()

    async def receive(self) -> Message:
        message = await self._inner_receive()
        if message["type"] == "http.disconnect":
            self._tell_request(whole=False)
            # Behind the whole answer it only says that there is nothing more to come.
            if not self._answered:
                self._notes.put({"at": "left", "request": self._number})
        elif self._body is not None:
            self._body.append(message.get("body", b""))
            if not message.get("more_body", False):
                self._tell_request(whole=True)
        return message

    async def send(self, message: Message) -> None:
        self._tell_request(whole=False)
        line: Json = {"at": "sent", "request": self._number}
        if message["type"] == "http.response.start":
            line |= {"status": message["status"], "headers": clean_headers(message.get("headers", ()))}
        else:
            self._answered = not message.get("more_body", False)
            body = bytes(message.get("body", b""))
            # A kept response repeats what an earlier request said.
            shown = without(self._secrets | secrets_in(body), body)
            line |= {"body": shown, "more": not self._answered}
        await self._inner_send(message)
        moment = self._notes.moments.take("sent", self._number)
        self._notes.put(line | {"t": moment.plain})

    def done(self) -> None:
        self._tell_request(whole=False)
        self._notes.put({"at": "done", "request": self._number})

    def _tell_request(self, *, whole: bool) -> None:
        """`whole`: all of the body came. Without it the answer came first, or never."""
        if self._body is None:
            return
        body, self._body = b"".join(self._body), None
        self._secrets = secrets_in(body)
        scope = self._scope
        self._notes.put(
            {
                "at": "request",
                "request": self._number,
                "t": self._notes.moments.take("request", self._number).plain,
                "method": scope["method"],
                "path": scope["path"],
                "query": clean_query(scope["query_string"]),
                "http": scope["http_version"],
                "scheme": scope["scheme"],
                "headers": clean_headers(scope["headers"]),
                "key": any(name in _KEYS for name, _ in scope["headers"]),
                "caller": self._notes.callers.name(namespace_of(scope)),
                "whole": whole,
                "body": without(self._secrets, body),
            }
        )


class NotedBackend:
    """`core.ports.Backend` around another."""

    def __init__(self, backend: Backend, notes: Notes, tape: Tape) -> None:
        self._backend = backend
        self._notes = notes
        self._tape = tape

    def submit(self, job: Job) -> EventStream:
        self._notes.put(_job_line(job, REQUEST.get(), self._notes.callers))
        guide = None if job.guide is None else NotedGuide(job.guide, self._tape)
        noted = replace(job, reader=NotedReader(job.reader, self._tape), guide=guide)
        return _NotedStream(self._backend.submit(noted), job.id, self._notes)

    def cancel(self, job_id: str) -> None:
        self._backend.cancel(job_id)

    def status(self) -> Status:
        return self._backend.status()


class _NotedStream:
    def __init__(self, stream: EventStream, job: str, notes: Notes) -> None:
        self._stream = stream
        self._job = job
        self._notes = notes

    async def batch(self) -> tuple[Event, ...]:
        events = await self._stream.batch()
        moment = self._notes.moments.take("read", self._job)
        told = [_event(event) for event in events]
        self._notes.put({"at": "read", "job": self._job, "t": moment.plain, "events": told})
        return events


class NotedRenderer:
    """`api.services.Renderer` around another."""

    def __init__(self, renderer: Renderer, notes: Notes) -> None:
        self._renderer = renderer
        self._notes = notes

    def render(self, conversation: Conversation) -> PromptPlan:
        caller = self._notes.callers.name(conversation.namespace)
        asked = {"messages": conversation.messages, "tools": conversation.tools}
        how = {"thinking": conversation.thinking, "template_args": conversation.template_args}
        self._notes.put({"at": "asked", "request": REQUEST.get(), "caller": caller, **asked, **how})
        return self._renderer.render(conversation)

    def raw(self, prompt: str | tuple[int, ...], *, namespace: str = "") -> PromptPlan:
        self._notes.put({"at": "asked", "request": REQUEST.get(), "raw": prompt})
        return self._renderer.raw(prompt, namespace=namespace)


class NotedRunner:
    """`api.services.Runner` around another. Work carries its request's context with it."""

    def __init__(self, run: Runner, notes: Notes) -> None:
        self._run = run
        self._notes = notes

    async def __call__(self, work: Callable[[], T], /) -> T:
        context = copy_context()
        context.run(WORKING.set, True)
        running = asyncio.ensure_future(self._run(lambda: context.run(work)))
        try:
            await asyncio.wait([running])
        finally:
            running.cancel()
        moment = self._notes.moments.take("ran", REQUEST.get())
        self._notes.put({"at": "ran", "request": REQUEST.get(), "t": moment.plain})
        return running.result()


def noted_sleep(
    sleep: Callable[[float], Awaitable[None]], notes: Notes
) -> Callable[[float], Awaitable[None]]:
    async def noted(seconds: float) -> None:
        await sleep(seconds)
        moment = notes.moments.take("slept", REQUEST.get())
        notes.put({"at": "slept", "request": REQUEST.get(), "t": moment.plain})

    return noted


def _job_line(job: Job, request: int, callers: Callers) -> Json:
    items = [
        [item.origin.value, item.ids] if isinstance(item, Tokens) else ["image", item]
        for item in job.plan.items
    ]
    return {
        "at": "job",
        "job": job.id,
        "request": request,
        "kind": job.kind.value,
        "caller": callers.name(job.plan.namespace),
        "rows": job.plan.rows,
        "items": items,
        "boundaries": job.plan.boundaries,
        "text": job.plan.text,
        "sampling": job.sampling,
        "max_tokens": job.max_tokens,
        "flags": job.flags,
        "normalised": job.normalised,
        "replay": job.plan.replay,
        "guided": job.guide is not None,
    }


def _event(event: Event) -> object:
    if isinstance(event, Failed):
        return {"kind": "Failed", "error": [type(event.error).__name__, event.error.message]}
    return plain(event, kinds=True)
