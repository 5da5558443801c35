import math
from collections import Counter

import numpy as np
import pytest
from numpy.typing import NDArray

from ds4.core.errors import BadRequest, EngineError
from ds4.core.sampling import Sampling
from ds4.engine.sampler import MAX_TOP_K, NumpySampler

EOG = (0, 3)


def make(sampling: Sampling, prompt: tuple[int, ...] = (), n_vocab: int = 8) -> NumpySampler:
    return NumpySampler(sampling, prompt, n_vocab, EOG)


def row(*values: float) -> NDArray[np.float32]:
    return np.asarray(values, dtype=np.float32)


EIGHT = row(1, 2, 3, 4, 0, -1, 3.9, 2)
ENOUGH = 300
"""Draws that meet every one of a few tokens, if the rarest comes once in twenty draws."""


def drawn(sampling: Sampling, logits: NDArray[np.float32], count: int = 3000) -> Counter[int]:
    sampler = make(sampling, n_vocab=logits.size)
    found: Counter[int] = Counter()
    for _ in range(count):
        token = sampler.sample(logits).id
        sampler.accept(token)
        found[token] += 1
    return found


@pytest.mark.parametrize("sampling", [Sampling(temperature=0), Sampling(temperature=-1)])
def test_temperature_zero_is_argmax(sampling: Sampling) -> None:
    assert make(sampling).sample(EIGHT).id == 3


def test_a_greedy_hint_wins_over_temperature() -> None:
    sampler = make(Sampling(temperature=100, min_p=0))
    assert {sampler.sample(EIGHT, greedy=True).id for _ in range(50)} == {3}


def test_frequencies_follow_the_softmax() -> None:
    logits = np.log(row(0.5, 0.3, 0.2))
    found = drawn(Sampling(min_p=0, seed=7), logits)
    for token, share in enumerate((0.5, 0.3, 0.2)):
        assert found[token] / 3000 == pytest.approx(share, abs=0.04)


def test_temperature_flattens() -> None:
    logits = np.log(row(0.9, 0.1))
    found = drawn(Sampling(min_p=0, temperature=1000, seed=7), logits)
    assert found[1] / 3000 == pytest.approx(0.5, abs=0.04)


@pytest.mark.parametrize("temperature", [1e-300, 5e-324])
def test_a_temperature_next_to_zero_is_argmax(temperature: float) -> None:
    assert set(drawn(Sampling(min_p=0, temperature=temperature, seed=7), EIGHT, 20)) == {3}


def test_min_p_keeps_what_is_likely_enough_before_temperature() -> None:
    logits = np.log(row(0.6, 0.31, 0.06, 0.03))
    assert set(drawn(Sampling(min_p=0.5, temperature=50, seed=1), logits, ENOUGH)) == {0, 1}
    assert set(drawn(Sampling(min_p=0.09, temperature=50, seed=1), logits, ENOUGH)) == {0, 1, 2}
    assert set(drawn(Sampling(min_p=0, temperature=50, seed=1), logits, ENOUGH)) == {0, 1, 2, 3}
    assert set(drawn(Sampling(min_p=7, temperature=50, seed=1), logits, ENOUGH)) == {0}


@pytest.mark.parametrize(("top_k", "kept"), [(1, {3}), (2, {3, 6}), (0, set(range(8))), (100, set(range(8)))])
def test_top_k(top_k: int, kept: set[int]) -> None:
    assert set(drawn(Sampling(min_p=0, temperature=50, top_k=top_k, seed=1), EIGHT, ENOUGH)) == kept


def test_top_k_has_a_ceiling() -> None:
    logits = np.linspace(1, 1.1, MAX_TOP_K + 500, dtype=np.float32)
    found = drawn(Sampling(min_p=0, top_k=MAX_TOP_K + 400, seed=1), logits, ENOUGH)
    assert min(found) >= 500


@pytest.mark.parametrize(
    ("top_p", "kept"),
    [(0.0, {0}), (-1.0, {0}), (0.49, {0}), (0.6, {0, 1}), (0.85, {0, 1, 2}), (1.0, {0, 1, 2, 3})],
)
def test_top_p_keeps_the_fewest_that_reach_it(top_p: float, kept: set[int]) -> None:
    logits = np.log(row(0.5, 0.3, 0.15, 0.05))
    assert set(drawn(Sampling(min_p=0, top_p=top_p, seed=3), logits, ENOUGH)) == kept


def test_the_same_seed_gives_the_same_draws_and_others_differ() -> None:
    logits = np.zeros(50, dtype=np.float32)

    def run(seed: int | None) -> list[int]:
        sampler = make(Sampling(seed=seed), n_vocab=50)
        tokens = []
        for _ in range(20):
            tokens.append(sampler.sample(logits).id)
            sampler.accept(tokens[-1])
        return tokens

    assert run(5) == run(5)
    assert run(5) != run(6)
    assert run(None) != run(None)
    assert run(0) != run(0)
    assert run(-3) != run(-3)


