import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from ds4.core.sampling import Sampling
from ds4.engine.sampler import NumpySampler, choose, survivors

N_VOCAB = 12
values = st.floats(-30, 30, width=32)
rows = st.lists(values, min_size=N_VOCAB, max_size=N_VOCAB).map(lambda v: np.asarray(v, dtype=np.float32))
draws = st.floats(0, 1, exclude_max=True)
tokens = st.integers(0, N_VOCAB - 1)
samplings = st.builds(
    Sampling,
    temperature=st.floats(0.01, 10),
    top_p=st.floats(0, 1),
    min_p=st.floats(0, 1),
    top_k=st.integers(0, N_VOCAB + 3),
    seed=st.integers(1, 2**40),
    repeat_penalty=st.floats(0.5, 2),
    presence_penalty=st.floats(-2, 2),
    frequency_penalty=st.floats(-2, 2),
    logit_bias=st.lists(st.tuples(tokens, st.floats(-100, 100)), max_size=3).map(tuple),
    ignore_eos=st.booleans(),
    logprobs=st.none() | st.integers(0, 5),
)

Row = NDArray[np.float32]


@given(rows, samplings, st.lists(tokens, max_size=6), st.lists(tokens, max_size=6))
def test_sampling_never_changes_the_logits_and_always_gives_a_token(
    logits: Row, sampling: Sampling, prompt: list[int], answer: list[int]
) -> None:
    before = logits.copy()
    sampler = NumpySampler(sampling, prompt, N_VOCAB, (0,))
    for token in answer:
        sampler.accept(token)
    sampled = sampler.sample(logits)
    assert 0 <= sampled.id < N_VOCAB
    assert not (sampling.ignore_eos and sampled.id == 0)
    assert np.array_equal(before, logits)
    assert (sampled.logprob is None) == (sampling.logprobs is None)


@given(rows, draws, samplings)
def test_a_choice_survives_every_filter(logits: Row, draw: float, sampling: Sampling) -> None:
    token = choose(logits, sampling, draw)
    kept = survivors(logits, float(logits.max()), sampling.min_p)
    assert token in kept
    # Logits that differ by less than exp can tell are as likely as each other.
    scaled = (logits.astype(np.float64) - logits.max()) / sampling.temperature
    weights = np.exp(scaled)
    if sampling.top_k:
        assert int((scaled > scaled[token]).sum()) < sampling.top_k
    likelier = weights[kept][weights[kept] > weights[token]].sum() / weights[kept].sum()
    if not 0 < sampling.top_k < kept.size:
        assert likelier <= sampling.top_p + 1e-9


@given(rows, st.floats(0, 1))
def test_survivors_are_exactly_the_likely_enough(logits: Row, min_p: float) -> None:
    kept = set(survivors(logits, float(logits.max()), min_p).tolist())
    ratio = np.exp(logits.astype(np.float64) - float(logits.max()))
    for token in range(N_VOCAB):
        if ratio[token] > min_p * 1.0001:
            assert token in kept
        if ratio[token] < min_p * 0.9999:
            assert token not in kept


@given(rows, st.lists(tokens, max_size=8), st.floats(1.01, 3))
def test_penalties_touch_only_what_was_seen(logits: Row, seen: list[int], penalty: float) -> None:
    """Without its seen tokens, a row has the same winner with and without the penalty."""
    unseen = [token for token in range(N_VOCAB) if token not in seen]
    sampling = Sampling(temperature=0, repeat_penalty=penalty, presence_penalty=1)
    sampler = NumpySampler(sampling, seen, N_VOCAB, ())
    for token in seen:
        sampler.accept(token)
    token = sampler.sample(logits).id
    if token in unseen:
        assert logits[token] == logits[unseen].max()
    else:
        assert logits[token] >= logits[unseen].max(initial=-np.inf)
