"""Plain attention, and attention with a sliding window in some layers."""

from ds4.testing.tiny.architecture import Architecture
from ds4.testing.tiny.architectures.common import BASE, Keys
from ds4.testing.tiny.families import GEMMA
from ds4.testing.tiny.families import LLAMA as LLAMA_FAMILY

_ATTENTION: Keys = {
    "context_length": 32768,
    "attention.head_count": 4,
    "attention.head_count_kv": 2,
    "attention.key_length": 32,
    "attention.value_length": 32,
}

LLAMA = Architecture(
    name="llama",
    family=LLAMA_FAMILY,
    keys={
        **BASE,
        **_ATTENTION,
        "block_count": 4,
        "feed_forward_length": 256,
        "rope.dimension_count": 32,
        "rope.freq_base": 10000.0,
    },
)

# Every sixth layer sees everything, the others 64 rows: six layers have both kinds.
GEMMA3 = Architecture(
    name="gemma3",
    family=GEMMA,
    keys={
        **BASE,
        **_ATTENTION,
        "block_count": 6,
        "feed_forward_length": 256,
        "attention.sliding_window": 64,
        "rope.freq_base": 1000000.0,
    },
)
