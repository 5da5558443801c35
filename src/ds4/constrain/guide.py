"""A compiled grammar as the `Guide` of one answer.

Rules:
- The library never raises: after every call the matcher is asked whether it failed. Failed, it says that
  end tokens are allowed, which must not be believed.
- Forced tokens are asked for once and then kept until they have come, so that it is the same tokens that come
  whether they are taken at once or one by one.
- A stopped matcher allows no token at all; what may follow then are the end tokens.
"""

from collections.abc import Callable

import numpy as np
from llguidance import LLMatcher

from ds4.constrain.vocabulary import Vocabulary
from ds4.core.errors import EngineError
from ds4.core.ports import Allowed, Mark

LONGEST_REASON = 300


class MatcherGuide:
    """Implements `core.ports.Guide`. `begun` tokens stand in front of the answer and have been taken.

    `spoiled` is called when the matcher fails: what it shares with others of its grammar may be spoiled, too.
    """

    def __init__(
        self, matcher: LLMatcher, vocabulary: Vocabulary, spend: "Spending", spoiled: Callable[[], None]
    ) -> None:
        self._matcher = matcher
        self._size = vocabulary.size
        self._ends = vocabulary.words.ends
        self._spend = spend
        self._spoiled = spoiled
        self._forced: tuple[int, ...] | None = None
        self._accepted = 0

    def allows(self, token: int) -> bool:
        if forced := self.forced():
            return token == forced[0]
        if self.done:
            return token in self._ends
        with self._spend:
            valid = self._matcher.validate_tokens([token])
        self._check()
        return valid == 1

    def allowed(self) -> Allowed:
        if forced := self.forced():
            return self._only(forced[:1])
        if self.done:
            return self._only(self._ends)
        with self._spend:
            mask = self._matcher.compute_bitmask()
        self._check()
        bits = np.unpackbits(np.frombuffer(mask, np.uint8), count=self._size, bitorder="little")
        return bits.view(np.bool_)

    def accept(self, token: int) -> None:
        ahead = self.forced()
        with self._spend:
            taken = token not in self._ends and self._matcher.consume_token(token)
        self._check()
        if not taken:
            raise EngineError(f"token {token} ends a constrained answer that is not to end yet")
        self._accepted += 1
        self._forced = ahead[1:] if ahead[:1] == (token,) and ahead[1:] else None

    def forced(self) -> tuple[int, ...]:
        if self._forced is None:
            with self._spend:
                self._forced = () if self.done else tuple(self._matcher.compute_ff_tokens())
            self._check()
        return self._forced

    @property
    def done(self) -> bool:
        self._check()
        return self._matcher.is_stopped()

    def mark(self) -> Mark:
        return Mark(self._accepted)

    def rollback(self, mark: Mark) -> None:
        if not isinstance(mark.value, int) or mark.value > self._accepted:
            raise EngineError("the mark lies after the end of the guide's history")
        self._matcher.rollback(self._accepted - mark.value)
        self._check()
        self._accepted = mark.value
        self._forced = None

    def _only(self, tokens: tuple[int, ...]) -> Allowed:
        allowed = np.zeros(self._size, np.bool_)
        allowed[list(tokens)] = True
        return allowed

    def _check(self) -> None:
        if self._matcher.is_error():
            self._spoiled()
            raise EngineError(f"the answer's constraint failed: {reason(self._matcher)}")


class Spending:
    """A budget of `most` seconds; each use brings `each` of them back. Whoever is over it raises EngineError.

    `timer` is the thread's own time, so that a busy machine makes no constraint fail.
    """

    def __init__(self, timer: Callable[[], float], most: float, each: float) -> None:
        self._timer = timer
        self._most = self._left = most
        self._each = each
        self._began = 0.0

    def __enter__(self) -> None:
        self._began = self._timer()

    def __exit__(self, *_: object) -> None:
        used = self._timer() - self._began
        self._left = min(self._most, self._left + self._each - used)
        if self._left < 0:
            raise EngineError("the answer's constraint is too complex: checking tokens takes too long")


def reason(matcher: LLMatcher) -> str:
    """Why it failed, in one line."""
    lines = matcher.get_error().strip().splitlines() or ["no reason given"]
    line = lines[0].strip()
    return line if len(line) <= LONGEST_REASON else line[:LONGEST_REASON] + "..."
