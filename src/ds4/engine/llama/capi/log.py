"""llama.cpp's log: silent, except where somebody wants to know why a call failed or how much it took.

The logger is global to the process, so captures must not overlap; they happen while a model is opened.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from ds4.engine.llama.capi.native import llama

_ERROR = 4
_CONTINUED = 5
_WHERE = re.compile(r"^\s*[\w:~]+: ")
_LOADING = "error loading model: "

# Kept alive for ever: native threads may call it at any time.
_SILENT = llama.llama_log_callback(lambda _level, _text, _data: None)
llama.llama_log_set(_SILENT, None)


class LogLines:
    """What was logged during a capture, as (level, line)."""

    def __init__(self) -> None:
        self.lines: list[tuple[int, str]] = []

    def add(self, level: int, text: bytes | None, _data: object) -> None:
        line = (text or b"").decode("utf-8", "replace")
        if level == _CONTINUED and self.lines:
            level, start = self.lines.pop()
            line = start + line
        self.lines.append((level, line))

    @property
    def text(self) -> str:
        return "".join(line for _, line in self.lines)

    def cause(self) -> str:
        """The most telling error as part of a sentence, without the C function's name."""
        errors = [line.strip() for level, line in self.lines if level == _ERROR]
        for line in errors:
            if _LOADING in line:
                return _bare(line.partition(_LOADING)[2])
        return _bare(errors[0]) if errors else "llama.cpp gave no reason"


def _bare(line: str) -> str:
    return _WHERE.sub("", line).rstrip(".")


@contextmanager
def captured_log() -> Iterator[LogLines]:
    lines = LogLines()
    callback = llama.llama_log_callback(lines.add)
    llama.llama_log_set(callback, None)
    try:
        yield lines
    finally:
        llama.llama_log_set(_SILENT, None)
