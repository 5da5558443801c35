"""A trace file as its lines."""

import gzip
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from io import BufferedIOBase
from pathlib import Path

import orjson

from ds4.core.errors import StartError
from ds4.observe.trace.values import Json

VERSION = 1
"""Of the lines; the head says it."""
POLL_SECONDS = 0.3
_GZIP = b"\x1f\x8b"


@dataclass(slots=True)
class Run:
    """One run of a server: its head, then what happened."""

    head: Json
    lines: list[Json] = field(default_factory=list)


def read_lines(
    path: Path, *, follow: bool = False, sleep: Callable[[float], None] = time.sleep
) -> Iterator[Json]:
    """Every line, as it comes with `follow`. Half a line at the end is left out: it is being written, or was
    when the server was killed. Raises StartError."""
    try:
        with _open(path) as file:
            for number, data in enumerate(_whole_lines(file, follow=follow, sleep=sleep), start=1):
                yield _line(path, number, data)
    except (OSError, EOFError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise StartError(f"trace {path}: {why}") from None


def runs(lines: Iterable[Json], path: Path) -> list[Run]:
    """Raises StartError for what does not begin with a head of this version."""
    found: list[Run] = []
    for line in lines:
        if line.get("at") == "head":
            if line.get("trace") != VERSION:
                raise StartError(f"trace {path}: version {line.get('trace')}, this program reads {VERSION}")
            found.append(Run(line))
        elif found:
            found[-1].lines.append(line)
        else:
            break
    if not found:
        raise StartError(f"trace {path}: not a trace: it does not begin with a head")
    return found


def _open(path: Path) -> BufferedIOBase:
    with path.open("rb") as file:
        packed = file.read(2) == _GZIP
    return gzip.open(path) if packed else path.open("rb")


def _whole_lines(file: BufferedIOBase, *, follow: bool, sleep: Callable[[float], None]) -> Iterator[bytes]:
    rest = b""
    while True:
        data = file.readline()
        rest += data
        if rest.endswith(b"\n"):
            yield rest
            rest = b""
        elif not data:
            if not follow:
                return
            sleep(POLL_SECONDS)


def _line(path: Path, number: int, data: bytes) -> Json:
    try:
        line = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise StartError(f"trace {path}: line {number} is no JSON: {error.msg}") from None
    if not isinstance(line, dict) or "at" not in line:
        raise StartError(f"trace {path}: line {number} is no line of a trace")
    return line
