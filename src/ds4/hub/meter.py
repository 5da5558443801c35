"""How a download shows: a bar on a terminal, now and then a line elsewhere."""

from dataclasses import dataclass
from typing import Protocol, TextIO

from rich.console import Console
from rich.filesize import decimal
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.text import Text

from ds4.core.ports import Clock
from ds4.observe.log import line, per_second, stamp, style
from ds4.observe.records import Notice

LINE_SECONDS = 10.0
FRAME_SECONDS = 0.1


class Meter(Protocol):
    """One file at a time, in bytes. `advance` may be negative: the server started over."""

    def begin(self, name: str, done: int, total: int) -> None: ...

    def advance(self, count: int) -> None: ...

    def end(self) -> None: ...

    def say(self, notice: Notice) -> None: ...


@dataclass(slots=True)
class _Transfer:
    name: str
    done: int
    total: int
    resumed: int
    started: float
    shown: float


class LineMeter:
    """A line every ten seconds."""

    def __init__(self, stream: TextIO, clock: Clock) -> None:
        self._stream = stream
        self._clock = clock
        self._current: _Transfer | None = None

    def begin(self, name: str, done: int, total: int) -> None:
        now = self._clock.now()
        self._current = _Transfer(name, done, total, resumed=done, started=now, shown=now)

    def advance(self, count: int) -> None:
        transfer = self._current
        if transfer is None:
            return
        transfer.done += count
        now = self._clock.now()
        if now - transfer.shown >= LINE_SECONDS:
            transfer.shown = now
            self.say(Notice(_progress_line(transfer, now)))

    def end(self) -> None:
        self._current = None

    def say(self, notice: Notice) -> None:
        self._stream.write(f"{stamp(self._clock.wall())}{line(notice)}\n")
        self._stream.flush()


def _progress_line(transfer: _Transfer, now: float) -> str:
    rate = per_second(transfer.done - transfer.resumed, now - transfer.started)
    percent = 100 * transfer.done / max(transfer.total, 1)
    return (
        f"downloading {transfer.name} {decimal(transfer.done)} of {decimal(transfer.total)} "
        f"({percent:.1f}%) {decimal(int(rate))}/s"
    )


class BarMeter:
    """A bar at the bottom, notices above it. It starts no thread: the bar moves when bytes come."""

    def __init__(self, console: Console, clock: Clock) -> None:
        self._console = console
        self._clock = clock
        self._bar = _bar(console)
        self._task: TaskID | None = None
        self._shown = 0.0

    def begin(self, name: str, done: int, total: int) -> None:
        self._bar = _bar(self._console)
        self._task = self._bar.add_task(name, completed=done, total=total)
        self._bar.start()
        self._bar.refresh()

    def advance(self, count: int) -> None:
        if self._task is None:
            return
        now = self._clock.now()
        due = now - self._shown >= FRAME_SECONDS
        self._shown = now if due else self._shown
        self._bar.update(self._task, advance=count, refresh=due)

    def end(self) -> None:
        self._bar.stop()
        self._task = None

    def say(self, notice: Notice) -> None:
        text = Text(stamp(self._clock.wall()) + line(notice), style(notice))
        self._console.print(text, soft_wrap=True)


def _bar(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        console=console,
        auto_refresh=False,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )


def meter_on(stream: TextIO, clock: Clock) -> Meter:
    """A bar where the stream is a terminal that can move its cursor."""
    console = Console(file=stream, highlight=False)
    bar = console.is_interactive and stream.isatty()
    return BarMeter(console, clock) if bar else LineMeter(stream, clock)
