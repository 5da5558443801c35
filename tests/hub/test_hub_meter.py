"""What a download looks like, on a terminal and in a log file."""

import io

import pytest
from rich.console import Console

from ds4.hub.meter import BarMeter, LineMeter, meter_on
from ds4.observe.records import Notice
from ds4.testing.clock import FakeClock

MB = 1_000_000


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_lines_come_every_ten_seconds() -> None:
    clock, stream = FakeClock(), io.StringIO()
    meter = LineMeter(stream, clock)
    meter.begin("m.gguf", 100 * MB, 1000 * MB)
    for _ in range(25):
        clock.advance(1)
        meter.advance(10 * MB)
    meter.end()
    texts = [line.split("ds4-server: ")[1] for line in stream.getvalue().splitlines()]
    assert texts == [
        "downloading m.gguf 200.0 MB of 1.0 GB (20.0%) 10.0 MB/s",
        "downloading m.gguf 300.0 MB of 1.0 GB (30.0%) 10.0 MB/s",
    ]


def test_a_server_that_starts_over_takes_the_count_back() -> None:
    clock, stream = FakeClock(), io.StringIO()
    meter = LineMeter(stream, clock)
    meter.begin("m.gguf", 500, 1000)
    meter.advance(-500)
    clock.advance(10)
    meter.advance(100)
    assert "100 bytes of 1.0 kB (10.0%)" in stream.getvalue()


def test_names_cannot_steer_the_screen() -> None:
    stream = io.StringIO()
    LineMeter(stream, FakeClock()).say(Notice("evil\x1b[2J\nname"))
    assert stream.getvalue().endswith("evil\\x1b[2J\\nname\n")


def test_a_bar_on_a_terminal_and_notices_above_it() -> None:
    clock, stream = FakeClock(), Terminal()
    meter = BarMeter(Console(file=stream, force_terminal=True, width=100, highlight=False), clock)
    meter.begin("[bold]m.gguf", 0, 1000)
    clock.advance(1)
    meter.advance(250)
    meter.say(Notice("lost", "warning"))
    meter.end()
    meter.say(Notice("done"))
    shown = stream.getvalue()
    assert "[bold]m.gguf" in shown
    assert "0.2/1.0 kB" in shown
    assert "warning: lost" in shown
    assert shown.rstrip().endswith("done")


def test_the_bar_is_drawn_ten_times_a_second_at_most() -> None:
    clock, stream = FakeClock(start=5.0), Terminal()
    meter = BarMeter(Console(file=stream, force_terminal=True, width=100), clock)
    meter.begin("m.gguf", 0, 1000)
    meter.advance(1)
    drawn = len(stream.getvalue())
    for _ in range(50):
        meter.advance(1)
    assert len(stream.getvalue()) == drawn
    clock.advance(0.2)
    meter.advance(1)
    assert len(stream.getvalue()) > drawn
    meter.end()


def test_the_stream_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    assert isinstance(meter_on(Terminal(), FakeClock()), BarMeter)
    assert isinstance(meter_on(io.StringIO(), FakeClock()), LineMeter)
    monkeypatch.setenv("TERM", "dumb")
    assert isinstance(meter_on(Terminal(), FakeClock()), LineMeter)
