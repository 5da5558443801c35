"""A real server in a process of its own, on a free loopback port."""

import socket
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

STOP_SECONDS = 20


@dataclass(frozen=True, slots=True)
class ServerProcess:
    """`log` grows while the server runs."""

    url: str
    process: subprocess.Popen[bytes]
    log: Path


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def command(*options: str) -> list[str]:
    return [sys.executable, "-m", "ds4", *options]


@contextmanager
def server_process(
    folder: Path,
    *options: str,
    port: int | None = None,
    patience: float = 60,
    tls: ssl.SSLContext | None = None,
) -> Iterator[ServerProcess]:
    """A server that is ready; it is stopped at the end. `tls` trusts the certificate of one that serves
    HTTPS. Raises TimeoutError with its log.
    """
    chosen = port or free_port()
    log = folder / f"server-{chosen}.log"
    with log.open("wb") as stream:
        process = subprocess.Popen(
            command("--port", str(chosen), *options), stdout=stream, stderr=stream, cwd=folder
        )
    scheme = "http" if tls is None else "https"
    server = ServerProcess(f"{scheme}://127.0.0.1:{chosen}", process, log)
    try:
        _wait_until_ready(server, patience, tls)
        yield server
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_ready(server: ServerProcess, patience: float, tls: ssl.SSLContext | None) -> None:
    end = time.monotonic() + patience
    while time.monotonic() < end and server.process.poll() is None:
        if _is_ready(server.url, tls):
            return
        time.sleep(0.05)
    raise TimeoutError(f"the server did not get ready:\n{server.log.read_text()}")


def _is_ready(url: str, tls: ssl.SSLContext | None) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/ready", timeout=5, context=tls) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, ConnectionError):
        return False
