"""The request boundary: the outermost app of every request.

Rules:
- The one place of this package that catches everything. Endpoints just raise.
- An error before the headers is a real HTTP status in the dialect of the path; after the
  headers of a stream it is that API's error event, and the stream ends.
- Who may not come in is turned away here, before any endpoint and any byte of the body.
- Headers every answer carries (CORS, the request's id) are added here and nowhere else.
"""

import traceback
from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ds4.api.access import Access, admit
from ds4.api.errors import Dialect, Header, headers_of, status_of
from ds4.api.origin import values
from ds4.core.errors import Ds4Error, RequestError, ServerError, Unavailable
from ds4.core.ports import Ids
from ds4.observe.records import Notice, Observer

CORS: tuple[Header, ...] = (
    (b"access-control-allow-origin", b"*"),
    (b"access-control-allow-methods", b"GET, POST, DELETE, OPTIONS"),
    (b"access-control-allow-headers", b"*"),
    (b"access-control-expose-headers", b"*"),
)
# A browser does not take `*` for this one.
_SENDS_KEY: tuple[Header, ...] = tuple(
    (name, b"*, authorization" if name.endswith(b"allow-headers") else value) for name, value in CORS
)
_REQUEST = "ds4_request"
# Ours, and what the vendors' own clients look for.
_ID_HEADERS = (b"x-ds4-request", b"x-request-id", b"request-id")


def name_request(scope: Scope, request_id: str) -> None:
    """From now on every answer to this request carries the id in its headers."""
    scope[_REQUEST] = request_id


class _Outlet:
    """`send`, plus what has gone out so far."""

    def __init__(self, scope: Scope, send: Send, extra: tuple[Header, ...]) -> None:
        self._scope = scope
        self._send = send
        self._extra = extra
        self.started = False
        self.finished = False
        self.stream = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            message = self._start(message)
        elif not message.get("more_body", False):
            self.finished = True
        await self._send(message)

    def _start(self, message: Message) -> Message:
        headers: list[Header] = [*message.get("headers", ()), *self._extra]
        if _REQUEST in self._scope:
            headers += [(name, self._scope[_REQUEST].encode()) for name in _ID_HEADERS]
        self.started = True
        self.stream = any(name == b"content-type" and b"event-stream" in value for name, value in headers)
        return {**message, "headers": headers}


class Boundary:
    def __init__(
        self,
        app: ASGIApp,
        *,
        ids: Ids,
        observe: Observer,
        access: Access,
        dialect: Callable[[Scope], Dialect],
    ) -> None:
        """`dialect` says in whose words errors are told, from a request's head alone."""
        self._app = app
        self._ids = ids
        self._observe = observe
        self._access = access
        self._dialect = dialect

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        outlet = _Outlet(scope, send, _cors(scope) if self._access.cors else ())
        try:
            admit(self._access, scope)
            if scope["method"] == "OPTIONS":
                await _no_content(outlet)
            else:
                await self._app(scope, receive, outlet.send)
        except Exception as error:  # noqa: BLE001  (the boundary: the client must get an answer)
            await self._fail(scope, outlet, self._known(scope, error))

    def _known(self, scope: Scope, error: Exception) -> Ds4Error:
        """`error` as something to tell the client; what is our fault is logged."""
        if isinstance(error, RequestError | Unavailable):
            return error
        name = self._name(scope)
        if isinstance(error, Ds4Error):
            self._observe(Notice(f"request {name}: {error.message}", "error"))
            return error
        text = "".join(traceback.format_exception(error)).rstrip()
        self._observe(Notice(f"request {name} failed unexpectedly: {text}", "error"))
        return ServerError(f"internal server error; the log has the details under request {name}")

    async def _fail(self, scope: Scope, outlet: _Outlet, error: Ds4Error) -> None:
        # Every error has an id to ask about.
        dialect, name = self._dialect(scope), self._name(scope)
        if dialect.named is not None:
            dialect = dialect.named(name)
        if not outlet.started:
            await _reply(outlet, status_of(error), dialect.body(error), headers_of(error))
        elif outlet.stream and not outlet.finished:
            await outlet.send({"type": "http.response.body", "body": dialect.event(error)})

    def _name(self, scope: Scope) -> str:
        """The request's id, a new one when nobody has named it."""
        if _REQUEST not in scope:
            name_request(scope, self._ids.new("req-"))
        name: str = scope[_REQUEST]
        return name


def _cors(scope: Scope) -> tuple[Header, ...]:
    asked = b",".join(values(scope["headers"], b"access-control-request-headers"))
    return _SENDS_KEY if b"authorization" in asked.lower() else CORS


async def _reply(outlet: _Outlet, status: int, body: bytes, headers: list[Header]) -> None:
    fixed = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await outlet.send({"type": "http.response.start", "status": status, "headers": [*fixed, *headers]})
    await outlet.send({"type": "http.response.body", "body": body})


async def _no_content(outlet: _Outlet) -> None:
    headers = [(b"content-length", b"0")]
    await outlet.send({"type": "http.response.start", "status": 204, "headers": headers})
    await outlet.send({"type": "http.response.body", "body": b""})
