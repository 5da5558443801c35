"""Logits that lead a sampler along a reply."""

import numpy as np

from ds4.core.ports import Logits, Sampler
from ds4.core.sampling import Sampled
from ds4.engine.scripted.reply import Reply

_PATTERNS = 8
_LIFT = 40.0
"""Far above the noise at any temperature, far below a logit_bias of -100."""


class Steering:
    """Noise drawn once per pattern, with the wanted token lifted for the time of one sample."""

    def __init__(self, n_vocab: int, end: tuple[int, ...], seed: int) -> None:
        shape = (_PATTERNS, n_vocab)
        self._noise = np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)
        self._end = end

    def sample(self, sampler: Sampler, reply: Reply, rows: int, *, greedy: bool) -> Sampled:
        """`rows` picks the noise, so that it depends on the place alone."""
        logits: Logits = self._noise[rows % _PATTERNS]
        lifted = self._lifts(reply)
        kept = [logits[token] for token in lifted]
        for token, lift in lifted.items():
            logits[token] += lift
        try:
            return sampler.sample(logits, greedy=greedy)
        finally:
            logits[list(lifted)] = kept

    def _lifts(self, reply: Reply) -> dict[int, float]:
        """At the end the first token again comes second: who bans the end token repeats the reply."""
        if reply.wanted is not None:
            return {reply.wanted: _LIFT}
        lifts = {} if reply.first is None else {reply.first: _LIFT / 2}
        return lifts | dict.fromkeys(self._end, _LIFT)
