"""Random weights that keep the logits alive.

Norms near one, decay rates negative and matrices scaled by their fan-in: otherwise activations die or
explode within four layers. Each tensor has its own seed, so adding one changes no other.
"""

import hashlib

import numpy as np
from numpy.typing import NDArray

from ds4.testing.tiny.architecture import Architecture, Tensor

Weights = NDArray[np.float32] | NDArray[np.float16] | NDArray[np.int32]

SEED = 1

_EMBEDDING_STD = 0.6
_VECTOR_STD = 0.02
_MATRIX_GAIN = 1.6

# Matrices that the graphs read as float32.
_FULL_PRECISION = ("hc_", "ape", "conv", "gate_inp", "indexer.proj")


def random_weights(arch: Architecture, tensor: Tensor) -> Weights:
    """Shape is `ne` reversed (slowest dimension first)."""
    rng = _generator(tensor.name)
    name, shape = tensor.name, tensor.ne[::-1]
    if "tid2eid" in name:
        return _expert_choice(rng, shape, arch.count("expert_count"))
    noise = rng.standard_normal(shape, dtype=np.float32)
    if name.endswith("norm.weight") or "norm_" in name:
        return 1 + np.float32(0.05) * noise
    if "ssm_a" in name:
        return -np.abs(noise) - np.float32(0.1)
    scaled = np.float32(_std(tensor)) * noise
    return scaled.astype(np.float16) if _half(tensor) else scaled


def _generator(name: str) -> np.random.Generator:
    digest = hashlib.sha256(f"{SEED}{name}".encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "little"))


def _expert_choice(rng: np.random.Generator, shape: tuple[int, ...], experts: int) -> NDArray[np.int32]:
    """Different experts per token: the graph assumes that a row has no repeats."""
    tokens, used = shape
    return np.stack([rng.permutation(experts)[:used] for _ in range(tokens)]).astype(np.int32)


def _std(tensor: Tensor) -> float:
    if tensor.name.startswith(("token_embd", "per_layer_token_embd")):
        return _EMBEDDING_STD
    if len(tensor.ne) == 1:
        return _VECTOR_STD
    return _MATRIX_GAIN / float(np.sqrt(tensor.ne[0]))


def _half(tensor: Tensor) -> bool:
    return len(tensor.ne) >= 2 and not any(part in tensor.name for part in _FULL_PRECISION)
