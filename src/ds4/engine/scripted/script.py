"""The Python file that says what the model answers.

    def reply(prompt: str) -> str: ...          the raw output for a rendered prompt
    COST = {"base": 0.01, ...}                  optional, fields of Cost
    REALTIME = True                             optional, steps really take their virtual time

The file is somebody else's code: whatever it raises is reported in one sentence with the place in
the file, as a StartError while loading and as an EngineError while replying.
"""

import runpy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from traceback import walk_tb
from types import TracebackType

from ds4.core.errors import Ds4Error, EngineError, StartError
from ds4.engine.scripted.cost import Cost

ReplyTo = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Script:
    """`source` names it in errors."""

    source: str
    reply_to: ReplyTo
    cost: Cost = field(default_factory=Cost)
    realtime: bool = False

    def reply(self, prompt: str) -> str:
        """Raises EngineError for anything that is not a text."""
        with _Blame(EngineError, self.source, "reply() failed"):
            answer: object = self.reply_to(prompt)
        if not isinstance(answer, str):
            kind = type(answer).__name__
            raise EngineError(f"script {self.source}: reply() must return a str, not {kind}")
        return answer


def load_script(path: Path) -> Script:
    """Runs the file. Raises StartError."""
    source = str(path)
    if not path.is_file():
        raise StartError(f"script {source} does not exist or is not a file")
    with _Blame(StartError, source, "cannot be loaded"):
        names = runpy.run_path(source)
    reply = names.get("reply")
    if not callable(reply):
        raise StartError(f"script {source} must define reply(prompt: str) -> str")
    return Script(source, reply, _cost(source, names.get("COST", {})), bool(names.get("REALTIME", False)))


def _cost(source: str, values: object) -> Cost:
    known = [item.name for item in fields(Cost)]
    if not isinstance(values, Mapping) or not set(values) <= set(known):
        raise StartError(f"script {source}: COST must be a dict with keys from {', '.join(known)}")
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
            raise StartError(f"script {source}: COST[{name!r}] must be seconds, zero or more")
    return Cost(**values)


class _Blame:
    """Turns what the script raises into one sentence of our own."""

    def __init__(self, kind: type[Ds4Error], source: str, what: str) -> None:
        self._kind = kind
        self._source = source
        self._what = what

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, trace: TracebackType | None) -> None:
        if isinstance(error, Exception | SystemExit):
            place = self._place(error, trace)
            raise self._kind(
                f"script {self._source} {self._what}{place}: {type(error).__name__}: {_line(error)}"
            ) from error

    def _place(self, error: BaseException, trace: TracebackType | None) -> str:
        if isinstance(error, SyntaxError):
            return f" at line {error.lineno}"
        lines = [line for frame, line in walk_tb(trace) if frame.f_code.co_filename == self._source]
        return f" at line {lines[-1]}" if lines else ""


def _line(error: BaseException) -> str:
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return " ".join(text.split()) or "no message"
