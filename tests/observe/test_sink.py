"""The log thread: never in the engine's way, honest about what it dropped."""

import io
import threading

import pytest

from ds4.core.usage import CacheReport, MissReason
from ds4.observe.log import stamp
from ds4.observe.records import Notice, PrefillChunk, PromptStarted, Queued, Subject
from ds4.observe.sink import LogSink

CHUNK = PrefillChunk(Subject("req-1", "chat", (), 0, 9), done=3, total=9, rows=3, seconds=1.0, elapsed=1.0)


class HandClock:
    """Stands still until it is set."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> float:
        return self.seconds

    def wall(self) -> float:
        return self.seconds


class StuckStream(io.StringIO):
    """Hangs in its first write until released, like a terminal after Ctrl-S."""

    def __init__(self) -> None:
        super().__init__()
        self.entered = threading.Event()
        self.released = threading.Event()

    def write(self, text: str) -> int:
        self.entered.set()
        self.released.wait()
        return super().write(text)


class FailingStream(io.StringIO):
    """Fails while `broken`. `seen` is set by the text "mark"."""

    def __init__(self, *, broken: bool = False, tty: bool = False) -> None:
        super().__init__()
        self.broken = broken
        self.tty = tty
        self.seen = threading.Event()

    def isatty(self) -> bool:
        return self.tty

    def write(self, text: str) -> int:
        broken = self.broken
        if "mark" in text:
            self.seen.set()
        if broken:
            raise OSError("no space left")
        return super().write(text)


@pytest.fixture(params=[False, True], ids=["file", "terminal"])
def tty(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    return bool(request.param)


def lines(stream: io.StringIO) -> list[str]:
    return [written.split("ds4-server: ")[1] for written in stream.getvalue().splitlines()]


def test_close_writes_what_waits_in_order() -> None:
    stream = io.StringIO()
    sink = LogSink(stream, HandClock())
    for number in range(100):
        sink(Notice(f"line {number}"))
    sink.close()
    assert lines(stream) == [f"line {number}" for number in range(100)]


def test_a_record_may_be_no_line_or_two() -> None:
    stream, subject = io.StringIO(), Subject("req-1", "chat", (), 0, 9)
    sink = LogSink(stream, HandClock())
    sink(Queued(subject))
    sink(PromptStarted(subject, 0, CacheReport(reason=MissReason.EDITED)))
    sink.close()
    assert [text[:20] for text in lines(stream)] == ["chat ctx=0..9:9 prom", "live kv cache miss l"]


def test_a_stuck_stream_blocks_nobody_and_the_loss_is_told() -> None:
    stream = StuckStream()
    sink = LogSink(stream, HandClock(), capacity=2)
    sink(Notice("first"))
    stream.entered.wait()
    for number in range(5):
        sink(Notice(f"line {number}"))
    stream.released.set()
    sink.close()
    assert lines(stream) == ["first", "line 0", "line 1", "warning: 3 log lines dropped"]


def test_close_gives_up_on_a_stuck_stream() -> None:
    stream = StuckStream()
    sink = LogSink(stream, HandClock())
    sink(Notice("first"))
    stream.entered.wait()
    sink.close(timeout=0)
    assert stream.getvalue() == ""
    stream.released.set()


def test_records_after_close_are_lost() -> None:
    stream = io.StringIO()
    sink = LogSink(stream, HandClock())
    sink.close()
    sink(Notice("late"))
    sink.close()
    assert lines(stream) == []


def test_close_gives_the_cursor_back(tty: bool) -> None:
    stream = FailingStream(tty=tty)
    sink = LogSink(stream, HandClock())
    sink(CHUNK)
    sink.close()
    hidden, shown = (stream.getvalue().rfind(f"\x1b[?25{end}") for end in "lh")
    assert (hidden < shown) if tty else (hidden == shown == -1)


def test_a_failed_write_costs_one_line(tty: bool) -> None:
    stream = FailingStream(broken=True, tty=tty)
    sink = LogSink(stream, HandClock())
    sink(Notice("mark: lost"))
    stream.seen.wait()
    stream.broken = False
    sink(Notice("kept"))
    sink.close()
    assert lines(stream) == ["kept"]


def test_a_stream_may_be_gone_at_the_end(tty: bool) -> None:
    stream = FailingStream(tty=tty)
    sink = LogSink(stream, HandClock())
    sink(CHUNK)
    sink(Notice("mark"))
    stream.seen.wait()
    stream.broken = True
    sink.close()  # an exception in the log thread would fail the test
    assert "mark" in stream.getvalue()


def test_a_closed_stream_does_not_stop_the_caller() -> None:
    stream = io.StringIO()
    sink = LogSink(stream, HandClock())
    stream.close()
    sink(Notice("nowhere"))
    sink.close()


def test_a_line_carries_the_time_of_its_record_not_of_its_writing() -> None:
    stream, clock = StuckStream(), HandClock()
    sink = LogSink(stream, clock)
    for clock.seconds in (0.0, 60.0):
        sink(Notice("tick"))
    clock.seconds = 3600.0
    stream.released.set()
    sink.close()
    assert stream.getvalue().splitlines() == [stamp(0.0) + "tick", stamp(60.0) + "tick"]
