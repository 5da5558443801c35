import threading
from collections import Counter
from collections.abc import Mapping

import numpy as np
import pytest
from constrain_vocabularies import SpacedTokenizer, family_tokenizer, lark, markup
from hypothesis import given
from hypothesis import strategies as st

from ds4.constrain.compiler import Compiler
from ds4.constrain.vocabulary import Vocabulary, words
from ds4.core.ports import Tokenizer
from ds4.formats.registry import family_named

FAMILIES = ("chatml", "deepseek-v4.1", "glm-5.2", "qwen3.8", "generic")
VOCABULARIES: dict[str, tuple[Tokenizer, Vocabulary]] = {
    name: (family_tokenizer(name), Vocabulary(family_tokenizer(name), markup(family_named(name))))
    for name in FAMILIES
} | {"spaced": (SpacedTokenizer(), Vocabulary(SpacedTokenizer(), ("<x>",)))}


@pytest.mark.parametrize("family", FAMILIES)
def test_all_ends_and_the_formats_own_spellings_are_known(family: str) -> None:
    tokenizer = family_tokenizer(family)
    known = words(tokenizer, markup(family_named(family)))
    assert known.ends[0] == tokenizer.eos
    assert set(known.ends) == set(filter(tokenizer.is_eog, range(tokenizer.n_vocab)))
    for spelling, token in tokenizer.controls.items():
        part_of_markup = any(spelling in tag for tag in markup(family_named(family)))
        assert (spelling in known.ids) is (tokenizer.is_control(token) or part_of_markup)


def test_user_defined_entries_that_are_no_markup_stay_text() -> None:
    """`<x>` is visible text here, as thousands of entries of some vocabularies are."""
    assert words(SpacedTokenizer(), ()).ids == {"</s>": SpacedTokenizer.eos}
    assert "<x>" in words(SpacedTokenizer(), ("<x>",)).ids
    assert "<x>" in words(SpacedTokenizer(), ("<x>invoke",)).ids
    library = Vocabulary(SpacedTokenizer(), ()).library
    assert not library.is_special_token(SpacedTokenizer().controls["<x>"])
    assert library.is_special_token(SpacedTokenizer.eos)


texts = st.lists(
    st.one_of(
        st.sampled_from(["<think>", '{"name": "', " stock", "\n\n", "  ", "<|im_end|>", "\t", "é", "🙂"]),
        st.text(max_size=4),
    ),
    max_size=6,
).map("".join)


@given(st.sampled_from(sorted(VOCABULARIES)), texts)
def test_the_tokens_of_forced_text_spell_just_that(name: str, text: str) -> None:
    tokenizer, vocabulary = VOCABULARIES[name]
    ids = vocabulary.library.tokenize_str(text)
    assert b"".join(map(tokenizer.piece, ids)) == text.encode()
    assert not set(ids) & set(vocabulary.words.ids.values())
    told = vocabulary.tokens(text)
    assert b"".join(map(tokenizer.piece, told)) == text.encode()


@pytest.mark.parametrize("family", FAMILIES)
def test_forced_text_is_written_as_the_tokenizer_would(family: str) -> None:
    tokenizer, vocabulary = VOCABULARIES[family]
    text = '{"name": "stock", "arguments": {"item": '
    assert vocabulary.library.tokenize_str(text) == tokenizer.encode_plain(text)


def test_the_space_in_front_is_left_out_and_the_words_stay() -> None:
    tokenizer, vocabulary = VOCABULARIES["spaced"]
    assert [tokenizer.piece(token) for token in vocabulary.library.tokenize_str("stock stock")] == [
        b"stock",
        b" stock",
    ]


def test_many_who_ask_at_once_get_one_library() -> None:
    asked: Counter[int] = Counter()

    class Counting(SpacedTokenizer):
        def piece(self, token: int) -> bytes:
            asked[token] += 1
            return super().piece(token)

    vocabulary = Vocabulary(Counting(), ())
    found = []
    threads = [threading.Thread(target=lambda: found.append(vocabulary.library)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(map(id, found))) == 1
    assert asked[Counting.eos] == 1


class EndlessTokenizer(SpacedTokenizer):
    """Of a model that never ends by itself."""

    eos = None  # type: ignore[assignment]
    controls: Mapping[str, int] = {}

    def is_control(self, token: int) -> bool:  # noqa: ARG002
        return False

    def is_eog(self, token: int) -> bool:  # noqa: ARG002
        return False

    def encode_plain(self, text: str) -> list[int]:
        return list(text.encode())


def test_a_vocabulary_needs_no_end() -> None:
    guide = Compiler(EndlessTokenizer(), ()).guide(lark('start: "ab" /[0-9]+/ "c"'), "grammar")
    for token in b"ab1":
        assert guide.allows(token)
        guide.accept(token)
    assert sorted(np.flatnonzero(guide.allowed())) == sorted(b"0123456789c")
    guide.accept(ord("c"))
    assert guide.done
