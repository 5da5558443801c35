"""From the tensors the loader can use to those a real file carries."""

import re
from collections.abc import Iterable

from ds4.testing.tiny.architecture import Architecture, Tensor

# Offered by the loader, absent from ordinary files of these families: scales of one quantisation
# format, a bias for image tokens, copies of the embedding in the prediction block, biases of plain
# projections, factors that stretch the rotation for long contexts.
_OPTIONAL = re.compile(
    r"""(
    \.(input_)?scale
    | exp_probs_b_vl(\.bias)?
    | nextn\.(embed_tokens|shared_head_head)\.weight
    | attn_(q|k|v|output)\.bias
    | ffn_(gate|up|down)\.bias
    | rope_freqs\.weight
    )$""",
    re.VERBOSE,
)


def file_tensors(arch: Architecture, vocab_size: int, listed: Iterable[Tensor]) -> list[Tensor]:
    """What to write, in the loader's order."""
    wanted = {tensor.name: tensor for tensor in listed if not _OPTIONAL.search(tensor.name)}
    for layer in range(arch.hash_layers):
        wanted.pop(f"blk.{layer}.exp_probs_b.bias", None)
    extra = (*arch.unlisted, *_hash_tables(arch, vocab_size))
    wanted.update((tensor.name, tensor) for tensor in extra)
    return list(wanted.values())


def _hash_tables(arch: Architecture, vocab_size: int) -> list[Tensor]:
    """Layers that route by token id read their experts from a table instead of a biased gate."""
    if not arch.hash_layers:
        return []
    used = arch.count("expert_used_count")
    return [
        Tensor(f"blk.{layer}.ffn_gate_tid2eid.weight", (used, vocab_size))
        for layer in range(arch.hash_layers)
    ]
