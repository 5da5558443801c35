"""Whether a caller's grammar can end where the markup of a call ends it.

Rules:
- A terminal takes as much as it can. One that takes the markup, too, never ends: the call would run on to its
  limit. So would one that begins to take it, since what was taken is not given back.
- It is tried. The grammar is walked at random, and the markup written behind the last place where a walk may
  end. A grammar with walks that may end, of which none is closed so, has no end.
"""

import random
from collections.abc import Sequence

import numpy as np
from llguidance import LLMatcher

from ds4.constrain.vocabulary import LINE, Vocabulary

WALKS = 6
STEPS = 40


class Closing:
    """`alone` is the grammar, `closed` the one of it and then `markup`."""

    def __init__(self, vocabulary: Vocabulary, alone: LLMatcher, closed: LLMatcher, markup: str) -> None:
        self._alone = alone
        self._closed = closed
        self._markup = vocabulary.tokens(markup)
        self._ends = vocabulary.words.ends
        self._line = next(iter(vocabulary.tokens(LINE)), None)

    def can_end(self) -> bool:
        """What fails on the way is none of this: whoever compiles the whole finds it, and says why."""
        randoms = map(random.Random, range(WALKS))
        walks = [walk for each in randoms if (walk := self._walk(each)) is not None]
        return not walks or any(map(self._closes, walks))

    def _walk(self, chance: random.Random) -> Sequence[int] | None:
        """As far as it may end; None where it may nowhere."""
        matcher = self._alone.deep_copy()
        walk: list[int] = []
        last = None
        for _ in range(STEPS):
            if matcher.is_error():
                break
            if matcher.is_accepting():
                last = len(walk)
            token = None if matcher.is_stopped() else self._token(matcher, chance)
            if token is None:
                break
            walk.append(token)
            matcher.consume_token(token)
        return None if last is None else walk[:last]

    def _token(self, matcher: LLMatcher, chance: random.Random) -> int | None:
        """Lines end more often than chance would have it, and with them what may end."""
        allowed = np.unpackbits(np.frombuffer(matcher.compute_bitmask(), np.uint8), bitorder="little")
        allowed[list(self._ends)] = 0
        if self._line is not None and allowed[self._line] and chance.random() < 0.5:
            return self._line
        possible = np.flatnonzero(allowed)
        return int(possible[chance.randrange(len(possible))]) if len(possible) else None

    def _closes(self, walk: Sequence[int]) -> bool:
        matcher = self._closed.deep_copy()
        taken = all(map(matcher.consume_token, (*walk, *self._markup)))
        return (taken and matcher.is_accepting()) or self._closed.is_error()
