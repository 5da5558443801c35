"""What one turn of the scheduler asks of the world, and gets: one line of the trace. Engine thread only.

Rules:
- A turn in which nothing happened is no line: an idle engine turns once a second.
- What is asked outside a turn is no decision (tests look into the engine) and is not noted.
- The line goes out before the turn's events do, so that what follows from a turn stands behind it.
"""

from collections.abc import Iterable

from ds4.core.events import Event
from ds4.observe.trace.values import Json
from ds4.observe.trace.writer import Put
from ds4.rerun.moment import ENGINE, REQUEST, Moment, Moments


class Tape:
    def __init__(self, put: Put, moments: Moments) -> None:
        self.put = put
        self._moments = moments
        self._begun: Moment | None = None
        self._parts: dict[str, list[object]] = {}
        self._count = 0

    def begin(self) -> None:
        """The turn's first command, or the turn itself; the clock stands until the engine is done."""
        if self._begun is None:
            REQUEST.set(ENGINE)
            self._begun = self._moments.take("turn")

    def note(self, part: str, value: object) -> None:
        """`part` is what kind of thing: commands, ops, store, prices, prefill, ids, alike, fed."""
        if self._begun is not None:
            self._parts.setdefault(part, []).append(value)

    def moment(self) -> list[float]:
        """An operation of the engine has ended."""
        if self._begun is None:
            return []
        return self._moments.take("op").plain

    def close(self, deliveries: Iterable[tuple[str, tuple[Event, ...]]] = ()) -> None:
        """Ends the turn; puts its line, if there is something to say."""
        given = [[job, len(events)] for job, events in deliveries]
        if self._begun is not None and (self._parts or given):
            self._count += 1
            line: Json = {"at": "turn", "turn": self._count, "t": self._begun.plain, **self._parts}
            self.put(line | {"given": given} if given else line)
        self._parts = {}

    def end(self) -> None:
        self.close()
        self._begun = None
