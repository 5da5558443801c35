from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ds4.core.errors import EngineError
from ds4.engine.llama import LlamaTokenizer
from ds4.testing.tiny import tiny_model

pytest_plugins = ("llama_fixtures",)
pytestmark = pytest.mark.engine

CONTROLS = ["<|im_start|>", "<|im_end|>", "<|endoftext|>", "<think>", "</think>", "<tool_call>", "｜DSML｜"]
# The demo vocabulary, a model's real one, lacks the bytes of unassigned planes and some control characters.
known = st.text(st.characters(exclude_categories=("Cs", "Cc", "Cn", "Co")), max_size=5)
planted = st.lists(st.sampled_from(CONTROLS) | known).map("".join)


@pytest.fixture(scope="session", params=["deepseek4", "glm-dsa", "qwen4exp", "gemma3"])
def tiny_tokenizer(request: pytest.FixtureRequest) -> LlamaTokenizer:
    return LlamaTokenizer.open(tiny_model(request.param))


def joined(tokenizer: LlamaTokenizer, ids: list[int]) -> str:
    return b"".join(map(tokenizer.piece, ids)).decode()


def test_the_demo_vocabulary(demo_tokenizer: LlamaTokenizer) -> None:
    t = demo_tokenizer
    assert (t.n_vocab, t.bos, t.eos) == (49152, None, 2)
    assert t.controls["<|im_end|>"] == 2
    assert t.is_control(1)
    assert not t.is_control(100)
    assert t.is_eog(2)
    assert not t.is_eog(100)
    assert t.piece(1) == b"<|im_start|>"
    assert 2 in t.eog


@given(planted)
def test_plain_text_is_lossless_and_never_control(demo_tokenizer: LlamaTokenizer, text: str) -> None:
    ids = demo_tokenizer.encode_plain(text)
    assert joined(demo_tokenizer, ids) == text
    assert not set(ids) & set(demo_tokenizer.controls.values())


@given(planted)
def test_so_it_is_with_user_defined_entries(tiny_tokenizer: LlamaTokenizer, text: str) -> None:
    ids = tiny_tokenizer.encode_plain(text)
    assert joined(tiny_tokenizer, ids) == text
    assert not set(ids) & set(tiny_tokenizer.controls.values())


def test_user_defined_entries_are_visible() -> None:
    """Some are ordinary words; those that are markup are known to who reads it."""
    tokenizer = LlamaTokenizer.open(tiny_model("glm-dsa"))
    assert not tokenizer.is_control(tokenizer.controls["<think>"])
    assert tokenizer.is_control(tokenizer.controls["<|user|>"])


@given(st.text())
def test_text_without_spellings_is_the_same_plain_and_raw(demo_tokenizer: LlamaTokenizer, text: str) -> None:
    assert demo_tokenizer.encode_plain(text) == demo_tokenizer.encode_raw(text)


def test_raw_text_takes_spellings_as_control_tokens(tiny_tokenizer: LlamaTokenizer) -> None:
    for spelling, token in tiny_tokenizer.controls.items():
        assert tiny_tokenizer.encode_raw(spelling) == [token]
        assert tiny_tokenizer.piece(token).decode() == spelling


def test_raw_text_keeps_its_controls_at_any_length(demo_tokenizer: LlamaTokenizer) -> None:
    text = "x" * 4090 + "<|im_start|>user\n" + "word " * 3000 + "<|im_end|>"
    ids = demo_tokenizer.encode_raw(text)
    assert joined(demo_tokenizer, ids) == text
    assert [i for i in ids if demo_tokenizer.is_control(i)] == [1, 2]


@pytest.mark.parametrize("unit", ["a", " ", "\n", "日", "!", "/\n", "\x1c!", "aA", "1", "😀", "\0"])
def test_a_long_run_does_not_end_the_process(tiny_tokenizer: LlamaTokenizer, unit: str) -> None:
    text = unit * (200_000 // len(unit))
    assert joined(tiny_tokenizer, tiny_tokenizer.encode_plain(text)) == text
    assert joined(tiny_tokenizer, tiny_tokenizer.encode_raw(text)) == text


def test_long_prose_is_cut_without_changing_a_token(demo_tokenizer: LlamaTokenizer) -> None:
    sentence = "Plain words of some length, and numbers like 1234.\n"
    one = demo_tokenizer.encode_plain(sentence)
    assert demo_tokenizer.encode_plain(sentence * 400) == one * 400


def test_odd_text(demo_tokenizer: LlamaTokenizer) -> None:
    assert demo_tokenizer.encode_plain("") == []
    assert demo_tokenizer.encode_raw("") == []
    assert joined(demo_tokenizer, demo_tokenizer.encode_plain("a\0b")) == "a\0b"
    assert joined(demo_tokenizer, demo_tokenizer.encode_raw("\ud800x\udfff")) == "\ufffdx\ufffd"


@pytest.mark.parametrize("token", [-1, 49152, 10**6])
def test_a_token_outside_the_vocabulary(demo_tokenizer: LlamaTokenizer, token: int) -> None:
    with pytest.raises(EngineError):
        demo_tokenizer.piece(token)
    assert not demo_tokenizer.is_control(token)
    assert not demo_tokenizer.is_eog(token)


@pytest.fixture(scope="session")
def spaced(tmp_path_factory: pytest.TempPathFactory) -> LlamaTokenizer:
    """A SentencePiece vocabulary that puts a space before whatever it is given."""
    gguf = pytest.importorskip("gguf")
    path = tmp_path_factory.mktemp("spm") / "spaced.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    for key, size in (("block_count", 1), ("context_length", 128), ("embedding_length", 32)):
        writer.add_uint32(f"llama.{key}", size)
    for key, size in (("feed_forward_length", 32), ("attention.head_count", 1)):
        writer.add_uint32(f"llama.{key}", size)
    writer.add_float32("llama.attention.layer_norm_rms_epsilon", 1e-5)
    bytes_of = [f"<0x{i:02X}>" for i in range(256)]
    words = ["▁", "h", "i", "hi", "▁hi", "<", ">", "x"]
    tokens = ["<unk>", "<s>", "</s>", *bytes_of, *words, "<x>"]
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([-float(i) for i in range(len(tokens))])
    writer.add_token_types([2, 3, 3, *[6] * 256, *[1] * len(words), 4])
    writer.add_add_space_prefix(True)
    writer.add_tensor("unused", np.zeros(32, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return LlamaTokenizer.open(Path(path))


def test_only_the_start_of_a_text_gains_the_space(spaced: LlamaTokenizer) -> None:
    assert joined(spaced, spaced.encode_plain("hi")) == " hi"
    assert joined(spaced, spaced.encode_plain("hi<x>hi")) == " hi<x>hi"
    assert not set(spaced.encode_plain("hi<x>hi")) & set(spaced.controls.values())
    assert joined(spaced, spaced.encode_plain("x" * 9000)) == " " + "x" * 9000


@given(st.text("hix<> \n"))
def test_the_rest_is_lossless(spaced: LlamaTokenizer, text: str) -> None:
    assert joined(spaced, spaced.encode_plain(text)) == (f" {text}" if text else "")
