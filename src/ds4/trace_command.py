"""`ds4-server trace FILE`: what a trace says, for people."""

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ds4.core.errors import OptionError
from ds4.observe.trace.reading import read_lines
from ds4.observe.trace.show import Reader

WORD = "trace"
USAGE = """usage: ds4-server trace FILE [--follow] [--request ID]

Prints a trace that --trace has written, request by request. FILE may be packed with gzip.

  --follow      wait for more, until interrupted
  --request ID  this request only, by its number or by the id in x-ds4-request
"""


@dataclass(frozen=True, slots=True)
class Command:
    file: Path
    follow: bool = False
    request: str | None = None


def main(argv: Sequence[str]) -> int:
    """`argv` behind the word `trace`. The exit code. Raises StartError."""
    if any(word in ("-h", "--help") for word in argv):
        sys.stdout.write(USAGE)
        return 0
    try:
        run(read(argv), _write)
    except BrokenPipeError:
        # Whoever reads has seen enough; what is left must not fail once more when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _write(text: str) -> None:
    """At once, also into a pipe: what is followed is read as it comes."""
    sys.stdout.write(text)
    sys.stdout.flush()


def read(argv: Sequence[str]) -> Command:
    """Raises OptionError."""
    words, file, follow, request = list(argv), None, False, None
    while words:
        match words.pop(0):
            case "--follow":
                follow = True
            case "--request":
                if not words:
                    raise OptionError("missing value for trace --request")
                request = words.pop(0)
            case word if word.startswith("-"):
                raise OptionError(f"unknown option: trace {word}")
            case word if file is None and word.strip():
                file = Path(word)
            case word:
                raise OptionError(f"trace takes one file: {word}")
    if file is None:
        raise OptionError("trace needs a file")
    return Command(file, follow, request)


def run(command: Command, write: Callable[[str], object]) -> None:
    """Raises StartError."""
    reader = Reader(command.request)
    for line in read_lines(command.file, follow=command.follow):
        _tell(reader.take(line), write)
    _tell(reader.rest(), write)


def _tell(texts: Iterable[str], write: Callable[[str], object]) -> None:
    if told := [text + "\n" for text in texts]:
        write("".join(told))
