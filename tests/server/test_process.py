"""Start and end of the real process: exit codes and the words on stderr."""

import contextlib
import http.client
import json
import signal
import socket
import subprocess
import threading
import time
import urllib.request
from pathlib import Path

import pytest

from ds4.testing.process import ServerProcess, command, free_port, server_process

pytestmark = [pytest.mark.server]

SLOW = """
REALTIME = True
COST = {{"base": {step_seconds}}}

def reply(prompt):
    return "word " * 2000
"""


def scripted(folder: Path, step_seconds: float = 0.02) -> list[str]:
    script = folder / "slow.py"
    script.write_text(SLOW.format(step_seconds=step_seconds))
    return ["--engine", "scripted", "--script", str(script)]


def wait_for(server: ServerProcess, words: str, seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while words not in server.log.read_text():
        assert time.monotonic() < end, f"the log never said {words!r}"
        time.sleep(0.02)


def run(folder: Path, *options: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command(*options), cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )


def fails(*options: str, folder: Path) -> tuple[int, str]:
    done = run(folder, *options)
    return done.returncode, done.stderr


class Asking(threading.Thread):
    """Streams one answer; `lines` are the data lines so far."""

    def __init__(self, server: ServerProcess, *, daemon: bool = False) -> None:
        super().__init__(daemon=daemon)
        self._server = server
        self.begun = threading.Event()
        self.lines: list[str] = []

    def run(self) -> None:
        body = json.dumps({"messages": [{"role": "user", "content": "go"}], "stream": True}).encode()
        request = urllib.request.Request(f"{self._server.url}/v1/chat/completions", body)
        with (
            contextlib.suppress(OSError, http.client.HTTPException),  # the server may be killed
            urllib.request.urlopen(request, timeout=30) as answer,
        ):
            for raw in answer:
                line = raw.decode().strip()
                if line:
                    self.lines.append(line)
                if '"content":"w' in line:
                    self.begun.set()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_running_answers_honestly_and_exits_with_0(number: int, tmp_path: Path) -> None:
    with server_process(tmp_path, *scripted(tmp_path)) as server:
        asking = Asking(server)
        asking.start()
        assert asking.begun.wait(10)
        server.process.send_signal(number)
        assert server.process.wait(10) == 0
        asking.join(10)
    assert '"finish_reason":"error"' in asking.lines[-2]
    assert asking.lines[-1] == "data: [DONE]"
    assert "shutdown requested" in server.log.read_text()


def test_a_second_signal_does_not_wait_for_the_engine(tmp_path: Path) -> None:
    with server_process(tmp_path, *scripted(tmp_path, step_seconds=8)) as server:
        Asking(server, daemon=True).start()
        wait_for(server, "prompt start")
        server.process.send_signal(signal.SIGINT)
        wait_for(server, "shutdown requested")
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(4) == 130


def test_after_kill_9_the_same_port_serves_again(tmp_path: Path) -> None:
    with server_process(tmp_path, *scripted(tmp_path)) as server:
        asking = Asking(server, daemon=True)
        asking.start()
        assert asking.begun.wait(10)
        server.process.kill()
        server.process.wait(10)
    asking.join(10)
    port = int(server.url.rpartition(":")[2])
    with server_process(tmp_path, *scripted(tmp_path), port=port) as again:
        assert again.url == server.url


BROKEN = """
from ds4.schedule.pool import SlotPool

def broken(self):
    raise RuntimeError("a defect of the scheduler")

def reply(prompt):
    SlotPool.statuses = broken
    return "word " * 50
"""


def test_a_broken_engine_thread_is_answered_said_and_ends_the_process(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text(BROKEN)
    with server_process(tmp_path, "--engine", "scripted", "--script", "broken.py") as server:
        asking = Asking(server)
        asking.start()
        assert server.process.wait(20) == 1
        asking.join(10)
        assert not asking.is_alive(), "the client is not left waiting"
    assert "the engine thread ended: RuntimeError: a defect of the scheduler" in server.log.read_text()


def test_an_abort_inside_the_engine_ends_the_process_at_once(tmp_path: Path) -> None:
    (tmp_path / "abort.py").write_text("import os\n\ndef reply(prompt):\n    os.abort()\n")
    with server_process(tmp_path, "--engine", "scripted", "--script", "abort.py") as server:
        asking = Asking(server)
        asking.start()
        assert server.process.wait(20) == -signal.SIGABRT
        asking.join(10)
        assert not asking.is_alive(), "the connection is gone, and the client knows"


def test_a_taken_port_is_said_before_the_model_is_loaded(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, words = fails("--port", str(port), *scripted(tmp_path), folder=tmp_path)
    assert code == 1
    assert f"cannot listen on 127.0.0.1:{port}" in words


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--ctx", "many"], "invalid value for --ctx: many"),
        (["--nonsense"], "unknown option: --nonsense"),
        (["--port"], "missing value for --port"),
        (["--engine", "scripted"], "--script"),
        (["--model-family", "nope"], "nope"),
    ],
)
def test_bad_options_exit_with_2(options: list[str], said: str, tmp_path: Path) -> None:
    code, words = fails(*options, folder=tmp_path)
    assert code == 2
    assert said in words


def test_bad_models_exit_with_1_and_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "text.gguf").write_text("this is no model")
    (tmp_path / "empty.gguf").write_bytes(b"")
    for name in ("missing.gguf", "text.gguf", "empty.gguf"):
        code, words = fails("-m", name, "--port", str(free_port()), folder=tmp_path)
        assert code == 1, name
        (sentence,) = [line for line in words.splitlines() if line.startswith("ds4-server: ")]
        assert name in sentence
        assert "Traceback" not in words


def test_a_broken_script_exits_with_1(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("def reply(:\n")
    code, words = fails("--engine", "scripted", "--script", "broken.py", folder=tmp_path)
    assert code == 1
    assert "broken.py" in words
    assert "Traceback" not in words


def test_help_and_version_go_to_stdout(tmp_path: Path) -> None:
    for options in (["--help"], ["--help", "scheduling"], ["--version"]):
        done = run(tmp_path, *options)
        assert (done.returncode, done.stderr) == (0, "")
        assert "ds4-server" in done.stdout
