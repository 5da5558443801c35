"""The small vocabularies: complete over bytes, and with each family's special entries."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ds4.testing.tiny import families
from ds4.testing.tiny.architecture import Family
from ds4.testing.tiny.vocabulary import Kind, build, byte_alphabet

FAMILIES = [families.LLAMA, families.GEMMA, families.DEEPSEEK, families.GLM, families.QWEN]
MERGES = ["h e", "Ġ t", "Ġt he", "l l"]


def test_alphabet_has_one_printable_character_per_byte() -> None:
    alphabet = byte_alphabet()
    assert len(set(alphabet)) == 256
    assert all(char.isprintable() and not char.isspace() for char in alphabet)
    assert (alphabet[ord(" ")], alphabet[ord("A")], alphabet[0xFF]) == ("Ġ", "A", "ÿ")


@given(st.lists(st.sampled_from([f"{left} {right}" for left in "abcd" for right in "abcd"]), unique=True))
def test_every_merge_makes_a_token(merges: list[str]) -> None:
    vocabulary = build(families.QWEN, merges)
    normal = {
        token for token, kind in zip(vocabulary.tokens, vocabulary.kinds, strict=True) if kind is Kind.NORMAL
    }
    assert normal == {*byte_alphabet(), *(merge.replace(" ", "") for merge in merges)}


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.template)
def test_specials_have_the_familys_kinds(family: Family) -> None:
    vocabulary = build(family, MERGES)
    kinds = dict(zip(vocabulary.tokens, vocabulary.kinds, strict=True))
    controls = {token for token, kind in kinds.items() if kind is Kind.CONTROL}
    assert controls == {*family.controls, *([family.bos] if family.bos else [])}
    assert {token for token, kind in kinds.items() if kind is Kind.USER_DEFINED} == set(family.user_defined)
    assert set(family.ends.values()) <= controls


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.template)
def test_ids_are_unique_and_rows_divide_by_32(family: Family) -> None:
    vocabulary = build(family, MERGES)
    assert len(set(vocabulary.tokens)) == len(vocabulary.tokens) == len(vocabulary.kinds)
    assert len(vocabulary.tokens) % 32 == 0


def test_two_merges_with_one_result_make_one_token() -> None:
    merges = ["a b", "b c", "ab c", "a bc"]
    vocabulary = build(families.QWEN, merges)
    assert vocabulary.tokens.count("abc") == 1
    assert vocabulary.merges == tuple(merges)
