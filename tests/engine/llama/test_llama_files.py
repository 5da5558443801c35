"""Broken model files: one sentence each, naming the file, and never a crash."""

from collections.abc import Callable
from pathlib import Path

import pytest
from llama_split import split

from ds4.core.errors import ModelError, StartError
from ds4.engine.llama import LlamaEngine, LlamaOptions, LlamaTokenizer, read_model_header
from ds4.testing.tiny import tiny_model

pytest_plugins = ("llama_fixtures",)
pytestmark = pytest.mark.engine

OPENERS: list[Callable[[Path], object]] = [
    lambda path: LlamaEngine.open(LlamaOptions(path, n_ctx=256)),
    LlamaTokenizer.open,
    read_model_header,
]


def refused(path: Path, *parts: str) -> None:
    for opener in OPENERS:
        with pytest.raises(ModelError) as error:
            opener(path)
        assert str(path.parent) in error.value.message
        assert "\n" not in error.value.message
        for part in parts:
            assert part in error.value.message


def test_missing(tmp_path: Path) -> None:
    refused(tmp_path / "none.gguf", "none.gguf", "no such file")


def test_a_folder(tmp_path: Path) -> None:
    (tmp_path / "folder.gguf").mkdir()
    refused(tmp_path / "folder.gguf", "not a file")


def test_empty(tmp_path: Path) -> None:
    (tmp_path / "empty.gguf").touch()
    refused(tmp_path / "empty.gguf", "empty")


def test_not_a_gguf(tmp_path: Path) -> None:
    (tmp_path / "text.gguf").write_text("once upon a time")
    refused(tmp_path / "text.gguf", "not a GGUF")


@pytest.mark.parametrize("size", [4, 5, 20, 100, 3000, 20000])
def test_cut_in_the_metadata(tmp_path: Path, size: int) -> None:
    (tmp_path / "cut.gguf").write_bytes(tiny_model("llama").read_bytes()[:size])
    refused(tmp_path / "cut.gguf", "cut.gguf: ", "truncated")


@pytest.mark.parametrize("missing", [1, 1000, 200_000])
def test_cut_in_the_tensors(tmp_path: Path, missing: int) -> None:
    data = tiny_model("llama").read_bytes()
    (tmp_path / "cut.gguf").write_bytes(data[:-missing])
    refused(tmp_path / "cut.gguf", "truncated", str(len(data) - missing))


def test_a_format_version_from_the_future(tmp_path: Path) -> None:
    data = bytearray(tiny_model("llama").read_bytes())
    data[4] = 9
    (tmp_path / "new.gguf").write_bytes(data)
    refused(tmp_path / "new.gguf", "version 9")


def test_an_unknown_architecture(tmp_path: Path) -> None:
    data = tiny_model("llama").read_bytes().replace(b"llama", b"lamma")
    (tmp_path / "odd.gguf").write_bytes(data)
    for opener in OPENERS[:2]:
        with pytest.raises(ModelError, match=r"odd\.gguf: unknown model architecture: 'lamma'"):
            opener(tmp_path / "odd.gguf")


def test_a_missing_tensor(tmp_path: Path) -> None:
    data = tiny_model("llama").read_bytes().replace(b"blk.0.attn_q.weight", b"blk.0.attn_Q.weight")
    (tmp_path / "odd.gguf").write_bytes(data)
    with pytest.raises(ModelError, match=r"odd\.gguf: .*blk\.0\.attn_q\.weight"):
        LlamaEngine.open(LlamaOptions(tmp_path / "odd.gguf", n_ctx=256))


def test_a_missing_part(tmp_path: Path) -> None:
    first = tmp_path / "m-00001-of-00002.gguf"
    first.write_bytes(tiny_model("llama").read_bytes())
    refused(first, "m-00002-of-00002.gguf", "no such file")


def test_not_the_first_part(tmp_path: Path) -> None:
    second = tmp_path / "m-00002-of-00002.gguf"
    second.write_bytes(tiny_model("llama").read_bytes())
    refused(second, "m-00001-of-00002.gguf", "first part")


def test_a_split_model_loads(tmp_path: Path) -> None:
    split(tiny_model("llama"), tmp_path)
    engine = LlamaEngine.open(LlamaOptions(tmp_path / "m-00001-of-00002.gguf", n_ctx=256))
    assert engine.info.arch == "llama"
    engine.close()
    (tmp_path / "m-00002-of-00002.gguf").write_bytes(b"GGUF")
    refused(tmp_path / "m-00001-of-00002.gguf", "m-00002-of-00002.gguf")


def test_the_header_of_a_whole_file(demo_path: Path) -> None:
    header = read_model_header(demo_path)
    assert (header.arch, header.n_ctx_train, len(header.tokens)) == ("llama", 8192, 49152)
    assert header.chat_template is not None
    assert header.controls[1:3] == ("<|im_start|>", "<|im_end|>")


def test_a_context_that_does_not_fit_is_refused_with_a_suggestion(demo_path: Path) -> None:
    options = LlamaOptions(demo_path, n_ctx=40_000_000, ctx_given=True, n_slots=4)
    with pytest.raises(StartError, match=r"does not fit into memory: .* about --ctx \d+ would fit"):
        LlamaEngine.open(options)
