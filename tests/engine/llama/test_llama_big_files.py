"""A model far larger than the machine is refused from its header alone, with figures."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from ds4.core.errors import StartError
from ds4.engine.llama import LlamaEngine, LlamaOptions, fit
from ds4.testing.tiny.architecture import Tensor
from ds4.testing.tiny.architectures import ARCHITECTURES
from ds4.testing.tiny.vocabulary import build
from ds4.testing.tiny.writer import write_hollow

pytestmark = pytest.mark.engine

GIB = 1 << 30
LAYERS, WIDTH, INNER, HEADS, KV_HEADS, HEAD = 88, 8192, 28672, 64, 8, 128
TINY = ARCHITECTURES["llama"]
BIG = replace(
    TINY,
    keys={
        **TINY.keys,
        "block_count": LAYERS,
        "embedding_length": WIDTH,
        "feed_forward_length": INNER,
        "attention.head_count": HEADS,
        "attention.head_count_kv": KV_HEADS,
        "attention.key_length": HEAD,
        "attention.value_length": HEAD,
        "rope.dimension_count": HEAD,
    },
)
BLOCK = {
    "attn_norm": (WIDTH,),
    "attn_q": (WIDTH, HEADS * HEAD),
    "attn_k": (WIDTH, KV_HEADS * HEAD),
    "attn_v": (WIDTH, KV_HEADS * HEAD),
    "attn_output": (HEADS * HEAD, WIDTH),
    "ffn_norm": (WIDTH,),
    "ffn_gate": (WIDTH, INNER),
    "ffn_up": (WIDTH, INNER),
    "ffn_down": (INNER, WIDTH),
}
MERGES = ("h e", "Ġ t", "Ġt he")


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("big") / "big.gguf"
    vocabulary = len(build(BIG.family, MERGES).tokens)
    ends = {"token_embd": (WIDTH, vocabulary), "output_norm": (WIDTH,), "output": (WIDTH, vocabulary)}
    tensors = [Tensor(f"{name}.weight", ne) for name, ne in ends.items()]
    tensors += [Tensor(f"blk.{i}.{name}.weight", ne) for i in range(LAYERS) for name, ne in BLOCK.items()]
    write_hollow(BIG, MERGES, tensors, path)
    return path


def test_the_file_is_large_and_takes_no_room(big: Path) -> None:
    assert big.stat().st_size > 140 * GIB
    assert big.stat().st_blocks * 512 < 1 << 20


def test_it_is_refused_in_one_sentence_before_any_weight_is_read(
    big: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fit, "_host_available", lambda: 64 * GIB)
    with pytest.raises(StartError) as refusal:
        LlamaEngine.open(LlamaOptions(big, n_ctx=8192, n_slots=2, warm_weights=True))
    said = refusal.value.message
    assert "\n" not in said
    weights = re.search(r"weights ([\d.]+) GiB", said)
    assert weights is not None
    assert float(weights[1]) == pytest.approx(big.stat().st_size / GIB, rel=0.001)
    # K and V, half precision
    kv = 2 * 2 * LAYERS * KV_HEADS * HEAD * 8192 / GIB
    assert f"KV cache 2 x {kv:.2f} GiB (--ctx 8192)" in said
    assert "available 64.00 GiB; use a smaller or stronger quantised model" in said


def test_a_context_that_would_fit_is_named(big: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fit, "_host_available", lambda: 150 * GIB)
    with pytest.raises(StartError, match=r"about --ctx \d+ would fit"):
        LlamaEngine.open(LlamaOptions(big, n_ctx=32768, n_slots=2))
