"""The listening socket and the process's signals; uvicorn does the rest."""

import asyncio
import contextlib
import errno
import ipaddress
import os
import signal
import socket
import ssl
import sys
from collections.abc import Callable, Iterator

import uvicorn
from starlette.types import ASGIApp

from ds4.api.protocol import LimitedProtocol
from ds4.core.errors import OptionError, StartError

BACKLOG = 128
IDLE_SECONDS = 120
"""Longer than clients keep idle connections, so that they, not we, close them."""
DRAIN_SECONDS = 10
"""How long running answers may take to end after the first signal."""
SIGNALS = (signal.SIGINT, signal.SIGTERM)
KILLED = 130


def bind(host: str, port: int) -> socket.socket:
    """A listening socket. `host` is an IP literal or localhost. Raises StartError."""
    try:
        address = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host)
    except ValueError:
        raise OptionError(f"invalid value for --host: {host} (an IP address or localhost)") from None
    sock = socket.socket(socket.AF_INET if address.version == 4 else socket.AF_INET6)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((str(address), port))
        # Now, not when the loop runs: two servers could bind the same port as long as neither listens.
        sock.listen(BACKLOG)
    except OSError as error:
        sock.close()
        raise StartError(_why_not(host, port, error)) from None
    return sock


def _why_not(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"cannot listen on {host}:{port}: the port is in use; choose another one with --port"
    return f"cannot listen on {host}:{port}: {error.strerror}"


async def serve(
    sock: socket.socket,
    app: ASGIApp,
    on_drain: Callable[[], None],
    *,
    tls: ssl.SSLContext | None = None,
    stop: asyncio.Event | None = None,
) -> int:
    """Serves until SIGINT or SIGTERM, then calls `on_drain`, lets running answers end and returns 0.

    `stop` ends it in the same way, without `on_drain`. A second signal ends the process at once with
    status 130. Cancelling closes the socket and all connections.
    """
    server = _Server(_config(app, tls))
    loop = asyncio.get_running_loop()
    for number in SIGNALS:
        loop.add_signal_handler(number, _on_signal, server, on_drain)
    stopping = asyncio.ensure_future(_exit_on(stop or asyncio.Event(), server))
    try:
        await server.serve([sock])
    finally:
        stopping.cancel()
        for number in SIGNALS:
            loop.remove_signal_handler(number)
        server.close()
        sock.close()
    return 0


async def _exit_on(stop: asyncio.Event, server: "_Server") -> None:
    await stop.wait()
    server.should_exit = True


def _on_signal(server: "_Server", on_drain: Callable[[], None]) -> None:
    if server.should_exit:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(KILLED)
    server.should_exit = True
    on_drain()


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        # Signals are ours: uvicorn would raise them again after the shutdown and spoil the exit status.
        yield

    def close(self) -> None:
        """Lets go of the port and of every connection, whatever they are doing."""
        for listener in getattr(self, "servers", ()):
            listener.close()
        for connection in list(self.server_state.connections):
            connection.transport.abort()


def _config(app: ASGIApp, tls: ssl.SSLContext | None) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=LimitedProtocol,
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        log_level="critical",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        backlog=BACKLOG,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=DRAIN_SECONDS,
        ssl_context_factory=None if tls is None else lambda config, default: tls,  # noqa: ARG005
    )
