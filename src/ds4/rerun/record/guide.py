"""Guides of constrained answers, with what the scheduler asks them noted on the tape.

Rules:
- What a guide says to a sampler is not noted: that is part of a step, whose outcome is.
- A guide is made of the whole vocabulary, which no trace has. So it is noted whether there is one, and why
  there is none.
"""

from collections.abc import Callable
from typing import TypeVar

from ds4.api.services import GuideFactory, Wished
from ds4.core.errors import BadRequest, EngineError
from ds4.core.ports import Allowed, Guide, Mark
from ds4.observe.trace.values import Json
from ds4.observe.trace.writer import Put
from ds4.rerun.moment import REQUEST
from ds4.rerun.tape import Tape

T = TypeVar("T")


def noted_guides(make: GuideFactory, put: Put) -> GuideFactory:
    def noted(wished: Wished) -> Guide | None:
        if wished.constraint is None:
            return make(wished)
        line: Json = {"at": "guided", "request": REQUEST.get(), "guide": False}
        try:
            guide = make(wished)
            line["guide"] = guide is not None
        except BadRequest as error:
            line["error"] = [type(error).__name__, error.message, error.param, error.code]
            raise
        finally:
            put(line)
        return guide

    return noted


class NotedGuide:
    """`core.ports.Guide` around another."""

    def __init__(self, guide: Guide, tape: Tape) -> None:
        self._guide = guide
        self._tape = tape

    def allows(self, token: int) -> bool:
        return self._guide.allows(token)

    def allowed(self) -> Allowed:
        return self._guide.allowed()

    def accept(self, token: int) -> None:
        self._asked("accept", lambda: self._guide.accept(token))

    def forced(self) -> tuple[int, ...]:
        forced = self._asked("forced", self._guide.forced)
        self._tape.note("guide", ["forced", *forced])
        return forced

    @property
    def done(self) -> bool:
        done = self._asked("done", lambda: self._guide.done)
        self._tape.note("guide", ["done", done])
        return done

    def mark(self) -> Mark:
        return self._guide.mark()

    def rollback(self, mark: Mark) -> None:
        self._guide.rollback(mark)

    def _asked(self, what: str, ask: Callable[[], T]) -> T:
        try:
            return ask()
        except EngineError as error:
            self._tape.note("guide", {"failed": what, "error": [type(error).__name__, error.message]})
            raise
