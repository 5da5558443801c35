"""What the cache did, as log lines: misses, checkpoints, and what a request cost. Pure.

Some records are worth two lines; the second is made here from the first.
"""

from dataclasses import dataclass

from ds4.core.usage import CacheReport, Difference, MissReason
from ds4.observe.records import (
    CacheRecord,
    CheckpointEvicted,
    CheckpointHit,
    LoadFailed,
    PromptStarted,
    Record,
    Stored,
    StoreSkipped,
    Subject,
)
from ds4.observe.words import mib, ms, quoted, value


@dataclass(frozen=True, slots=True)
class Miss:
    """Follows a prompt's start when something known could not be reused."""

    subject: Subject
    report: CacheReport


@dataclass(frozen=True, slots=True)
class Discarded:
    """Follows a failed load whose checkpoint is not read again."""

    key: str


Entry = Record | Miss | Discarded
"""One line."""


def entries(record: Record) -> tuple[Entry, ...]:
    match record:
        case PromptStarted(report=report) if report.reason is not MissReason.NONE:
            return record, Miss(record.subject, report)
        case LoadFailed(quarantined=True):
            return record, Discarded(record.key)
        case _:
            return (record,)


def cache_line(entry: CacheRecord | Miss | Discarded) -> str:
    match entry:
        case Miss():
            return f"live kv cache miss {_miss(entry)}"
        case CheckpointHit():
            return f"kv cache hit text {_hit(entry)}"
        case Stored():
            return f"kv cache stored {_stored(entry)}"
        case StoreSkipped():
            return f"kv cache skipped reason={entry.reason} tokens={entry.rows} why={value(entry.why)}"
        case CheckpointEvicted():
            return f"kv cache evicted {_evicted(entry)}"
        case LoadFailed():
            return f"kv cache load failed {value(entry.key)} : {entry.why}"
        case Discarded():
            return f"kv cache discarded corrupt checkpoint key={value(entry.key)}"


def miss_words(report: CacheReport, prompt: int) -> str:
    """What the counts of rows alone say, in the words that scripts know; `why=` says the rest."""
    if not report.held:
        return "no-live-checkpoint"
    if report.common < min(report.held, prompt):
        return "token-mismatch"
    if prompt < report.held:
        return "incoming-prompt-shorter-than-live-checkpoint"
    return "live-prefix-match"


def decision(report: CacheReport) -> str:
    """What is unusual about a prompt's beginning: each key with a space in front, empty for nothing."""
    keys = {
        "rewound": "yes" if report.rewound else "",
        "healed": "yes" if report.healed else "",
        "other_quant": report.other_quant,
        "normalised": ",".join(report.normalised),
        "replayed": str(report.replay.turns or ""),
        "not_replayed": ",".join(f"{sent.message}:{sent.why}" for sent in report.replay.refused),
        "behind": str(report.replay.behind or ""),
    }
    return "".join(f" {key}={value(said)}" for key, said in keys.items() if said)


def cost(report: CacheReport) -> str:
    """What a request took from the cache and cost others."""
    words = [f"cache={report.source} reused={report.reused} computed={report.computed}"]
    if report.restored_bytes or report.restore_seconds:
        words.append(f"restored={mib(report.restored_bytes)} restore={ms(report.restore_seconds)}")
    if report.waited_seconds:
        words.append(f"waited={ms(report.waited_seconds)}")
    if report.displaced:
        words.append(f"displaced={report.displaced}")
    if report.saved:
        kept = ",".join(f"{saved.reason}/{saved.tier}:{saved.rows}" for saved in report.saved)
        words.append(f"saved={kept}")
    return " ".join(words)


def _miss(miss: Miss) -> str:
    report, prompt = miss.report, miss.subject.prompt
    counts = f"live={report.held} prompt={prompt} common={report.common}"
    reasons = f"reason={miss_words(report, prompt)} why={report.reason}"
    changed = "" if report.changed is None else f" changed={report.changed}"
    where = "" if report.difference is None else f" {_difference(report.difference)}"
    return f"{counts} {reasons}{changed}{where} id={value(miss.subject.job)}"


def _difference(found: Difference) -> str:
    message = "" if found.message is None else f"message={found.message} "
    return f"{message}row={found.row} held={quoted(found.held)} wanted={quoted(found.wanted)}"


def _hit(hit: CheckpointHit) -> str:
    head = f"tokens={hit.rows} quant={value(hit.quant)} key={value(hit.key)}"
    return f"{head} load={ms(hit.seconds)} size={mib(hit.size)}"


def _stored(stored: Stored) -> str:
    head = f"tokens={stored.rows} trimmed={stored.trimmed} reason={stored.reason} key={value(stored.key)}"
    return f"{head} size={mib(stored.size)} save={ms(stored.seconds)} written={mib(stored.written)}"


def _evicted(evicted: CheckpointEvicted) -> str:
    head = f"reason={value(evicted.why)} tokens={evicted.rows} hits={evicted.hits}"
    return f"{head} size={mib(evicted.size)} key={value(evicted.key)}"
