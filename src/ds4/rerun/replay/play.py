"""Goes through a trace line by line and lets the server do again what it did.

Rules:
- What came from outside drives: requests, clients that leave, work that is done, steps of the engine.
  What the server made of it is not looked at here.
- After each such line the server does all that it can, until everything waits.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from ds4.observe.trace.reading import Run
from ds4.observe.trace.values import Json
from ds4.rerun.head import Head
from ds4.rerun.moment import MOMENT
from ds4.rerun.replay.idle import IdleLoop
from ds4.rerun.replay.lines import TurnLine
from ds4.rerun.replay.order import GATES, groups
from ds4.rerun.replay.stage import stage
from ds4.schedule.bridge import Cancel, Command, Drain, Submit
from ds4.schedule.thread import apply


@dataclass(slots=True)
class Played:
    """`made` is the new trace, of the first `lines` lines of the old one; the last of them that made anything
    happen is the `driven`-th. `astray`: why no more."""

    lines: int = 0
    driven: int = 0
    astray: str = ""
    lost: bool = False
    made: list[Json] = field(default_factory=list)


def play(head: Head, run: Run) -> Played:
    """On an event loop of its own; no sockets, no threads, no waiting."""
    with asyncio.Runner(loop_factory=IdleLoop) as runner:
        return runner.run(_Player(head, run).play())


class _Player:
    def __init__(self, head: Head, run: Run) -> None:
        self._head = head
        self._run = run

    async def play(self) -> Played:
        self._stage = stage(self._head, self._run)
        played = Played(made=self._stage.made)
        for count, together in groups(self._run.lines, self._stage.front.drives):
            if together[-1]["at"] == "lost":
                played.lost = True
                break
            if not self._head.redacted:
                # Its prompts are not rendered, and what was left is not in it in clear.
                self._stage.earlier.reveal(self._run.lines[played.lines : count])
            for line in together:
                self._drive(line)
            await self._idle()
            played.lines = count
            played.astray = self._stage.script.astray or self._stage.tokenizer.unknown
            if played.astray:
                break
            played.driven = count
        else:
            played.lines = len(self._run.lines)
        await self._leave()
        return played

    def _drive(self, line: dict[str, Any]) -> None:
        match line["at"]:
            case "turn":
                self._turn(TurnLine.of(line))
            case "shown":
                self._stage.backend.publish(self._stage.scheduler.status())
            case "ran" | "slept" | "read" as at:
                self._stage.gates.open((at, line[GATES[at]]), len(line.get("events", ())))
            case _:
                self._stage.front.take(line)

    def _turn(self, line: TurnLine) -> None:
        stage = self._stage
        MOMENT.set(line.moment)
        stage.script.load(line)
        for what, *words in line.commands:
            self._command(what, words)
        if line.commands != [["persist"]]:
            stage.scheduler.turn()
        stage.script.end()

    def _command(self, what: str, words: Sequence[Any]) -> None:
        stage = self._stage
        if what == "persist":
            stage.scheduler.persist()
            return
        if what == "drain":
            stage.backend.drain()
        elif what == "cancel":
            stage.front.cancel(words[0])
        found = next((posted for posted in stage.posted if _is(posted, what, words)), None)
        if found is None:
            stage.script.stray(
                f"the scheduler was told to {what} {' '.join(map(str, words[:1]))}, and is not now"
            )
            return
        stage.posted.remove(found)
        apply(stage.scheduler, found)

    async def _idle(self) -> None:
        loop = asyncio.get_running_loop()
        if isinstance(loop, IdleLoop):
            await loop.watch.idle()

    async def _leave(self) -> None:
        """Whoever is still there when the trace ends."""
        tasks = self._stage.front.tasks
        for task in tasks:
            task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*tasks, return_exceptions=True)


def _is(command: Command, what: str, words: Sequence[Any]) -> bool:
    match command:
        case Submit(job, _):
            return what == "submit" and words[0] == job.id
        case Cancel(job_id):
            return what == "cancel" and words[0] == job_id
        case Drain():
            return what == "drain"
    return False
