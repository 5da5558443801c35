"""Choosing the next token from a row of logits, in numpy.

Rules: nothing here walks the vocabulary in Python, and a full-size copy is made only when a bias, a penalty
or ignore_eos changes some logits. `sample` is a pure read: the random number it uses belongs to the position
(how many tokens were accepted), so that sampling again at the same place uses the same one. Under a mask it
is another one of that place: whoever asks with a mask has refused what the first one gave, so that using it
again would favour its neighbours.
"""

import math
from collections import Counter
from collections.abc import Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from ds4.core.errors import BadRequest, EngineError
from ds4.core.ports import Allowed, Logits, Mark
from ds4.core.sampling import Sampled, Sampling

MAX_TOP_K = 1024


class NumpySampler:
    """Implements core.ports.Sampler. `prompt` may hold negative ids (image rows); they are ignored.

    The repeat penalty counts prompt and answer, presence and frequency only the answer.
    Raises BadRequest when logit_bias names an unknown id or is not a number.
    """

    def __init__(self, sampling: Sampling, prompt: Sequence[int], n_vocab: int, eog: Sequence[int]) -> None:
        self._sampling = sampling
        self._bias_ids, self._bias = _bias_arrays(sampling.logit_bias, n_vocab)
        self._banned = np.asarray(eog if sampling.ignore_eos else (), dtype=np.intp)
        random = np.random.default_rng(sampling.seed if sampling.seed and sampling.seed > 0 else None)
        self._draws = _Draws(random)
        # A child's numbers are independent of its parent's, and taking one does not move the parent on.
        self._masked_draws = _Draws(random.spawn(1)[0])
        self._accepted: list[int] = []
        self._counts: Counter[int] = Counter()
        penalized = sampling.repeat_penalty != 1
        self._prompt = {token for token in prompt if 0 <= token < n_vocab} if penalized else set()

    def sample(self, logits: Logits, *, greedy: bool = False, allowed: Allowed | None = None) -> Sampled:
        """Raises EngineError when the logits allow no choice (NaN, +inf, or all masked)."""
        adjusted = self._adjusted(logits)
        if allowed is not None:
            adjusted = masked(adjusted, logits, allowed)
        if greedy or self._sampling.temperature <= 0:
            token = int(adjusted.argmax())
            _finite(adjusted[token])
        else:
            draws = self._draws if allowed is None else self._masked_draws
            token = choose(adjusted, self._sampling, draws.at(len(self._accepted)))
        if self._sampling.logprobs is None:
            return Sampled(token)
        return with_logprobs(token, logits, self._sampling.logprobs)

    def accept(self, token: int) -> None:
        self._accepted.append(token)
        self._counts[token] += 1

    def mark(self) -> Mark:
        return Mark(len(self._accepted))

    def rollback(self, mark: Mark) -> None:
        if not isinstance(mark.value, int) or mark.value > len(self._accepted):
            raise EngineError("the mark lies after the end of the sampler's history")
        for token in self._accepted[mark.value :]:
            self._counts[token] -= 1
        self._counts = +self._counts
        del self._accepted[mark.value :]

    def _adjusted(self, logits: Logits) -> Logits:
        """`logits` itself where nothing changes it, else a changed copy."""
        s = self._sampling
        edits = []
        if self._bias_ids.size:
            edits.append(self._add_bias)
        if s.repeat_penalty != 1 and (self._prompt or self._counts):
            edits.append(self._penalize_repeats)
        if (s.presence_penalty or s.frequency_penalty) and self._counts:
            edits.append(self._penalize_counts)
        if self._banned.size:
            edits.append(self._ban)
        return reduce(lambda row, edit: edit(row), edits, logits.copy()) if edits else logits

    def _add_bias(self, row: Logits) -> Logits:
        row[self._bias_ids] += self._bias
        return row

    def _penalize_repeats(self, row: Logits) -> Logits:
        ids = np.fromiter(self._prompt | self._counts.keys(), dtype=np.intp)
        seen, penalty = row[ids], self._sampling.repeat_penalty
        row[ids] = np.where(seen > 0, seen / penalty, seen * penalty)
        return row

    def _penalize_counts(self, row: Logits) -> Logits:
        ids = np.fromiter(self._counts.keys(), dtype=np.intp)
        counts = np.fromiter(self._counts.values(), dtype=np.float32)
        row[ids] -= self._sampling.presence_penalty + self._sampling.frequency_penalty * counts
        return row

    def _ban(self, row: Logits) -> Logits:
        row[self._banned] = -np.inf
        return row