def test_sampling_twice_at_one_place_gives_the_same_and_a_rollback_returns_there() -> None:
    logits = np.zeros(500, dtype=np.float32)
    sampler = make(Sampling(seed=9), n_vocab=500)
    sampler.accept(1)
    mark = sampler.mark()
    first = sampler.sample(logits).id
    assert sampler.sample(logits).id == first
    sampler.accept(first)
    second = sampler.sample(logits).id
    sampler.accept(second)
    sampler.rollback(mark)
    assert sampler.sample(logits).id == first
    sampler.accept(first)
    assert sampler.sample(logits).id == second


def test_rollback_takes_penalties_back() -> None:
    sampler = make(Sampling(temperature=0, presence_penalty=1))
    mark = sampler.mark()
    sampler.accept(3)
    assert sampler.sample(EIGHT).id == 6
    sampler.rollback(mark)
    assert sampler.sample(EIGHT).id == 3


def test_a_mark_from_the_future_is_refused() -> None:
    sampler = make(Sampling())
    sampler.accept(1)
    mark = sampler.mark()
    sampler.rollback(make(Sampling()).mark())
    with pytest.raises(EngineError):
        sampler.rollback(mark)


@pytest.mark.parametrize("temperature", [0, 1])
def test_bias_forces_and_bans(temperature: float) -> None:
    forced = Sampling(temperature=temperature, logit_bias=((5, 100.0),))
    assert make(forced).sample(EIGHT).id == 5
    banned = Sampling(temperature=temperature, min_p=1, logit_bias=((3, -math.inf),))
    assert make(banned).sample(EIGHT).id == 6


@pytest.mark.parametrize("bias", [((8, 1.0),), ((-1, 1.0),), ((1, math.nan),), ((1, math.inf),)])
def test_a_bad_bias_names_the_field(bias: tuple[tuple[int, float], ...]) -> None:
    with pytest.raises(BadRequest) as error:
        make(Sampling(logit_bias=bias))
    assert error.value.param == "logit_bias"


def test_ignore_eos_masks_every_end_token() -> None:
    logits = row(9, 1, 2, 8)
    assert make(Sampling(temperature=0), n_vocab=4).sample(logits).id == 0
    assert make(Sampling(temperature=0, ignore_eos=True), n_vocab=4).sample(logits).id == 2


def test_the_repeat_penalty_counts_prompt_and_answer_and_either_sign() -> None:
    logits = row(2.0, 1.9, -1.0, -1.1)
    sampler = make(Sampling(temperature=0, repeat_penalty=2), prompt=(0, -5, 99), n_vocab=4)
    assert sampler.sample(logits).id == 1
    sampler.accept(1)
    assert sampler.sample(logits).id == 0  # both halved again: 1.0 against 0.95
    assert (
        make(Sampling(temperature=0, repeat_penalty=2), prompt=(2,), n_vocab=4)
        .sample(row(-3, -3, -1, -1.5))
        .id
        == 3
    )


def test_presence_and_frequency_count_the_answer_only() -> None:
    logits = row(2.0, 1.5, 0.9, 0)
    presence = make(Sampling(temperature=0, presence_penalty=0.6), prompt=(0,), n_vocab=4)
    assert presence.sample(logits).id == 0
    presence.accept(0)
    assert presence.sample(logits).id == 1
    frequency = make(Sampling(temperature=0, frequency_penalty=0.3), n_vocab=4)
    frequency.accept(0)
    assert frequency.sample(logits).id == 0
    frequency.accept(0)
    assert frequency.sample(logits).id == 1


def test_logprobs_come_from_the_unfiltered_logits() -> None:
    logits = np.log(row(0.5, 0.3, 0.2))
    sampled = make(Sampling(temperature=0, logit_bias=((2, 100.0),), logprobs=2), n_vocab=3).sample(logits)
    assert sampled.id == 2
    assert sampled.logprob == pytest.approx(math.log(0.2), abs=1e-5)
    assert [token for token, _ in sampled.top] == [0, 1]
    assert [value for _, value in sampled.top] == pytest.approx([math.log(0.5), math.log(0.3)], abs=1e-5)


@pytest.mark.parametrize(("asked", "given"), [(0, 0), (3, 3), (20, 8)])
def test_as_many_top_logprobs_as_asked(asked: int, given: int) -> None:
    sampled = make(Sampling(logprobs=asked)).sample(EIGHT)
    assert sampled.logprob is not None
    assert len(sampled.top) == given


def test_no_logprobs_unless_asked() -> None:
    assert make(Sampling()).sample(EIGHT).logprob is None


@pytest.mark.parametrize("temperature", [0, 1])
@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_unusable_logits_raise(temperature: float, bad: float) -> None:
    with pytest.raises(EngineError):
        make(Sampling(temperature=temperature), n_vocab=3).sample(row(1, bad, 2))


@pytest.mark.parametrize("temperature", [0, 1])
def test_nothing_left_to_choose_raises(temperature: float) -> None:
    with pytest.raises(EngineError):
        make(Sampling(temperature=temperature, min_p=0), n_vocab=2).sample(row(-math.inf, -math.inf))


def test_a_tiny_temperature_does_not_overflow() -> None:
    assert make(Sampling(temperature=1e-300, min_p=0)).sample(EIGHT).id == 3
