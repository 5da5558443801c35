"""A client that calls an ASGI app in this process: no socket, streams as they come, can hang up."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from starlette.types import ASGIApp, Message, Scope


@dataclass(frozen=True, slots=True)
class Reply:
    """A complete answer. Header names are lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class Exchange:
    """One request and the answer as far as it has come."""

    def __init__(self, app: ASGIApp, scope: Scope, body: Iterable[bytes]) -> None:
        self._parts = iter(body)
        self._more = True
        self._left = asyncio.Event()
        self._sent: asyncio.Queue[Message | None] = asyncio.Queue()
        self._task = asyncio.create_task(self._call(app, scope))
        self.parts_read = 0
        self.status = 0
        self.headers: dict[str, str] = {}

    async def _call(self, app: ASGIApp, scope: Scope) -> None:
        try:
            await app(scope, self._receive, self._send)
        finally:
            self._sent.put_nowait(None)

    async def _receive(self) -> Message:
        if self._more and not self._left.is_set():
            part = next(self._parts, None)
            self._more = part is not None
            self.parts_read += self._more
            return {"type": "http.request", "body": part or b"", "more_body": self._more}
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        if not self._left.is_set():
            self._sent.put_nowait(message)

    async def start(self) -> None:
        """Waits for the headers. Raises what the app raised, or EOFError when it ended without any."""
        message = await self._sent.get()
        if message is None:
            await self._task
            raise EOFError("the app ended without an answer")
        self.status = message["status"]
        pairs = message.get("headers", ())
        self.headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in pairs}

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body as the app sends it. Raises what the app raised."""
        while (message := await self._sent.get()) is not None:
            if message.get("body"):
                yield message["body"]
            if not message.get("more_body", False):
                break
        await self._task

    async def read(self) -> bytes:
        return b"".join([chunk async for chunk in self.chunks()])

    def hang_up(self) -> None:
        self._left.set()

    async def close(self) -> None:
        """Hangs up and waits for the app to notice. Raises what the app raised."""
        self.hang_up()
        await self._task


class Client:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    @asynccontextmanager
    async def open(
        self,
        method: str,
        path: str,
        *,
        body: bytes | Iterable[bytes] = b"",
        value: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> AsyncIterator[Exchange]:
        """A request under way; leaving the block hangs up. `value` is sent as JSON instead of `body`."""
        data = json.dumps(value).encode() if value is not None else body
        exchange = Exchange(
            self._app, _scope(method, path, headers or {}), [data] if isinstance(data, bytes) else data
        )
        try:
            yield exchange
        finally:
            await exchange.close()

    async def request(
        self,
        method: str,
        path: str,
        *,
        body: bytes | Iterable[bytes] = b"",
        value: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        async with self.open(method, path, body=body, value=value, headers=headers) as exchange:
            await exchange.start()
            return Reply(exchange.status, exchange.headers, await exchange.read())

    async def get(self, path: str, headers: Mapping[str, str] | None = None) -> Reply:
        return await self.request("GET", path, headers=headers)

    async def post(self, path: str, value: object) -> Reply:
        return await self.request("POST", path, value=value)


def _scope(method: str, path: str, headers: Mapping[str, str]) -> Scope:
    path, _, query = path.partition("?")
    headers = {"host": "127.0.0.1:8000", **headers}
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", 8000),
        "state": {},
    }
