"""Runs one client in a HOME and a repository of its own, and leaves nothing running.

Rules:
- The client sees a short environment that is made here: no settings, keys or proxies of the caller.
- It runs in a session of its own, which is ended as a whole. What left that session is found by a mark
  in its environment.
"""

import os
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from clients.client import Command

MARK = "DS4_DRIVE"
AUTHOR = ("-c", "user.name=drive", "-c", "user.email=drive@localhost")


@dataclass(frozen=True, slots=True)
class Ended:
    """`code` is None after a time-out. `made` are the texts of the files that were not there before."""

    code: int | None
    output: str
    errors: str
    seconds: float
    made: Mapping[str, str]


def run(command: Command, node: Path, patience: float) -> Ended:
    """Waits `patience` seconds at most. Raises FileNotFoundError when there is no such program."""
    with tempfile.TemporaryDirectory(prefix="ds4-clients-", ignore_cleanup_errors=True) as name:
        root = Path(name)
        home, repository, scratch = root / "home", root / "repository", root / "tmp"
        for folder in (home, repository, scratch):
            folder.mkdir()
        for path, text in command.files.items():
            (home / path).parent.mkdir(parents=True, exist_ok=True)
            (home / path).write_text(text)
        _make_repository(repository)
        mark = uuid.uuid4().hex
        environment = {
            MARK: mark,
            "HOME": str(home),
            "TMPDIR": str(scratch),
            "PATH": f"{node.parent}:/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "SHELL": "/bin/bash",
            "USER": "drive",
            **command.environment,
        }
        with _ended_at_last(mark):
            return _wait(command.arguments, environment, repository, patience)


def _make_repository(folder: Path) -> None:
    (folder / "README.md").write_text("# A repository to try things in\n")
    for words in (("init", "-q", "-b", "main"), ("add", "."), ("commit", "-q", "-m", "Begin")):
        subprocess.run(("git", *AUTHOR, *words), cwd=folder, check=True)


def _wait(arguments: tuple[str, ...], environment: dict[str, str], folder: Path, patience: float) -> Ended:
    begun = time.monotonic()
    output, errors = folder.parent / "output", folder.parent / "errors"
    with output.open("wb") as out, errors.open("wb") as err:
        process = subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            cwd=folder,
            env=environment,
            start_new_session=True,
        )
        try:
            code: int | None = process.wait(patience)
        except subprocess.TimeoutExpired:
            code = None
        seconds = time.monotonic() - begun
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    made = {path.name: path.read_text(errors="replace") for path in folder.glob("*.txt")}
    return Ended(code, _text(output), _text(errors), seconds, made)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


@contextmanager
def _ended_at_last(mark: str) -> Iterator[None]:
    try:
        yield
    finally:
        for process in _marked(mark):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)


def _marked(mark: str) -> list[int]:
    """Where there is no /proc, only the session is ended."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return found
