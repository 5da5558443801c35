"""`ds4-server replay TRACE`: does a recorded run again, without its model, and says what differs."""

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ds4.core.errors import OptionError, StartError
from ds4.observe.trace.reading import Run, read_lines, runs
from ds4.rerun.head import Head, read_head
from ds4.rerun.replay.compare import DECIDED, OWNERS, Difference, first_difference, words
from ds4.rerun.replay.play import Played, play

WORD = "replay"
DIFFERS = 1
USAGE = """usage: ds4-server replay TRACE [--verbose]

Puts the recorded requests, ids, times and model outputs into this program's API and scheduler, and compares
all that comes out: prompts, decisions, steps, events, answers. Needs no model. Exit code 1 on a difference.
Of a redacted trace the recorded prompts' tokens are put into the scheduler, and no texts are compared.

  --verbose  say what was compared
"""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Of one run. Without `difference` and `astray` all was the same, as far as `played` goes."""

    played: Played
    difference: Difference | None
    compared: Counter[str]
    redacted: bool = False

    @property
    def same(self) -> bool:
        return self.difference is None and not self.played.astray


def main(argv: Sequence[str]) -> int:
    """`argv` behind the word `replay`. The exit code. Raises StartError."""
    if any(word in ("-h", "--help") for word in argv):
        sys.stdout.write(USAGE)
        return 0
    file, verbose = read(argv)
    return run(file, sys.stdout.write, verbose=verbose)


def read(argv: Sequence[str]) -> tuple[Path, bool]:
    """Raises OptionError."""
    files = [word for word in argv if not word.startswith("-")]
    options = [word for word in argv if word.startswith("-")]
    if strange := [word for word in options if word != "--verbose"]:
        raise OptionError(f"unknown option: replay {strange[0]}")
    if len(files) != 1 or not files[0].strip():
        raise OptionError("replay needs one trace")
    return Path(files[0]), bool(options)


def run(file: Path, write: Callable[[str], object], *, verbose: bool = False) -> int:
    """Raises StartError."""
    found = runs(read_lines(file), file)
    code = 0
    for number, one in enumerate(found, start=1):
        head = _head(file, one)
        verdict = replay(head, one)
        name = f"run {number} of {len(found)}: " if len(found) > 1 else ""
        for text in told(verdict, verbose=verbose):
            write(f"{name}{text}\n")
        code = code if verdict.same else DIFFERS
    return code


def replay(head: Head, run: Run) -> Verdict:
    played = play(head, run)
    then, kinds = run.lines[: played.lines], DECIDED if head.redacted else OWNERS
    compared = Counter(str(line["at"]) for line in then if line["at"] in kinds)
    found = first_difference(then, played.made, driven=played.driven, redacted=head.redacted)
    return Verdict(played, found, compared, head.redacted)


def told(verdict: Verdict, *, verbose: bool) -> list[str]:
    """The verdict in lines."""
    played, counts = verdict.played, verdict.compared
    lines = []
    if verdict.difference is not None:
        lines += words(verdict.difference)
    if played.astray:
        lines.append(f"after line {played.lines + 1} nothing more can be compared: {played.astray}")
    if played.lost:
        lines.append(f"the trace has lost lines behind line {played.lines + 1}: compared up to there")
    if verbose:
        lines += [f"{counts[at]:6} {at}" for at in sorted(counts)]
    if verdict.same:
        lines.append(f"the same: {_extent(verdict)}")
    return lines


def _extent(verdict: Verdict) -> str:
    counts = verdict.compared
    if verdict.redacted:
        return (
            f"{counts['started']} decisions, {counts['turn']} turns, {counts['finished']} ends; "
            "redacted, so prompts and answers were not compared"
        )
    return f"{counts['request']} requests, {counts['turn']} turns, {counts['sent']} messages"


def _head(file: Path, run: Run) -> Head:
    try:
        return read_head(run.head)
    except ValueError as error:
        raise StartError(f"trace {file}: {error}") from None
