"""Records as log lines. Pure: no stream, no clock.

Rules:
- People parse these lines with scripts. Keys keep their spelling and order; new keys go to the end.
- One entry is one line (`cache_log.entries` gives those of a record). Whatever is not printable is escaped,
  and a value that is not one plain word is quoted (`words`).
"""

import time

from ds4.core.usage import MissReason
from ds4.observe.cache_log import Discarded, Entry, Miss, cache_line, cost, decision
from ds4.observe.records import (
    CheckpointEvicted,
    CheckpointHit,
    Decoding,
    Finished,
    LoadFailed,
    Notice,
    PrefillChunk,
    PromptDone,
    PromptStarted,
    Queued,
    Record,
    Stored,
    StoreSkipped,
    Subject,
)
from ds4.observe.words import printable, quoted, value


def logged(record: Record) -> bool:
    """That a request waits is to be looked up; the line of its start follows soon enough."""
    return not isinstance(record, Queued)


def line(entry: Entry) -> str:
    """One line without its end and without the stamp."""
    return printable(_worded(entry))


def stamp(wall: float) -> str:
    """The head of every line, from seconds since the epoch, in local time."""
    return time.strftime("%m%d %H:%M:%S ds4-server: ", time.localtime(wall))


def style(entry: Entry) -> str:
    """The colour of the line on a terminal, as a rich style; empty for the terminal's own."""
    match entry:
        case PromptStarted() | PromptDone():
            return "cyan"
        case Stored() | CheckpointHit() | CheckpointEvicted():
            return "magenta"
        case PrefillChunk() | Decoding():
            return "dim"
        case Finished(error=None):
            return "green"
        case Finished() | Notice(level="error") | Discarded():
            return "red"
        case Miss() | StoreSkipped() | LoadFailed() | Notice(level="warning"):
            return "yellow"
        case _:
            return ""


def span(subject: Subject) -> str:
    """`CACHED..PROMPT:SUFFIX` in tokens."""
    return f"{subject.reused}..{subject.prompt}:{subject.prompt - subject.reused}"


def per_second(count: int, seconds: float) -> float:
    """0 where no time has passed."""
    return count / seconds if seconds > 0 else 0.0


def _worded(entry: Entry) -> str:
    match entry:
        case Queued():
            return f"{_head(entry.subject)} queued id={value(entry.subject.job)}"
        case PromptStarted():
            return f"{_head(entry.subject)} prompt start slot={entry.slot} {_cache(entry)}"
        case PrefillChunk():
            return f"{_head(entry.subject)} prefill chunk {_chunk(entry)} {entry.elapsed:.3f}s"
        case PromptDone():
            return f"{_head(entry.subject)} prompt done {entry.elapsed:.3f}s"
        case Decoding():
            rates = _rates(entry.rate, entry.average)
            return f"{_head(entry.subject, entry.generated)} decoding {rates} {entry.elapsed:.3f}s"
        case Finished():
            return f"{_head(entry.subject, entry.generated)} {_finish(entry)}"
        case Notice():
            return entry.text if entry.level == "info" else f"{entry.level}: {entry.text}"
        case _:
            return cache_line(entry)


def _head(subject: Subject, generated: int | None = None) -> str:
    gen = () if generated is None else (f"gen={generated}",)
    return " ".join((subject.kind, f"ctx={span(subject)}", *gen, *subject.flags))


def _cache(record: PromptStarted) -> str:
    report = record.report
    loss = "" if report.reason is MissReason.NONE else f" common={report.common} reason={report.reason}"
    return f"cache={report.source}{loss} id={value(record.subject.job)}{decision(report)}"


def _chunk(record: PrefillChunk) -> str:
    percent = 100 * record.done / max(record.total, 1)
    rates = _rates(per_second(record.rows, record.seconds), per_second(record.done, record.elapsed))
    return f"{record.done}/{record.total} ({percent:.1f}%) {rates}"


def _finish(record: Finished) -> str:
    error = "" if record.error is None else f" error={quoted(record.error)}"
    ended = f"finish={record.finish}{error} {record.elapsed:.3f}s id={value(record.subject.job)}"
    forced = f" forced={record.forced}" if record.forced else ""
    return f"{ended} {cost(record.report)}{forced}"


def _rates(chunk: float, average: float) -> str:
    """In tokens per second."""
    return f"chunk={chunk:.2f} t/s avg={average:.2f} t/s"
