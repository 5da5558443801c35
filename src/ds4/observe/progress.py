"""The log on a terminal: coloured lines, and below them one bar for every prefill that runs.

A bar stands in for the `prefill chunk` lines. The first of these records makes it, and any record
that shows the prefill is over removes it, so a record lost on the way does no lasting harm. Nothing
here starts a thread: a bar moves when its record comes.
"""

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TaskProgressColumn, TextColumn
from rich.text import Text

from ds4.observe.cache_log import entries
from ds4.observe.log import line, per_second, span, stamp, style
from ds4.observe.records import Decoding, Finished, PrefillChunk, PromptDone, Record


class TerminalView:
    """Implements `observe.sink.View` on a console that can move its cursor. rich sees to NO_COLOR."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._progress = _progress(console)
        self._bars: dict[str, TaskID] = {}

    def show(self, wall: float, record: Record) -> None:
        if isinstance(record, PrefillChunk):
            self._move_bar(record)
            return
        if isinstance(record, PromptDone | Decoding | Finished):
            self._remove_bar(record.subject.job)
        for entry in entries(record):
            self._console.print(Text(stamp(wall) + line(entry), style(entry)), soft_wrap=True)

    def close(self) -> None:
        """Removes the bars and gives the cursor back."""
        self._progress.stop()

    def _move_bar(self, record: PrefillChunk) -> None:
        subject = record.subject
        if not self._bars:
            # A stopped display does not clip to the terminal's height any more, so each run gets its own.
            self._progress = _progress(self._console)
            self._progress.start()
        if subject.job not in self._bars:
            name = f"{subject.kind} {span(subject)}"
            self._bars[subject.job] = self._progress.add_task(name, total=record.total, rate="")
        rate = f"{per_second(record.done, record.elapsed):.0f} t/s"
        self._progress.update(self._bars[subject.job], completed=record.done, rate=rate, refresh=True)

    def _remove_bar(self, job: str) -> None:
        bar = self._bars.pop(job, None)
        if bar is None:
            return
        if self._bars:
            self._progress.remove_task(bar)
            self._progress.refresh()
        else:
            self._progress.stop()


def _progress(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}", markup=False),
        console=console,
        auto_refresh=False,
        transient=True,
        # Swapping sys.stderr would make every other thread's message wait for the terminal.
        redirect_stdout=False,
        redirect_stderr=False,
    )
