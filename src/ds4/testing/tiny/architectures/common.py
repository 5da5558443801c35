"""Hyperparameter groups that several architectures share."""

from collections.abc import Mapping

from ds4.testing.tiny.architecture import FromVocabulary, Value

Keys = Mapping[str, Value]

BASE: Keys = {
    "vocab_size": FromVocabulary.SIZE,
    "embedding_length": 128,
    "feed_forward_length": 128,
    "attention.layer_norm_rms_epsilon": 1e-6,
}

EXPERTS: Keys = {
    "expert_count": 6,
    "expert_used_count": 2,
    "expert_shared_count": 1,
    "expert_weights_scale": 1.5,
    "expert_weights_norm": True,
    "expert_feed_forward_length": 64,
}

# The key length must not equal the attention head size: the prediction block's context would divide by zero.
INDEXER: Keys = {
    "attention.indexer.head_count": 8,
    "attention.indexer.key_length": 128,
    "attention.indexer.top_k": 64,
}

# Latent attention (MLA): one compressed row per token instead of keys and values per head.
LATENT: Keys = {
    "attention.q_lora_rank": 64,
    "attention.kv_lora_rank": 64,
    "attention.value_length": 64,
    "attention.key_length_mla": 64,
    "attention.value_length_mla": 32,
}

HYPER_CONNECTIONS: Keys = {
    "hyper_connection.count": 4,
    "hyper_connection.sinkhorn_iterations": 4,
    "hyper_connection.epsilon": 1e-6,
}

# Gating functions, as the loader numbers them.
SIGMOID_GATE = 2
SQRT_SOFTPLUS_GATE = 4
