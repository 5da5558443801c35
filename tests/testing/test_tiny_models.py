"""The model files themselves, before any engine loads them."""

from pathlib import Path

import pytest
from gguf import GGUFReader

from ds4.testing.tiny import TINY_ARCHS, tiny_model
from ds4.testing.tiny.architectures import ARCHITECTURES
from ds4.testing.tiny.writer import write_model

pytestmark = pytest.mark.engine

LIMIT = 5_000_000


@pytest.mark.parametrize("arch", TINY_ARCHS)
def test_file_is_small_and_says_what_it_is(arch: str) -> None:
    path = tiny_model(arch)
    assert path.is_absolute()
    assert 1_000_000 < path.stat().st_size < LIMIT
    fields = GGUFReader(path).fields
    assert fields["general.architecture"].contents() == arch
    assert "messages" in fields["tokenizer.chat_template"].contents()


def test_made_twice_the_bytes_are_the_same(tmp_path: Path) -> None:
    first, second = tmp_path / "first.gguf", tmp_path / "second.gguf"
    for path in (first, second):
        write_model(ARCHITECTURES["deepseek4"], ["h e", "Ġ t", "Ġt he"], path)
    assert first.read_bytes() == second.read_bytes()


def test_prediction_block_and_hash_table_are_in_the_deepseek_file() -> None:
    names = {tensor.name for tensor in GGUFReader(tiny_model("deepseek4")).tensors}
    assert {"blk.4.nextn.eh_proj.weight", "blk.0.ffn_gate_tid2eid.weight"} <= names
