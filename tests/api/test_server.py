"""The server over real sockets, with a stub behind it."""

import asyncio
import signal
import socket
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import pytest
from starlette.types import Receive, Scope, Send

from ds4.api import protocol
from ds4.api.server import bind, serve
from ds4.core.errors import OptionError, StartError

pytestmark = pytest.mark.server
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


def test_one_connection_carries_several_requests() -> None:
    async def scenario(address: Address) -> None:
        async with connect(address) as connection:
            for _ in range(3):
                await connection.send(GET)
                assert await connection.answer() == (200, b"/a 0")

    against(echo, scenario)


def test_requests_sent_together_are_answered_in_order() -> None:
    assert asked(GET + GET.replace(b"/a", b"/b"), 2) == [(200, b"/a 0"), (200, b"/b 0")]


def test_a_chunked_body() -> None:
    head = b"POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert asked(head + b"5\r\nhello\r\n3\r\nabc\r\n0\r\n\r\n") == [(200, b"/a 8")]


def test_a_body_that_trickles_in_does_not_hold_up_others() -> None:
    async def scenario(address: Address) -> None:
        async with connect(address) as slow, connect(address) as quick:
            await slow.send(b"POST /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\na")
            await quick.send(GET)
            assert await quick.answer() == (200, b"/a 0")
            await slow.send(b"bc")
            assert await slow.answer() == (200, b"/slow 3")

    against(echo, scenario)


def test_a_body_nobody_read_does_not_spoil_the_connection() -> None:
    async def scenario(address: Address) -> None:
        async with connect(address) as connection:
            await connection.send(b"POST /deaf HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n")
            assert await connection.answer() == (200, b"/deaf 0")
            await connection.send(b"hello" + GET)
            assert await connection.answer() == (200, b"/a 0")

    against(echo, scenario)


def test_an_offer_to_upgrade_is_ignored_and_the_body_kept() -> None:
    head = b"POST /a HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 5\r\n\r\n"
    assert asked(head + b"hello") == [(200, b"/a 5")]


def sized_head(size: int) -> bytes:
    """A request whose path, header names and values come to `size` bytes, as the server counts them."""
    fixed = len("/a") + len("Host") + len("x") + 4 + len("Pad") + 4
    return b"GET /a HTTP/1.1\r\nHost: x\r\nPad: " + b"p" * (size - fixed) + b"\r\n\r\n"


def test_the_limit_of_the_head_is_64_kib() -> None:
    assert asked(sized_head(65_000)) == [(200, b"/a 0")]
    ((status, body),) = asked(sized_head(65_537))
    assert (status, b"larger than 65536 bytes" in body) == (431, True)


@pytest.mark.parametrize(
    "endless",
    [
        pytest.param(b"GET /" + b"a" * 140_000, id="request line"),
        pytest.param(b"GET / HTTP/1.1\r\nA: " + b"a" * 140_000, id="one header"),
        pytest.param(b"GET / HTTP/1.1\r\n" + b"A: a\r\n" * 24_000, id="many headers"),
    ],
)
def test_a_head_without_end_is_431(endless: bytes) -> None:
    assert asked(endless)[0][0] == 431


@pytest.mark.parametrize("endless", [b"5;" + b"x" * 300_000, b"0\r\nT: " + b"x" * 300_000])
def test_chunk_extensions_and_trailers_count_too(endless: bytes) -> None:
    async def scenario(address: Address) -> None:
        async with connect(address) as connection:
            head = b"POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
            await connection.send(head)
            assert await connection.cut_off(endless)

    against(echo, scenario)


@pytest.mark.parametrize(
    "data", [b"nonsense\r\n\r\n", "GET /\u00e9 HTTP/1.1\r\n\r\n".encode(), b"\x16\x03\x01\r\n"]
)
def test_what_is_not_http_is_400_in_the_apis_shape(data: bytes) -> None:
    ((status, body),) = asked(data)
    assert (status, b'"message":"bad HTTP request"' in body) == (400, True)


