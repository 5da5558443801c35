"""The contenders as processes of their own: ours, and llama-server built from the pinned sources."""

import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ds4.testing.process import free_port


@dataclass(frozen=True, slots=True)
class Setting:
    """The same for both. `ctx` is rows per slot."""

    model: Path
    slots: int
    ctx: int
    threads: int
    flash_attn: str = "auto"
    chunk: int = 2048

    def ours(self) -> list[str]:
        return [
            *(sys.executable, "-m", "ds4", "-m", str(self.model), "--flash-attn", self.flash_attn),
            *("--ctx", str(self.ctx), "--batched-session", str(self.slots)),
            *("-t", str(self.threads), "--threads-batch", str(self.threads)),
            *("--prefill-chunk", str(self.chunk)),
        ]

    def llama_server(self, program: Path) -> list[str]:
        return [
            *(str(program), "-m", str(self.model), "-fa", self.flash_attn),
            *("-c", str(self.ctx * self.slots), "-np", str(self.slots)),
            *("-t", str(self.threads), "-tb", str(self.threads)),
            *("-b", str(self.chunk), "-ub", "512", "--no-webui"),
        ]


@contextmanager
def running(command: Sequence[str], log: Path, patience: float = 120) -> Iterator[int]:
    """The port of a server that answers /health with 200. Raises TimeoutError."""
    server = Server(command, log)
    try:
        yield server.start(patience)
    finally:
        server.stop()


class Server:
    """A process that can be ended and started again."""

    def __init__(self, command: Sequence[str], log: Path) -> None:
        self._command = command
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self, patience: float = 120) -> int:
        """Its port, once /health answers with 200. Raises TimeoutError."""
        port = free_port()
        with self._log.open("ab") as stream:
            command = [*self._command, "--port", str(port)]
            self._process = subprocess.Popen(command, stdout=stream, stderr=stream)
        _wait_for(port, self._process, patience, self._log)
        return port

    def stop(self, *, kill: bool = False, patience: float = 60) -> None:
        """SIGTERM, or SIGKILL. Nothing when it does not run."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill() if kill else process.terminate()
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_for(port: int, process: "subprocess.Popen[bytes]", patience: float, log: Path) -> None:
    end = time.monotonic() + patience
    while time.monotonic() < end and process.poll() is None:
        if all(_answers(port, path) for path in ("/health", "/v1/models")):
            return
        time.sleep(0.1)
    raise TimeoutError(f"no server: {log.read_text(errors='replace')[-2000:]}")


def _answers(port: int, path: str) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, ConnectionError):
        return False


def llama_server_program() -> Path:
    """$LLAMA_SERVER, or where bench.build_peer puts it."""
    return Path(os.environ.get("LLAMA_SERVER", Path.cwd() / ".cache" / "bench" / "llama-server"))
