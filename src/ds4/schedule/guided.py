"""A sampler whose choices a guide allows.

The model chooses as it likes, and only where that is not allowed it chooses once more, among what is: finding
out what all of that is costs far more than looking at one token, and is seldom needed.
"""

from dataclasses import dataclass

from ds4.core.errors import EngineError
from ds4.core.ports import Allowed, Guide, Logits, Mark, Sampler
from ds4.core.sampling import Sampled


@dataclass(frozen=True, slots=True)
class _Both:
    sampler: Mark
    guide: Mark


class GuidedSampler:
    """Implements `core.ports.Sampler` around another."""

    def __init__(self, sampler: Sampler, guide: Guide) -> None:
        self._sampler = sampler
        self._guide = guide

    def sample(self, logits: Logits, *, greedy: bool = False, allowed: Allowed | None = None) -> Sampled:
        if allowed is not None:
            return self._sampler.sample(logits, greedy=greedy, allowed=allowed & self._guide.allowed())
        sampled = self._sampler.sample(logits, greedy=greedy)
        if self._guide.allows(sampled.id):
            return sampled
        return self._sampler.sample(logits, greedy=greedy, allowed=self._guide.allowed())

    def accept(self, token: int) -> None:
        self._sampler.accept(token)
        self._guide.accept(token)

    def mark(self) -> Mark:
        return Mark(_Both(self._sampler.mark(), self._guide.mark()))

    def rollback(self, mark: Mark) -> None:
        if not isinstance(mark.value, _Both):
            raise EngineError("the mark is not one of a guided sampler")
        self._sampler.rollback(mark.value.sampler)
        self._guide.rollback(mark.value.guide)


def guided(sampler: Sampler, guide: Guide | None) -> Sampler:
    return sampler if guide is None else GuidedSampler(sampler, guide)
