"""What a person sees: bars below, whole log lines above, nothing left behind."""

import io
import re

import pytest

from ds4.core.usage import CacheReport
from ds4.observe.log import line, stamp
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
from ds4.observe.sink import PlainView, View, view_on

ONE = Subject("req-1", "chat", (), reused=100, prompt=300)
TWO = Subject("req-2", "completion", (), reused=0, prompt=50)
WIDTH = 120


class Terminal(io.StringIO):
    """Remembers what was written to it; `rows` works out what it would show."""

    def isatty(self) -> bool:
        return True

    def rows(self) -> list[str]:
        """Knows just enough: newline, return, cursor up, erase line, wrapping at the right edge."""
        rows, row, column = [""], 0, 0
        for command, char in re.findall(r"\x1b\[([\d;?]*[A-Za-z])|([^\x1b])", self.getvalue()):
            if command == "2K":
                rows[row] = ""
            elif command == "1A":
                row -= 1
            elif char == "\r":
                column = 0
            elif char == "\n" or (char and column == WIDTH):
                row, column = row + 1, 0
                rows += [""] * (row == len(rows))
            if char and char not in "\r\n":
                rows[row] = rows[row][:column].ljust(column) + char + rows[row][column + 1 :]
                column += 1
        return [text.rstrip() for text in rows]

    def log(self) -> list[str]:
        """The rows without bars."""
        return [row for row in self.rows() if row and "━" not in row]

    def bars(self) -> list[str]:
        return [row for row in self.rows() if "━" in row]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    monkeypatch.setenv("LINES", "24")
    return Terminal()


def show(view: View, *records: Record) -> None:
    for record in records:
        view.show(0.0, record)


def chunk(subject: Subject, done: int) -> PrefillChunk:
    total = subject.prompt - subject.reused
    return PrefillChunk(subject, done, total, rows=10, seconds=0.1, elapsed=0.5)


def worded(*records: Record) -> list[str]:
    return [stamp(0.0) + line(record) for record in records]


def test_a_bar_moves_in_place(terminal: Terminal) -> None:
    show(view_on(terminal), chunk(ONE, 20), chunk(ONE, 50))
    [bar] = terminal.bars()
    assert bar.startswith("chat 100..300:200 ━")
    assert bar.split()[-4:] == ["25%", "50/200", "100", "t/s"]
    assert terminal.log() == []


def test_lines_come_above_the_bars_and_stay_whole(terminal: Terminal) -> None:
    long = Notice("wide-" * 60)
    show(view_on(terminal), chunk(ONE, 20), long, chunk(TWO, 5), Notice("short"), chunk(ONE, 60))
    assert "".join(terminal.log()) == "".join(worded(long, Notice("short")))
    assert [bar.split()[0] for bar in terminal.bars()] == ["chat", "completion"]
    assert terminal.rows()[-2:] == terminal.bars()


@pytest.mark.parametrize(
    "end", [PromptDone(ONE, 1.0), Decoding(ONE, 50, 9.0, 9.0, 5.0), Finished(ONE, 0, "cancelled", 1.0)]
)
def test_a_bar_ends_with_its_prefill(terminal: Terminal, end: Record) -> None:
    start = PromptStarted(ONE, 0, CacheReport())
    show(view_on(terminal), start, chunk(ONE, 20), chunk(TWO, 10), end)
    assert [bar.split()[0] for bar in terminal.bars()] == ["completion"]
    assert terminal.log() == worded(start, end)


def test_nothing_is_left_behind(terminal: Terminal) -> None:
    done = PromptDone(ONE, 1.0)
    show(view_on(terminal), chunk(ONE, 20), done, chunk(TWO, 10), Finished(TWO, 0, "cancelled", 1.0))
    assert terminal.bars() == []
    assert terminal.getvalue().rindex("\x1b[?25h") > terminal.getvalue().rindex("\x1b[?25l")


def test_close_removes_running_bars(terminal: Terminal) -> None:
    view = view_on(terminal)
    show(view, chunk(ONE, 20), Notice("bye"))
    view.close()
    assert (terminal.bars(), terminal.log()) == ([], worded(Notice("bye")))


def test_colours_mark_failures_unless_unwanted(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    show(view_on(terminal), Notice("bad", "error"))
    assert "\x1b[31m" in terminal.getvalue()
    monkeypatch.setenv("NO_COLOR", "1")
    plain = Terminal()
    show(view_on(plain), Notice("bad", "error"))
    assert plain.getvalue() == worded(Notice("bad", "error"))[0] + "\n"


def test_markup_in_a_value_is_only_text(terminal: Terminal) -> None:
    show(view_on(terminal), Notice("[red]not red[/red] :smile:"))
    assert terminal.log() == worded(Notice("[red]not red[/red] :smile:"))


def test_without_a_terminal_there_are_only_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    stream = io.StringIO()
    show(view_on(stream), chunk(ONE, 20), Notice("bad", "error"))
    assert stream.getvalue().splitlines() == worded(chunk(ONE, 20), Notice("bad", "error"))


def test_a_terminal_that_cannot_move_its_cursor_gets_plain_lines(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "dumb")
    assert isinstance(view_on(terminal), PlainView)
