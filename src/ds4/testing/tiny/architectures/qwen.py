"""Qwen3.8 Flash Next and Qwen3.5 MoE: three recurrent layers to one of full attention."""

from ds4.testing.tiny.architecture import Architecture, Array, FromVocabulary
from ds4.testing.tiny.architectures.common import BASE, EXPERTS, Keys
from ds4.testing.tiny.families import QWEN

_HYBRID: Keys = {
    "context_length": 262144,
    "block_count": 4,
    "full_attention_interval": 4,
    "attention.head_count": 4,
    "attention.head_count_kv": 2,
    "attention.key_length": 64,
    "attention.value_length": 64,
    "rope.dimension_count": 32,
    "rope.freq_base": 1000000.0,
    "rope.dimension_sections": Array.i32(6, 5, 5, 0),
    "ssm.conv_kernel": 4,
    "ssm.inner_size": 128,
    "ssm.state_size": 32,
    "ssm.time_step_rank": 4,
    "ssm.group_count": 2,
}

# Hashes of the last 2 and 3 tokens, two heads each, look up rows of one table.
_NGRAM_SIZE, _HEADS_PER_NGRAM, _ROWS_PER_HEAD = 3, 2, 512
_NGRAM_HEADS = (_NGRAM_SIZE - 1) * _HEADS_PER_NGRAM
_NGRAM_TABLE: Keys = {
    "ple.layers": Array.u32(0),
    "ple.ngram_size": _NGRAM_SIZE,
    "ple.heads_per_ngram": _HEADS_PER_NGRAM,
    "ple.conv_kernel": 4,
    "ple.eos_token_id": FromVocabulary.EOS,
    "ple.layer_multipliers": Array.u64(1, 3, 5),
    "ple.head_offsets": Array.u64(*(head * _ROWS_PER_HEAD for head in range(_NGRAM_HEADS))),
    "ple.head_vocab_sizes": Array.u64(*(_ROWS_PER_HEAD,) * _NGRAM_HEADS),
    "embedding_length_per_layer_input": 32,
}

QWEN4EXP = Architecture(
    name="qwen4exp",
    family=QWEN,
    keys={
        **BASE,
        **EXPERTS,
        **_HYBRID,
        **_NGRAM_TABLE,
        "expert_shared_feed_forward_length": 64,
        "hyper_connection.count": 4,
        "hyper_connection.low_rank": 8,
        "attention.indexer.head_count": 4,
        "attention.indexer.key_length": 64,
        "attention.indexer.top_k": 64,
        "attention.compress_ratios": Array.u32(4, 4, 4, 4),
    },
)

QWEN35MOE = Architecture(name="qwen35moe", family=QWEN, keys={**BASE, **EXPERTS, **_HYBRID})