class _Draws:
    """One number in [0, 1) for each place of an answer."""

    def __init__(self, random: np.random.Generator) -> None:
        self._random = random
        self._drawn: list[float] = []

    def at(self, place: int) -> float:
        missing = place + 1 - len(self._drawn)
        if missing > 0:
            self._drawn += self._random.random(missing).tolist()
        return self._drawn[place]


def masked(adjusted: Logits, logits: Logits, allowed: Allowed) -> Logits:
    """A copy of `adjusted` in which nothing else can be chosen. Where biases leave nothing of what is
    allowed, they do not count: the model's own `logits` decide."""
    row = np.where(allowed, adjusted, np.float32(-np.inf))
    return np.where(allowed, logits, np.float32(-np.inf)) if row.max() == -np.inf else row


def choose(logits: Logits, sampling: Sampling, draw: float) -> int:
    """One token by min_p, temperature, top_k and top_p, in this order; `draw` is uniform in [0, 1)."""
    top = _finite(logits.max())
    ids = survivors(logits, top, sampling.min_p)
    with np.errstate(over="ignore"):  # near temperature 0 all but the best go to -inf, as they should
        scaled = (logits[ids].astype(np.float64) - top) / sampling.temperature
    ids, scaled = _top_k(ids, scaled, sampling.top_k)
    weights = np.exp(scaled)
    if sampling.top_p < 1:
        ids, weights = _top_p(ids, weights, sampling.top_p)
    sums = weights.cumsum()
    place = int(sums.searchsorted(draw * sums[-1], side="right"))
    return int(ids[min(place, ids.size - 1)])


def survivors(logits: Logits, top: float, min_p: float) -> NDArray[np.intp]:
    """Ids at least `min_p` as likely as the likeliest; 0 keeps all that are possible, 1 the best."""
    if min_p <= 0:
        return np.flatnonzero(logits > -np.inf)
    return np.flatnonzero(logits >= np.float32(top + math.log(min(min_p, 1.0))))


def with_logprobs(token: int, logits: Logits, best: int) -> Sampled:
    """Log-softmax of the model's own logits, before any bias or filter."""
    row = logits.astype(np.float64)
    row -= _finite(row.max())
    row -= math.log(float(np.exp(row).sum()))
    best = min(best, row.size)
    if best <= 0:
        return Sampled(token, float(row[token]))
    ids = np.argpartition(row, row.size - best)[row.size - best :]
    ids = ids[np.argsort(-row[ids], kind="stable")]
    return Sampled(token, float(row[token]), tuple((int(i), float(row[i])) for i in ids))


_Filtered = tuple[NDArray[np.intp], NDArray[np.float64]]


def _top_k(ids: NDArray[np.intp], scaled: NDArray[np.float64], top_k: int) -> _Filtered:
    k = min(top_k, MAX_TOP_K)
    if not 0 < k < ids.size:
        return ids, scaled
    kept = np.argpartition(scaled, ids.size - k)[ids.size - k :]
    return ids[kept], scaled[kept]


def _top_p(ids: NDArray[np.intp], weights: NDArray[np.float64], top_p: float) -> _Filtered:
    """The fewest likeliest tokens whose share reaches `top_p`; at least one."""
    order = np.argsort(-weights, kind="stable")
    shares = weights[order].cumsum()
    count = int(shares.searchsorted(top_p * shares[-1], side="left")) + 1
    kept = order[:count]
    return ids[kept], weights[kept]


def _finite(value: float | np.floating) -> float:
    if not np.isfinite(value):
        raise EngineError(f"the model gave unusable logits (the best is {value})")
    return float(value)


def _bias_arrays(
    bias: tuple[tuple[int, float], ...], n_vocab: int
) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
    merged = dict(bias)  # the last one wins, as in a JSON object
    for token, value in merged.items():
        if not 0 <= token < n_vocab:
            why = f"logit_bias names token {token}, the vocabulary has {n_vocab}"
            raise BadRequest(why, param="logit_bias")
        if math.isnan(value) or value == math.inf:
            raise BadRequest(f"logit_bias of token {token} is not a finite number", param="logit_bias")
    ids = np.fromiter(merged.keys(), dtype=np.intp, count=len(merged))
    return ids, np.fromiter(merged.values(), dtype=np.float32, count=len(merged))
