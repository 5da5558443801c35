"""The scripted tokenizer: lossless, and plain text stays plain whatever it spells."""

from hypothesis import given
from hypothesis import strategies as st

from ds4.core.ports import Tokenizer
from ds4.engine.scripted.bpe import packaged_bpe, packaged_merges, words
from ds4.engine.scripted.tokenizer import ScriptedTokenizer
from ds4.formats.registry import FAMILIES, family_named

BPE = packaged_bpe()
TOKENIZERS = {family.name: ScriptedTokenizer(family, BPE) for family in FAMILIES}
SPELLED = sorted({spelling for family in FAMILIES for spelling in family.spellings})

names = st.sampled_from(sorted(TOKENIZERS))
texts = st.lists(st.one_of(st.text(), st.sampled_from(SPELLED))).map("".join)


def spelled(tokenizer: Tokenizer, ids: list[int]) -> str:
    return b"".join(map(tokenizer.piece, ids)).decode("utf-8")


@given(st.text(st.characters()))
def test_words_join_to_the_text(text: str) -> None:
    assert "".join(words(text)) == text
    assert all(len(word) <= 25 for word in words(text))


@given(names, texts)
def test_plain_text_comes_back_and_holds_no_control_token(name: str, text: str) -> None:
    tokenizer = TOKENIZERS[name]
    ids = tokenizer.encode_plain(text)
    assert spelled(tokenizer, ids) == text
    assert not set(ids) & set(tokenizer.controls.values())
    assert not any(map(tokenizer.is_control, ids))


@given(names, texts)
def test_raw_text_comes_back_with_its_spellings_as_tokens(name: str, text: str) -> None:
    tokenizer = TOKENIZERS[name]
    ids = tokenizer.encode_raw(text)
    assert spelled(tokenizer, ids) == text
    special = set(tokenizer.controls.values())
    plain = b"".join(b"\0" if token in special else tokenizer.piece(token) for token in ids)
    assert not any(spelling.encode() in plain for spelling in tokenizer.controls)


@given(st.text(st.characters(categories=["Cs", "L"])))
def test_a_lone_surrogate_is_encoded(text: str) -> None:
    data = b"".join(map(BPE.pieces.__getitem__, BPE.encode(text)))
    assert data.decode("utf-8", "surrogatepass") == text


def test_merges_are_used() -> None:
    text = "The return value of the function is a string.\n"
    assert len(BPE.encode(text)) < len(text) * 0.7
    assert len(packaged_merges()) == 1000


def test_special_tokens() -> None:
    tokenizer = TOKENIZERS["deepseek-v4"]
    family = family_named("deepseek-v4")
    assert set(tokenizer.controls) == set(family.spellings)
    assert tokenizer.bos == tokenizer.controls["<｜begin▁of▁sentence｜>"]
    assert tokenizer.eos == tokenizer.controls["<｜end▁of▁sentence｜>"]
    assert tokenizer.piece(tokenizer.eos).decode() == "<｜end▁of▁sentence｜>"
    ends = [token for token in range(tokenizer.n_vocab) if tokenizer.is_eog(token)]
    assert ends == [tokenizer.eos]
    assert tokenizer.is_control(tokenizer.controls["<｜User｜>"])
    assert not tokenizer.is_control(tokenizer.controls["<think>"]), "markup is visible output"


def test_glm_ends_at_the_next_role_too() -> None:
    tokenizer = TOKENIZERS["glm-5.2"]
    ends = {tokenizer.piece(token) for token in range(tokenizer.n_vocab) if tokenizer.is_eog(token)}
    assert tokenizer.bos is None
    assert ends == {b"<|endoftext|>", b"<|user|>", b"<|observation|>"}


def test_a_family_without_end_token_gets_one() -> None:
    tokenizer = TOKENIZERS["generic"]
    assert tokenizer.is_eog(tokenizer.eos)
    assert tokenizer.is_control(tokenizer.eos)


def test_a_hostile_text_of_one_word_encodes() -> None:
    text = "é" * 200_000
    assert spelled(TOKENIZERS["chatml"], BPE.encode(text)) == text
