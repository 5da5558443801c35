"""What the world says in the turn that is being repeated, call by call.

Rules:
- Whoever asks something else than was asked then has gone another way: the first such place is noted in
  `astray`, and nothing after it counts.
"""

from collections import deque
from typing import Any

from ds4.core.errors import EngineError
from ds4.rerun.moment import MOMENT
from ds4.rerun.replay.lines import Op, TurnLine, error_of


class Astray(EngineError):
    """The server asks something else than it did then."""


class Script:
    """What is left of the turn that is being repeated."""

    def __init__(self) -> None:
        self.ops: deque[Op] = deque()
        self.store: deque[list[Any]] = deque()
        self.prices: deque[list[float]] = deque()
        self.alike: deque[list[Any] | None] = deque()
        self.fed: deque[Any] = deque()
        self.guide: deque[Any] = deque()
        self.prefill: float | None = None
        self.turn = 0
        self.astray = ""

    def load(self, line: TurnLine) -> None:
        self.turn = line.number
        self.ops, self.store, self.prices = deque(line.ops), deque(line.store), deque(line.prices)
        self.alike, self.fed, self.guide = deque(line.alike), deque(line.fed), deque(line.guide)
        if line.prefill:
            self.prefill = line.prefill[-1]

    def end(self) -> None:
        """Notes what the trace has and nobody asked for."""
        left = [op.name for op in self.ops] + [str(words[0]) for words in self.store]
        if left:
            self.stray(f"the trace goes on with {', '.join(left)}")

    def stray(self, what: str) -> None:
        self.astray = self.astray or f"turn {self.turn}: {what}"

    def op(self, name: str, slot: int | None = None) -> Op:
        """The next call of the engine. Raises Astray, and what it raised then."""
        asked = name if slot is None else f"{name} of slot {slot}"
        op = self.ops.popleft() if self.ops else None
        if op is None or op.name != name or (slot is not None and op.asked[0] != slot):
            then = "nothing" if op is None else f"{op.name} {op.asked}"
            self.stray(f"the engine is asked for {asked}, in the trace for {then}")
            raise Astray(self.astray)
        MOMENT.set(op.moment)
        if op.error is not None:
            raise op.error
        return op

    def called(self, name: str) -> list[Any]:
        """The next call of the store."""
        words = self.store.popleft() if self.store else None
        if words is None or words[0] != name:
            then = "nothing" if words is None else words[0]
            self.stray(f"the checkpoint store is asked for {name}, in the trace for {then}")
            raise Astray(self.astray)
        return words

    def compared(self) -> Any:
        """What the next comparison of texts has found: as `record.reader` notes it."""
        return self._next(self.alike, "two texts are compared")

    def read(self) -> Any:
        """What the next token, or the end, meant to its reader: as `record.reader` notes it."""
        return self._next(self.fed, "an answer is read on")

    def guided(self, what: str) -> list[Any]:
        """What a guide says next. Raises what it raised then."""
        self.guide_fails(what)
        said = self._next(self.guide, "a guide is asked")
        if said[0] != what:
            self.stray(f"a guide is asked for {what}, in the trace for {said[0]}")
            raise Astray(self.astray)
        return list(said[1:])

    def guide_fails(self, what: str) -> None:
        """Raises, if asking it for that failed then."""
        match self.guide:
            case [{"failed": then, "error": error}, *_] if then == what:
                self.guide.popleft()
                raise error_of(error)

    def _next(self, left: deque[Any], what: str) -> Any:
        if not left:
            self.stray(f"{what}, and not in the trace")
            raise Astray(self.astray)
        return left.popleft()
