"""Which of the loader's tensors are written, and with what."""

import numpy as np
import pytest

from ds4.testing.tiny.architecture import Architecture, Tensor
from ds4.testing.tiny.architectures import ARCHITECTURES
from ds4.testing.tiny.tensors import file_tensors
from ds4.testing.tiny.weights import random_weights

LLAMA = ARCHITECTURES["llama"]
DEEPSEEK4 = ARCHITECTURES["deepseek4"]
VOCAB = 64


def names(arch: Architecture, *listed: str) -> list[str]:
    return [tensor.name for tensor in file_tensors(arch, VOCAB, [Tensor(name, (32,)) for name in listed])]


@pytest.mark.parametrize(
    "name",
    [
        "blk.0.attn_q.scale",
        "blk.0.attn_q.input_scale",
        "blk.1.exp_probs_b_vl.bias",
        "blk.3.nextn.embed_tokens.weight",
        "blk.3.nextn.shared_head_head.weight",
        "blk.0.attn_output.bias",
        "blk.0.ffn_up.bias",
        "rope_freqs.weight",
    ],
)
def test_optional_tensors_are_left_out(name: str) -> None:
    assert names(LLAMA, "output.weight", name) == ["output.weight"]


@pytest.mark.parametrize(
    "name", ["blk.0.hc_attn_scale.weight", "blk.0.ssm_dt.bias", "blk.1.exp_probs_b.bias", "blk.0.ssm_a"]
)
def test_needed_tensors_that_look_optional_stay(name: str) -> None:
    assert names(LLAMA, name) == [name]


def test_hash_layers_trade_the_biased_gate_for_a_table() -> None:
    written = file_tensors(
        DEEPSEEK4, VOCAB, [Tensor(f"blk.{layer}.exp_probs_b.bias", (6,)) for layer in (0, 1)]
    )
    assert Tensor("blk.0.ffn_gate_tid2eid.weight", (2, VOCAB)) in written
    kept = {tensor.name for tensor in written}
    assert "blk.0.exp_probs_b.bias" not in kept
    assert "blk.1.exp_probs_b.bias" in kept
    assert DEEPSEEK4.probe in kept


def test_expert_table_gives_each_token_different_experts() -> None:
    table = random_weights(DEEPSEEK4, Tensor("blk.0.ffn_gate_tid2eid.weight", (2, VOCAB)))
    assert table.dtype == np.int32
    assert table.shape == (VOCAB, 2)
    assert table.min() >= 0
    assert table.max() < 6
    assert (table[:, 0] != table[:, 1]).all()


def test_weights_are_a_function_of_the_name() -> None:
    first, again, other = (
        random_weights(LLAMA, Tensor(name, (32, 16))) for name in ("a.weight", "a.weight", "b.weight")
    )
    assert first.shape == (16, 32)
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize(
    ("name", "ne", "dtype"),
    [
        ("blk.0.attn_q.weight", (128, 128), np.float16),
        ("blk.0.ffn_gate_inp.weight", (128, 6), np.float32),
        ("blk.0.hc_attn_fn.weight", (512, 24), np.float32),
        ("blk.0.attn_norm.weight", (128,), np.float32),
    ],
)
def test_matrices_are_half_precision_unless_the_graph_wants_more(
    name: str, ne: tuple[int, ...], dtype: type
) -> None:
    assert random_weights(LLAMA, Tensor(name, ne)).dtype == dtype


def test_norms_are_near_one_and_decay_is_negative() -> None:
    norm = random_weights(LLAMA, Tensor("blk.0.ple_norm_key.weight", (128,)))
    assert abs(float(norm.mean()) - 1) < 0.05
    assert float(random_weights(LLAMA, Tensor("blk.0.ssm_a", (64,))).max()) < 0
