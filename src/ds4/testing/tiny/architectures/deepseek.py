"""DeepSeek V4 (window, two compressed caches, indexer) and V3.2 (latent attention with an indexer)."""

from ds4.testing.tiny.architecture import Architecture, Array, Tensor
from ds4.testing.tiny.architectures.common import (
    BASE,
    EXPERTS,
    HYPER_CONNECTIONS,
    INDEXER,
    LATENT,
    SIGMOID_GATE,
    SQRT_SOFTPLUS_GATE,
)
from ds4.testing.tiny.families import DEEPSEEK

_WIDTH = 128

# Layer 4 is the multi-token-prediction block. The loader asks the file for its tensors by name
# and so never lists them.
DEEPSEEK4 = Architecture(
    name="deepseek4",
    family=DEEPSEEK,
    keys={
        **BASE,
        **EXPERTS,
        **INDEXER,
        **HYPER_CONNECTIONS,
        "context_length": 1048576,
        "embedding_length": _WIDTH,
        "block_count": 5,
        "nextn_predict_layers": 1,
        "attention.head_count": 4,
        "attention.head_count_kv": 1,
        "attention.key_length": 64,
        "attention.value_length": 64,
        "attention.q_lora_rank": 32,
        "attention.output_group_count": 4,
        "attention.output_lora_rank": 16,
        "attention.sliding_window": 128,
        "attention.compress_ratios": Array.u32(0, 4, 128, 4, 0),
        "attention.compress_rope_freq_base": 160000.0,
        "rope.dimension_count": 32,
        "rope.freq_base": 10000.0,
        "swiglu_clamp_exp": 10.0,
        "expert_gating_func": SQRT_SOFTPLUS_GATE,
    },
    probe="blk.4.nextn.eh_proj.weight",
    unlisted=(
        Tensor("blk.4.nextn.eh_proj.weight", (2 * _WIDTH, _WIDTH)),
        Tensor("blk.4.nextn.enorm.weight", (_WIDTH,)),
        Tensor("blk.4.nextn.hnorm.weight", (_WIDTH,)),
        Tensor("blk.4.nextn.shared_head_norm.weight", (_WIDTH,)),
    ),
    hash_layers=1,
)

DEEPSEEK32 = Architecture(
    name="deepseek32",
    family=DEEPSEEK,
    keys={
        **BASE,
        **EXPERTS,
        **INDEXER,
        **LATENT,
        "context_length": 163840,
        "block_count": 4,
        "leading_dense_block_count": 1,
        "nextn_predict_layers": 1,
        "attention.head_count": 4,
        "attention.head_count_kv": 1,
        "attention.key_length": 96,
        "rope.dimension_count": 32,
        "rope.freq_base": 10000.0,
        "expert_gating_func": SIGMOID_GATE,
    },
    probe="blk.3.nextn.eh_proj.weight",
)
