"""Records as log lines. Pure: no stream, no clock.

Rules:
- People parse these lines with scripts. Keys keep their spelling and order; new keys go to the end.
- One record is one line. Whatever is not printable is escaped, and a value that is not one plain
  word is quoted, so that no id or error text can end a line, forge a key or steer a terminal.
"""

import re
import time

from ds4.core.usage import MissReason
from ds4.observe.records import (
    Decoding,
    Finished,
    Notice,
    PrefillChunk,
    PromptDone,
    PromptStarted,
    Record,
    Subject,
)

_WORD = re.compile(r"[\w.:/+-]+")


def line(record: Record) -> str:
    """One line without its end and without the stamp."""
    return printable(_worded(record))


def stamp(wall: float) -> str:
    """The head of every line, from seconds since the epoch, in local time."""
    return time.strftime("%m%d %H:%M:%S ds4-server: ", time.localtime(wall))


def style(record: Record) -> str:
    """The colour of the line on a terminal, as a rich style; empty for the terminal's own."""
    match record:
        case PromptStarted() | PromptDone():
            return "cyan"
        case PrefillChunk() | Decoding():
            return "dim"
        case Finished(error=None):
            return "green"
        case Finished() | Notice(level="error"):
            return "red"
        case Notice(level="warning"):
            return "yellow"
        case _:
            return ""


def span(subject: Subject) -> str:
    """`CACHED..PROMPT:SUFFIX` in tokens."""
    return f"{subject.reused}..{subject.prompt}:{subject.prompt - subject.reused}"


def per_second(count: int, seconds: float) -> float:
    """0 where no time has passed."""
    return count / seconds if seconds > 0 else 0.0


def printable(text: str) -> str:
    """`text` with everything that could move a cursor, hide or reorder text written as an escape."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def _worded(record: Record) -> str:
    match record:
        case PromptStarted():
            return f"{_head(record.subject)} prompt start slot={record.slot} {_cache(record)}"
        case PrefillChunk():
            return f"{_head(record.subject)} prefill chunk {_chunk(record)} {record.elapsed:.3f}s"
        case PromptDone():
            return f"{_head(record.subject)} prompt done {record.elapsed:.3f}s"
        case Decoding():
            rates = _rates(record.rate, record.average)
            return f"{_head(record.subject, record.generated)} decoding {rates} {record.elapsed:.3f}s"
        case Finished():
            return f"{_head(record.subject, record.generated)} {_finish(record)}"
        case Notice():
            return record.text if record.level == "info" else f"{record.level}: {record.text}"


def _head(subject: Subject, generated: int | None = None) -> str:
    gen = () if generated is None else (f"gen={generated}",)
    return " ".join((subject.kind, f"ctx={span(subject)}", *gen, *subject.flags))


def _cache(record: PromptStarted) -> str:
    report = record.report
    loss = "" if report.reason is MissReason.NONE else f" common={report.common} reason={report.reason}"
    return f"cache={report.source}{loss} id={_value(record.subject.job)}"


def _chunk(record: PrefillChunk) -> str:
    percent = 100 * record.done / max(record.total, 1)
    rates = _rates(per_second(record.rows, record.seconds), per_second(record.done, record.elapsed))
    return f"{record.done}/{record.total} ({percent:.1f}%) {rates}"


def _finish(record: Finished) -> str:
    error = "" if record.error is None else f" error={_quoted(record.error)}"
    return f"finish={record.finish}{error} {record.elapsed:.3f}s id={_value(record.subject.job)}"


def _rates(chunk: float, average: float) -> str:
    """In tokens per second."""
    return f"chunk={chunk:.2f} t/s avg={average:.2f} t/s"


def _value(text: str) -> str:
    return text if _WORD.fullmatch(text) else _quoted(text)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
