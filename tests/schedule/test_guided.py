"""The guided sampler: the model's own choice where it is allowed, else one more."""

import numpy as np
import pytest

from ds4.core.errors import EngineError
from ds4.core.ports import Allowed, Logits, Mark
from ds4.core.sampling import Sampled, Sampling
from ds4.engine.sampler import NumpySampler
from ds4.schedule.guided import GuidedSampler, guided

LOGITS = np.array([0, 1, 2, 3], np.float32)


class Only:
    """Allows the tokens of each place in turn."""

    def __init__(self, *places: set[int]) -> None:
        self._places = places
        self.taken: list[int] = []
        self.masks = 0
        self.done = False

    def allows(self, token: int) -> bool:
        return token in self._places[len(self.taken)]

    def allowed(self) -> Allowed:
        self.masks += 1
        allowed = np.zeros(LOGITS.size, np.bool_)
        allowed[list(self._places[len(self.taken)])] = True
        return allowed

    def accept(self, token: int) -> None:
        self.taken.append(token)

    def forced(self) -> tuple[int, ...]:
        return ()

    def mark(self) -> Mark:
        return Mark(len(self.taken))

    def rollback(self, mark: Mark) -> None:
        assert isinstance(mark.value, int)
        del self.taken[mark.value :]


class Asked(NumpySampler):
    """Counts how often it is asked."""

    asked = 0

    def sample(self, logits: Logits, *, greedy: bool = False, allowed: Allowed | None = None) -> Sampled:
        self.asked += 1
        return super().sample(logits, greedy=greedy, allowed=allowed)


def greedy() -> Asked:
    return Asked(Sampling(temperature=0), (), LOGITS.size, ())


def test_the_models_choice_stands_where_it_is_allowed() -> None:
    sampler, guide = greedy(), Only({1, 3})
    assert GuidedSampler(sampler, guide).sample(LOGITS).id == 3
    assert (sampler.asked, guide.masks) == (1, 0)


def test_else_it_chooses_once_more() -> None:
    sampler, guide = greedy(), Only({0, 1})
    assert GuidedSampler(sampler, guide).sample(LOGITS).id == 1
    assert (sampler.asked, guide.masks) == (2, 1)


def test_a_mask_of_the_caller_counts_too() -> None:
    allowed = np.array([True, False, True, True])
    assert GuidedSampler(greedy(), Only({0, 1})).sample(LOGITS, allowed=allowed).id == 0


def test_a_greedy_hint_is_passed_on() -> None:
    warm = NumpySampler(Sampling(temperature=100, min_p=0), (), LOGITS.size, ())
    sampler = GuidedSampler(warm, Only({0, 1, 2}))
    assert {sampler.sample(LOGITS, greedy=True).id for _ in range(20)} == {2}


def test_both_take_and_give_back_what_comes() -> None:
    penalised = NumpySampler(Sampling(temperature=0, repeat_penalty=100), (), LOGITS.size, ())
    guide = Only({3}, {2, 3}, {2, 3})
    sampler = GuidedSampler(penalised, guide)
    sampler.accept(3)
    mark = sampler.mark()
    assert sampler.sample(LOGITS).id == 2
    sampler.accept(2)
    assert guide.taken == [3, 2]
    sampler.rollback(mark)
    assert guide.taken == [3]
    assert sampler.sample(LOGITS).id == 2
    with pytest.raises(EngineError):
        sampler.rollback(Mark(1))


def test_without_a_guide_it_is_the_sampler_itself() -> None:
    sampler = greedy()
    assert guided(sampler, None) is sampler
