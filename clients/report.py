"""The lines that a run prints, and what one drive comes to. Pure."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from clients.process import Ended
from clients.watch import Exchange

_FINISHED = re.compile(r" ctx=(\d+)\.\.(\d+):\d+ .*\bfinish=(\w+)")
_BROKEN = re.compile(r'finish=error error="(.*)"')
_WORDS = 300


class Outcome(StrEnum):
    OK = "ok"
    FAILED = "FAILED"


@dataclass(frozen=True, slots=True)
class Line:
    client: str
    api: str
    family: str
    outcome: Outcome
    seconds: float
    note: str

    def __str__(self) -> str:
        place = f"{self.client:<18} {self.api:<10} {self.family:<12}"
        return f"{place} {self.outcome:<8} {self.seconds:6.1f} s  {self.note}".rstrip()


@dataclass(frozen=True, slots=True)
class Wanted:
    """`file` with `text` in it, and `word` in the answer. None for nothing in particular.

    `overflow`: prompts that do not fit may be refused, and the client may say so, as long as it goes on.
    """

    file: str | None = None
    text: str = ""
    word: str = ""
    overflow: bool = False


def total(lines: Iterable[Line]) -> str:
    outcomes = [line.outcome for line in lines]
    passed, failed = (outcomes.count(outcome) for outcome in Outcome)
    return f"{passed} passed, {failed} failed"


def fault(
    ended: Ended,
    wanted: Wanted,
    complaint: Callable[[str], str | None],
    refused: Iterable[Exchange],
    log: str = "",
) -> str | None:
    """Why a drive failed, None if it did not. `log` is what the server wrote meanwhile."""
    if broken := _BROKEN.search(log):
        return _short(f"the server failed: {broken[1]}")
    if ended.code is None:
        return "time-out"
    for exchange in refused:
        if not (wanted.overflow and _is_overflow(exchange)):
            return _short(f"the server refused {exchange.request}: {exchange.words()}")
    if not wanted.overflow:
        if said := complaint(ended.output):
            return _short(said)
        if ended.code:
            return _short(f"exit code {ended.code}: {ended.errors.strip() or ended.output.strip()}", end=True)
    if wanted.file is not None and ended.made.get(wanted.file, "").strip() != wanted.text:
        return f"{wanted.file} is not as wanted; there are {dict(ended.made)}"
    if wanted.word not in ended.output:
        return _short(f"the answer is missing: {ended.output.strip()}", end=True)
    return None


def cost(log: str) -> str:
    """What the server's log says of the answers in it."""
    found = [(int(reused), int(prompt)) for reused, prompt, _ in _FINISHED.findall(log)]
    reused, prompt = (sum(pair[part] for pair in found) for part in (0, 1))
    return f"{len(found)} answers, {reused} of {prompt} prompt tokens reused"


def _is_overflow(exchange: Exchange) -> bool:
    words = exchange.words()
    return exchange.status == 400 and ("context_length_exceeded" in words or "prompt is too long" in words)


def _short(text: str, *, end: bool = False) -> str:
    line = " ".join(text.split())
    return line[-_WORDS:] if end else line[:_WORDS]
