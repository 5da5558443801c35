"""Whose state a snapshot is: the same for all quantisations, another for another model."""

import ctypes
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from llama_driver import small
from llama_split import split

from ds4.core.errors import ModelError
from ds4.engine.llama import FlashAttention, KvType, LlamaEngine, LlamaOptions
from ds4.engine.llama.capi import opened, tensors
from ds4.engine.llama.capi.native import llama
from ds4.engine.llama.files import model_files
from ds4.engine.llama.header import read_model_header
from ds4.engine.llama.identity import Marks, read_marks
from ds4.testing.tiny import TINY_ARCHS, tiny_model

pytest_plugins = ("llama_fixtures",)
pytestmark = pytest.mark.engine

FTYPES = {"F16": 1, "Q8_0": 7, "Q4_0": 2}


def marks(path: Path) -> Marks:
    return read_marks(model_files(path))


def quantised(path: Path, ftype: int, folder: Path) -> Path:
    """By llama.cpp's own quantiser, as people publish models."""
    target = folder / f"{ftype}.gguf"
    params = llama.llama_model_quantize_default_params()
    params.ftype, params.nthread = ftype, 1
    assert llama.llama_model_quantize(str(path).encode(), str(target).encode(), ctypes.byref(params)) == 0
    return target


@pytest.mark.parametrize("arch", TINY_ARCHS)
def test_quantisations_are_one_model(arch: str, tmp_path: Path) -> None:
    source = tiny_model(arch)
    found = {name: marks(quantised(source, ftype, tmp_path)) for name, ftype in FTYPES.items()}
    assert {mark.model for mark in found.values()} == {marks(source).model}
    assert [mark.quant.split()[0] for mark in found.values()] == list(FTYPES)
    assert len({mark.quant for mark in found.values()}) == len(FTYPES)


def test_every_architecture_is_another_model() -> None:
    assert len({marks(tiny_model(arch)).model for arch in TINY_ARCHS}) == len(TINY_ARCHS)


def test_a_split_model_is_the_whole_one(tmp_path: Path) -> None:
    split(tiny_model("llama"), tmp_path)
    assert marks(tmp_path / "m-00001-of-00002.gguf") == marks(tiny_model("llama"))


def put(data: bytearray, at: int, new: bytes) -> None:
    data[at : at + len(new)] = new


def spelling(data: bytearray) -> None:
    put(data, data.index(b"<|eot_id|>"), b"<|eot_ix|>")


def hyperparameter(data: bytearray) -> None:
    key = b"llama.rope.freq_base"
    put(data, data.index(key) + len(key) + 4, b"\x01")


def name(data: bytearray) -> None:
    put(data, data.index(b"tiny-random-llama"), b"tiny-tuned")


def norm(data: bytearray) -> None:
    put(data, place("blk.1.ffn_norm.weight")[0], b"\x00\x00\xa0\x3f")


def matrix(data: bytearray) -> None:
    start, size = place("blk.1.ffn_up.weight")
    put(data, start + size // 2, b"\x01\x02\x03\x04")


def template(data: bytearray) -> None:
    text = read_model_header(tiny_model("llama")).chat_template
    assert text
    put(data, data.index(text.encode()), b"#")


def place(tensor: str) -> tuple[int, int]:
    with opened(tiny_model("llama")) as gguf:
        return next((entry.start, entry.size) for entry in tensors(gguf) if entry.name == tensor)


@pytest.mark.parametrize(
    ("change", "same_model", "same_quant"),
    [
        (spelling, False, True),
        (hyperparameter, False, True),
        (name, False, True),
        (norm, False, True),
        (matrix, True, False),
        (template, True, True),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_what_makes_another_model(
    change: Callable[[bytearray], None], same_model: bool, same_quant: bool, tmp_path: Path
) -> None:
    data = bytearray(tiny_model("llama").read_bytes())
    change(data)
    changed = tmp_path / "changed.gguf"
    changed.write_bytes(data)
    was, now = marks(tiny_model("llama")), marks(changed)
    assert (now.model == was.model, now.quant == was.quant) == (same_model, same_quant)


def test_a_model_that_went_away_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no such file"):
        read_marks([tmp_path / "gone.gguf"])


def layout(options: LlamaOptions) -> str:
    engine = LlamaEngine.open(options)
    engine.close()
    return engine.info.identity.layout


def test_the_layout_is_what_decides_whether_a_snapshot_loads() -> None:
    options = small(tiny_model("gemma3"))
    base = layout(options)
    assert base.startswith("llama.cpp 0.5.0-dev ")
    assert " k=f16 v=f16 fa=on " in base
    same = [
        replace(options, n_ctx=1024),
        replace(options, n_slots=1),
        replace(options, n_batch=128, n_ubatch=32, threads=2),
        replace(options, flash_attn=FlashAttention.AUTO),
    ]
    assert {layout(other) for other in same} == {base}
    transposed = layout(replace(options, flash_attn=FlashAttention.OFF))
    quantised_cache = layout(replace(options, kv_type=KvType.Q8_0))
    assert " fa=off " in transposed
    assert " k=q8_0 v=q8_0 " in quantised_cache
    assert len({base, transposed, quantised_cache}) == 3


def test_a_rotated_cache_is_another_layout(demo_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """llama.cpp rotates what it quantises, unless told otherwise; the blobs look the same."""
    options = replace(small(demo_path), kv_type=KvType.Q8_0)
    rotated = layout(options)
    monkeypatch.setenv("LLAMA_ATTN_ROT_DISABLE", "1")
    plain = layout(options)
    assert rotated.replace(" rotated=11", "") == plain != rotated


def test_the_engine_says_whose_states_it_keeps(tmp_path: Path) -> None:
    source = tiny_model("glm-dsa")
    engines = [LlamaEngine.open(small(path)) for path in (source, quantised(source, 7, tmp_path))]
    first, second = (engine.info.identity for engine in engines)
    for engine in engines:
        engine.close()
    assert (first.model, first.layout) == (second.model, second.layout)
    assert (first.quant[:4], second.quant[:4]) == ("F16 ", "Q8_0")