def test_a_head_that_is_never_finished_is_408(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.05)

    async def scenario(address: Address) -> None:
        async with connect(address) as connection:
            await connection.send(GET)
            assert await connection.answer() == (200, b"/a 0")
            await connection.send(b"GET / HTTP/1.1\r\n")
            assert (await connection.answer())[0] == 408
            assert await connection.cut_off()

    against(echo, scenario)


def test_a_line_break_behind_the_body_does_not_end_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.01)

    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        await asyncio.sleep(0.05)
        await echo({**scope, "path": "/deaf"}, receive, send)

    async def scenario(address: Address) -> None:
        async with connect(address) as connection:
            await connection.send(b"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi")
            await asyncio.sleep(0.01)
            await connection.send(b"\r\n")
            assert await connection.answer() == (200, b"/deaf 0")

    against(slow, scenario)


def test_a_client_that_does_not_read_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "WRITE_SECONDS", 0.05)
    left = asyncio.Event()

    async def flood(scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG001
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": bytes(64 * 2**20), "more_body": True})
        assert (await receive())["type"] == "http.disconnect"
        left.set()

    async def scenario(address: Address) -> None:
        async with connect(address) as connection:
            await connection.send(GET)
            await left.wait()

    against(flood, scenario)


def test_a_client_that_leaves_is_noticed() -> None:
    left = asyncio.Event()

    async def wait(scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG001
        while (await receive())["type"] != "http.disconnect":
            pass
        left.set()

    async def scenario(address: Address) -> None:
        async with connect(address) as connection:
            await connection.send(GET)
        await left.wait()

    against(wait, scenario)


def test_a_port_in_use_is_one_sentence() -> None:
    with bind("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(StartError, match=rf"^cannot listen on localhost:{port}: the port is in use"):
            bind("localhost", port)


@pytest.mark.parametrize("host", ["example.org", "", "127.0.0.1:80"])
def test_only_addresses_are_hosts(host: str) -> None:
    with pytest.raises(OptionError, match="invalid value for --host"):
        bind(host, 0)


STUB = """
    import asyncio, sys
    from ds4.api.server import bind, serve

    async def app(scope, receive, send):
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"first", "more_body": True})
        await drained.wait()
        if scope["path"] == "/hang":
            await asyncio.sleep(60)
        await send({"type": "http.response.body", "body": b"last"})

    async def main():
        global drained
        drained = asyncio.Event()
        sock = bind("127.0.0.1", 0)
        print(sock.getsockname()[1], flush=True)
        return await serve(sock, app, drain)

    def drain():
        print("draining", flush=True)
        drained.set()

    sys.exit(asyncio.run(main()))
"""


@contextmanager
def stub_server() -> Iterator[tuple["subprocess.Popen[str]", int]]:
    command = [sys.executable, "-c", textwrap.dedent(STUB)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process, int(process.stdout.readline())
        finally:
            process.kill()


def begun(port: int, path: bytes) -> socket.socket:
    """A connection whose answer has begun."""
    client = socket.create_connection(("127.0.0.1", port), timeout=10)
    client.sendall(b"GET " + path + b" HTTP/1.1\r\nHost: x\r\n\r\n")
    received = b""
    while b"first" not in received:
        received += client.recv(1000)
    return client


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_lets_running_answers_end(number: signal.Signals) -> None:
    with stub_server() as (process, port), begun(port, b"/") as client:
        process.send_signal(number)
        assert b"last" in client.recv(1000)
        assert process.wait(10) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""


def test_the_second_signal_ends_everything_at_once() -> None:
    with stub_server() as (process, port), begun(port, b"/hang") as client:
        process.send_signal(signal.SIGTERM)
        assert process.stdout is not None
        assert process.stdout.readline() == "draining\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 130
        assert client.recv(1000) == b""
