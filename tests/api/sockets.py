"""A server over real sockets with a stub behind it, and the bytes a client sends it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from starlette.types import Receive, Scope, Send

from ds4.api.server import bind, serve

GET = b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n"


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with the path and the length of the body; /deaf answers before reading any."""
    size, more = 0, scope["path"] != "/deaf"
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        size += len(message["body"])
        more = message["more_body"]
    body = f"{scope['path']} {size}".encode()
    headers = [(b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


Address = tuple[str, int]
Scenario = Callable[[Address], Awaitable[None]]


def against(app: Any, scenario: Scenario) -> None:
    """Runs `scenario` against a server with `app`."""

    async def main() -> None:
        sock = bind("127.0.0.1", 0)
        address = sock.getsockname()
        server = asyncio.create_task(serve(sock, app, lambda: None))
        try:
            await asyncio.wait_for(scenario(address), 10)
        finally:
            server.cancel()
            await asyncio.gather(server, return_exceptions=True)

    asyncio.run(main())


class Connection:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def send(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def answer(self) -> tuple[int, bytes]:
        head = await self._reader.readuntil(b"\r\n\r\n")
        length = next(line for line in head.split(b"\r\n") if line.startswith(b"content-length"))
        body = await self._reader.readexactly(int(length.partition(b":")[2]))
        return int(head.split()[1]), body

    async def cut_off(self, data: bytes = b"") -> bool:
        """True when the server closes, also while `data` is being sent, without a further word."""
        try:
            await self.send(data)
            return await self._reader.read(1) == b""
        except ConnectionError:
            return True


@asynccontextmanager
async def connect(address: Address) -> AsyncIterator[Connection]:
    reader, writer = await asyncio.open_connection(*address)
    try:
        yield Connection(reader, writer)
    finally:
        writer.close()


def asked(data: bytes, answers: int = 1, app: Any = echo) -> list[tuple[int, bytes]]:
    """What comes back for these bytes on one connection."""
    found: list[tuple[int, bytes]] = []

    async def scenario(address: Address) -> None:
        async with connect(address) as connection:
            await connection.send(data)
            found.extend([await connection.answer() for _ in range(answers)])

    against(app, scenario)
    return found


def everything(data: bytes, app: Any) -> tuple[bytes, bytes]:
    """Head and rest of all that comes until the server closes."""
    found: list[bytes] = []

    async def scenario(address: Address) -> None:
        reader, writer = await asyncio.open_connection(*address)
        writer.write(data)
        found.append(await reader.read())
        writer.close()

    against(app, scenario)
    head, _, rest = found[0].partition(b"\r\n\r\n")
    return head.lower(), rest
