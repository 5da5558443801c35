"""A recorded client: sends what was sent, leaves when it left."""

import asyncio
from typing import Any

from starlette.types import ASGIApp, Message, Scope

from ds4.observe.trace.values import unpacked
from ds4.rerun.record.api import CALLER
from ds4.rerun.replay.ports import WRONG

NUMBER = "ds4_number"
"""The request's number in the trace, in its scope."""


class Visit:
    """One request under way."""

    def __init__(self, line: dict[str, Any], *, locked: bool) -> None:
        self._line = line
        self._locked = locked
        body = unpacked(line["body"])
        self._messages: list[Message] = []
        if body or line["whole"]:
            self._messages.append({"type": "http.request", "body": body, "more_body": not line["whole"]})
        self._left = asyncio.Event()

    async def run(self, app: ASGIApp) -> None:
        await app(self._scope(), self._receive, self._send)

    def leave(self) -> None:
        self._left.set()

    async def _receive(self) -> Message:
        if self._messages:
            return self._messages.pop()
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        """Whoever wraps the app has noted it."""

    def _scope(self) -> Scope:
        line = self._line
        headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in line["headers"]]
        if line["key"]:
            headers.append((CALLER, line["caller"].encode() if line["caller"] else WRONG))
        return {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": line["http"],
            "method": line["method"],
            "scheme": line["scheme"],
            "path": line["path"],
            "raw_path": line["path"].encode(),
            "query_string": line["query"].encode("latin-1"),
            "root_path": "",
            "headers": headers,
            "client": ("127.0.0.1", 50000),
            "server": ("127.0.0.1", 8000),
            "state": {},
            NUMBER: line["request"],
        }
