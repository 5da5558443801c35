"""`ds4-server cache DIR [list|verify|prune|clear]`: what a cache directory holds, and looking after it."""

import sqlite3
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ds4.api.responses import durable
from ds4.config.values import integer
from ds4.core.errors import OptionError, StartError
from ds4.kv.disk import care
from ds4.kv.disk.depot import Depot
from ds4.kv.disk.folder import Unusable
from ds4.kv.disk.room import DoesNotFit
from ds4.kv.replay import database
from ds4.observe.records import CheckpointEvicted, LoadFailed, Notice, Record
from ds4.storage.sqlite_file import files_of

USAGE = """usage: ds4-server cache DIR [ACTION]

Looks after the directory of --kv-disk-dir; servers may be running.

  list                    what is there and what it is worth (default)
  verify                  read everything; what is damaged is put aside
  prune --space-mb N      what is worth least goes, down to N MiB
  prune --unused-hours N  what was not used for N hours goes
  clear                   every checkpoint goes
  clear --all             remembered answers and kept responses go too
"""
WORD = "cache"
ACTIONS = ("list", "verify", "prune", "clear")
DAMAGED = 1
MIB = 1 << 20
BESIDE = (
    ("remembered answers", Path(database.FILE)),
    ("kept responses", Path(durable.FOLDER, durable.FILE)),
)
"""What else servers keep in the directory, each in a database of its own."""


@dataclass(frozen=True, slots=True)
class Command:
    """`space` is bytes. Exactly one of the two limits is set for prune. `beside`: what is no checkpoint goes,
    too."""

    directory: Path
    action: str = "list"
    space: int | None = None
    unused_hours: int | None = None
    beside: bool = False


def main(argv: Sequence[str]) -> int:
    """`argv` behind the word `cache`. The exit code: 1 when something was damaged. Raises StartError."""
    if any(word in ("-h", "--help") for word in argv):
        sys.stdout.write(USAGE)
        return 0
    command = read(argv)
    try:
        return run(command, sys.stdout.write)
    except (Unusable, sqlite3.Error, OSError) as error:
        raise StartError(str(error)) from None


def read(argv: Sequence[str]) -> Command:
    """Raises OptionError."""
    if not argv or not argv[0].strip():
        raise OptionError("cache needs a directory")
    if argv[0].startswith("-"):
        raise OptionError(f"unknown option: cache {argv[0]}")
    directory, (action, *rest) = Path(argv[0]), argv[1:] or ["list"]
    if action not in ACTIONS:
        raise OptionError(f"unknown action: cache {action} (there are {', '.join(ACTIONS)})")
    if action == "prune":
        return _prune(directory, rest)
    if action == "clear" and rest == ["--all"]:
        return Command(directory, action, beside=True)
    if rest:
        raise OptionError(f"cache {action} takes nothing more: {rest[0]}")
    return Command(directory, action)


def run(command: Command, write: Callable[[str], object]) -> int:
    """Raises Unusable, sqlite3.Error and OSError."""
    lost: list[LoadFailed] = []

    def observe(record: Record) -> None:
        if isinstance(record, LoadFailed):
            lost.append(record)
        if text := _line(record):
            write(text + "\n")

    if command.action == "clear":
        care.clear(command.directory, observe)
        if command.beside:
            _remove_beside(command.directory, write)
        return 0
    depot = care.open_depot(command.directory, observe, command.space or 0)
    try:
        _act(command, depot)
        lines = [*report(care.survey(depot, time.time())), *_beside(command.directory)]
        write("\n".join(lines) + "\n")
    finally:
        depot.close()
    return DAMAGED if lost else 0


def report(found: care.Survey) -> list[str]:
    """A table, then the sums."""
    table: list[tuple[str, ...]] = [
        ("KEY", "MODEL", "REASON", "KIND", "TOKENS", "MIB", "UNIQUE", "HITS", "IDLE", "VALUE")
    ]
    table += [_cells(row) for row in found.rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in table]
    on_disk = found.segments + found.index
    shared = f", {found.held / found.live:.1f} times what it takes" if found.live else ""
    return [
        *(line.rstrip() for line in lines if found.rows),
        f"{len(found.rows)} checkpoints of {_mib(found.held)} MiB in all{shared}",
        f"{_mib(on_disk)} MiB on disk: {_mib(found.live)} in use, {_mib(found.segments - found.live)} to be "
        f"given back, {_mib(found.index)} index",
    ]


def _beside(directory: Path) -> Iterator[str]:
    for name, path in BESIDE:
        if size := sum(file.stat().st_size for file in files_of(directory / path)):
            yield f"{_mib(size)} MiB of {name} ({path})"


def _remove_beside(directory: Path, write: Callable[[str], object]) -> None:
    for line in _beside(directory):
        write(f"removed: {line}\n")
    for _, path in BESIDE:
        for file in files_of(directory / path):
            file.unlink(missing_ok=True)
    with suppress(OSError):
        (directory / durable.FOLDER).rmdir()


def _prune(directory: Path, rest: Sequence[str]) -> Command:
    if len(rest) != 2 or rest[0] not in ("--space-mb", "--unused-hours"):
        raise OptionError("cache prune needs --space-mb N or --unused-hours N")
    try:
        number = integer(0)(rest[1])
    except ValueError:
        raise OptionError(f"invalid value for {rest[0]}: {rest[1]}") from None
    if rest[0] == "--space-mb":
        return Command(directory, "prune", space=number * MIB)
    return Command(directory, "prune", unused_hours=number)


def _act(command: Command, depot: Depot) -> None:
    if command.action == "verify":
        care.verify(depot)
    elif command.space is not None:
        try:
            care.prune_to(depot, command.space)
        except DoesNotFit:
            raise Unusable("no more can be removed") from None
    elif command.unused_hours is not None:
        care.prune_unused(depot, command.unused_hours, time.time())


def _line(record: Record) -> str:
    match record:
        case LoadFailed():
            return f"damaged, put aside: {record.key}: {record.why}"
        case CheckpointEvicted():
            return f"removed: {record.key} ({record.rows} tokens, {_mib(record.size)} MiB)"
        case Notice():
            return record.text
    return ""


def _cells(row: care.Row) -> tuple[str, ...]:
    return (
        row.key[:12],
        f"{row.model[:8]}/{row.quant[:8]}",
        row.reason,
        str(row.kind),
        str(row.rows),
        _mib(row.size),
        _mib(row.unique),
        str(row.hits),
        _age(row.idle),
        f"{row.value * MIB:.1f}",
    )


def _mib(size: int) -> str:
    return f"{size / MIB:.1f}"


def _age(seconds: float) -> str:
    for unit, length in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= length:
            return f"{seconds / length:.0f}{unit}"
    return f"{seconds:.0f}s"
