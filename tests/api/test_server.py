"""The listening socket and the process."""

import signal
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from ds4.api.server import bind
from ds4.core.errors import OptionError, StartError

pytestmark = pytest.mark.server


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
