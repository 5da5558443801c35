"""GLM 5.2 (latent attention with shared indexers) and 5.3 (mostly recurrent layers)."""

from ds4.testing.tiny.architecture import Architecture, Array
from ds4.testing.tiny.architectures.common import (
    BASE,
    EXPERTS,
    HYPER_CONNECTIONS,
    INDEXER,
    LATENT,
    SIGMOID_GATE,
)
from ds4.testing.tiny.families import GLM

# Below a million rows of context the loader takes `indexer.types` from the file.
GLM_DSA = Architecture(
    name="glm-dsa",
    family=GLM,
    keys={
        **BASE,
        **EXPERTS,
        **INDEXER,
        **LATENT,
        "context_length": 202752,
        "block_count": 4,
        "leading_dense_block_count": 1,
        "nextn_predict_layers": 1,
        "attention.head_count": 4,
        "attention.head_count_kv": 1,
        "attention.key_length": 96,
        "attention.indexer.types": Array.u32(1, 0, 1),
        "rope.dimension_count": 32,
        "rope.freq_base": 10000.0,
        "expert_gating_func": SIGMOID_GATE,
    },
    probe="blk.3.nextn.eh_proj.weight",
)

# A layer is recurrent where its head_count_kv is 0. There is no rotation (dimension 0).
GLM5_NEXT = Architecture(
    name="glm5-next",
    family=GLM,
    keys={
        **BASE,
        **EXPERTS,
        **INDEXER,
        **LATENT,
        **HYPER_CONNECTIONS,
        "context_length": 1048576,
        "block_count": 4,
        "leading_dense_block_count": 1,
        "attention.layer_norm_epsilon": 1e-6,
        "attention.head_count": 2,
        "attention.head_count_kv": Array.u32(0, 0, 1, 0),
        "attention.key_length": 64,
        "rope.dimension_count": 0,
        "ssm.conv_kernel": 4,
        "kda.head_dim": 64,
        "kda.gate_lower_bound": -5.0,
        "attention.indexer.kpool": 4,
        "attention.indexer.kpool_select_tail": True,
        "expert_gating_func": SIGMOID_GATE,
    },
)
