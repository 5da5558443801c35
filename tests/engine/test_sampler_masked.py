"""Choosing again under a mask: only what is allowed, as likely as the model has it; nothing else changes."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from ds4.core.errors import EngineError
from ds4.core.ports import Allowed
from ds4.core.sampling import Sampling
from ds4.engine.sampler import NumpySampler

SHARES = np.array([0.4, 0.3, 0.15, 0.1, 0.05], np.float32)
LOGITS = np.log(SHARES)
N = SHARES.size


def make(sampling: Sampling) -> NumpySampler:
    return NumpySampler(sampling, (), N, (0,))


def only(*tokens: int) -> Allowed:
    allowed = np.zeros(N, np.bool_)
    allowed[list(tokens)] = True
    return allowed


def guided(sampler: NumpySampler, allowed: Allowed, logits: NDArray[np.float32] = LOGITS) -> int:
    """As a guided answer is sampled: once more under the mask, where the first choice is not allowed."""
    token = sampler.sample(logits).id
    return token if allowed[token] else sampler.sample(logits, allowed=allowed).id


def test_the_shares_of_what_is_allowed_stay() -> None:
    sampler, allowed = make(Sampling(min_p=0, seed=11)), only(1, 3, 4)
    found: Counter[int] = Counter()
    for _ in range(6000):
        token = guided(sampler, allowed)
        sampler.accept(token)
        found[token] += 1
    for token in (1, 3, 4):
        assert found[token] / 6000 == pytest.approx(SHARES[token] / SHARES[[1, 3, 4]].sum(), abs=0.03)


masks = st.sets(st.integers(0, N - 1), min_size=1).map(lambda tokens: only(*tokens))


@given(masks, st.integers(1, 99), st.floats(0, 3), st.floats(0, 1), st.integers(0, 4), st.booleans())
def test_nothing_else_is_ever_chosen(
    allowed: Allowed, seed: int, temperature: float, filtered: float, top_k: int, greedy: bool
) -> None:
    sampling = Sampling(
        temperature=temperature,
        min_p=filtered,
        top_p=1 - filtered,
        top_k=top_k,
        seed=seed,
        ignore_eos=True,
        logit_bias=((1, -100.0), (2, -math.inf)),
        repeat_penalty=1.5,
    )
    sampler = make(sampling)
    for _ in range(4):
        token = sampler.sample(LOGITS, greedy=greedy, allowed=allowed).id
        assert allowed[token]
        sampler.accept(token)


@given(st.integers(1, 99), st.lists(st.booleans(), min_size=8, max_size=8))
def test_a_seeds_ordinary_choices_stay_the_same(seed: int, asked: list[bool]) -> None:
    """Whether somebody asks under a mask in between does not matter."""
    plain, sampler = make(Sampling(min_p=0, seed=seed)), make(Sampling(min_p=0, seed=seed))
    for again in asked:
        if again:
            sampler.sample(LOGITS, allowed=only(2, 3))
        token = plain.sample(LOGITS).id
        assert sampler.sample(LOGITS).id == token
        plain.accept(token)
        sampler.accept(token)


def test_the_same_place_gives_the_same_choice_also_after_a_rollback() -> None:
    sampler = make(Sampling(min_p=0, seed=3))
    mark = sampler.mark()
    first = [sampler.sample(LOGITS, allowed=only(0, 1, 2, 3, 4)).id for _ in range(3)]
    for token in (1, 2, 3):
        sampler.accept(token)
    sampler.sample(LOGITS, allowed=only(1, 2))
    sampler.rollback(mark)
    assert len(set(first)) == 1
    assert sampler.sample(LOGITS, allowed=only(0, 1, 2, 3, 4)).id == first[0]
    assert make(Sampling(min_p=0, seed=3)).sample(LOGITS, allowed=only(0, 1, 2, 3, 4)).id == first[0]


def test_logprobs_are_the_models_own() -> None:
    sampled = make(Sampling(temperature=0, logprobs=2)).sample(LOGITS, allowed=only(3, 4))
    assert sampled.id == 3
    assert sampled.logprob == pytest.approx(math.log(0.1), abs=1e-5)
    assert [token for token, _ in sampled.top] == [0, 1]


def test_the_logits_are_not_changed() -> None:
    before = LOGITS.copy()
    make(Sampling(logit_bias=((1, 5.0),))).sample(LOGITS, allowed=only(1))
    assert (before == LOGITS).all()


@pytest.mark.parametrize("sampling", [Sampling(ignore_eos=True), Sampling(logit_bias=((0, -math.inf),))])
def test_a_ban_on_all_that_is_allowed_does_not_count(sampling: Sampling) -> None:
    assert make(sampling).sample(LOGITS, allowed=only(0)).id == 0


def test_what_the_model_rules_out_altogether_cannot_be_chosen() -> None:
    logits = np.array([0, -np.inf, -np.inf, 0, 0], np.float32)
    with pytest.raises(EngineError):
        make(Sampling()).sample(logits, allowed=only(1, 2))
