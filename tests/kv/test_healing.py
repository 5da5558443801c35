from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ds4.core.plan import Ids, Image
from ds4.kv.healing import LARGEST, Healed, heal, speller
from ds4.kv.prefix import common_prefix

# Ids 0..255 are bytes, as in a vocabulary with byte fallback. Then come words, then controls whose spelling
# a client could write, then a word that spells nothing.
WORDS = (
    b"ab",
    b"abc",
    b"bc",
    b"ca",
    b"bca",
    b"<e>",
    "é".encode(),
    "aé".encode(),
    "日本".encode(),
    b"\xff\x00",
    b"\xffa",
)
CONTROLS = (b"<e>", b"\xff", b"")
EMPTY = 256 + len(WORDS) + len(CONTROLS)
PIECES = (*(bytes([n]) for n in range(256)), *WORDS, *CONTROLS, b"")
FIRST_CONTROL = 256 + len(WORDS)


def is_control(row: int) -> bool:
    return FIRST_CONTROL <= row < EMPTY


SPELL = speller(PIECES.__getitem__, range(FIRST_CONTROL, EMPTY))


def word(spelled: bytes) -> int:
    return 256 + WORDS.index(spelled)


def control(spelled: bytes) -> int:
    return FIRST_CONTROL + CONTROLS.index(spelled)


def ids(*rows: int) -> Ids:
    return np.array(rows, np.int32)


def letters(text: bytes) -> Ids:
    return ids(*text)


def healed(held: Ids, wanted: Ids, **options: bool) -> Healed | None:
    return heal(held, wanted, common_prefix(held, wanted), SPELL, **options)


def symbols(rows: Ids) -> list[tuple[str, int]]:
    """What rows mean: bytes of text, controls and image rows, which no text is."""
    found: list[tuple[str, int]] = []
    for row in rows.tolist():
        if row < 0 or is_control(row):
            found.append(("row", row))
        else:
            found += [("byte", byte) for byte in PIECES[row]]
    return found


def longest_same(held: Ids, wanted: Ids) -> int:
    """Symbols up to the last place where a row ends on both sides and all is the same before."""
    left, right = symbols(held), symbols(wanted)
    same = 0
    while same < min(len(left), len(right)) and left[same] == right[same]:
        same += 1
    ends = [{*accumulate(len(symbols(ids(row))) for row in rows.tolist())} for rows in (held, wanted)]
    return max((end for end in ends[0] & ends[1] if end <= same), default=0)


ROWS = st.sampled_from([97, 98, 99, 0xC3, 0xA9, 0xFF, 0, 60, 101, 62, -1, -2, *range(256, EMPTY + 1)])


@st.composite
def retold(draw: st.DrawFn) -> tuple[Ids, Ids]:
    """Two sequences that spell mostly the same: words against their bytes, then ends of their own."""
    left: list[int] = []
    right: list[int] = []
    for row in draw(st.lists(ROWS, max_size=30)):
        spelled = [row] if row < 0 or is_control(row) else list(PIECES[row])
        left += draw(st.sampled_from([[row], spelled]))
        right += draw(st.sampled_from([[row], spelled]))
    ends = st.lists(ROWS, max_size=4)
    return ids(*left, *draw(ends)), ids(*right, *draw(ends))


@given(retold())
def test_what_is_healed_means_the_same(pair: tuple[Ids, Ids]) -> None:
    held, wanted = pair
    found = healed(held, wanted)
    if found is not None:
        bridge = [("byte", byte) for byte in found.bridge.encode()]
        assert symbols(held[: found.held]) + bridge == symbols(wanted[: found.wanted])
        assert found.common == common_prefix(held, wanted)
        assert found.held > found.common < found.wanted


@given(retold())
def test_nothing_that_can_be_healed_is_missed(pair: tuple[Ids, Ids]) -> None:
    held, wanted = pair
    common = common_prefix(held, wanted)
    found = healed(held, wanted, bridges=False)
    reached = len(symbols(held[: found.held if found else common]))
    assert reached == max(longest_same(held, wanted), len(symbols(held[:common])))
    bridged = healed(held, wanted)
    assert len(symbols(held[: bridged.held if bridged else common])) >= reached


def test_words_against_their_letters() -> None:
    held = ids(*b"x", *b"abc", *b"!")
    wanted = ids(*b"x", word(b"abc"), *b"?")
    assert healed(held, wanted) == Healed(common=1, held=4, wanted=2)
    assert healed(wanted, held) == Healed(common=1, held=2, wanted=4)


def test_other_text_is_not_healed() -> None:
    assert healed(letters(b"abc"), letters(b"abd")) is None
    assert healed(letters(b"x"), ids(word(b"abc"))) is None


def test_a_shared_beginning_without_a_shared_row_end_is_not_healed() -> None:
    assert healed(ids(word(b"ab"), 33), ids(97, word(b"bc"))) is None


def test_a_long_text_is_healed_to_its_end() -> None:
    text = b"abcabbc" * LARGEST
    words = ids(*[word(b"abc"), word(b"ab"), word(b"bc")] * LARGEST)
    assert healed(letters(text + b"!"), np.append(words, 33)) == Healed(0, len(text) + 1, words.size + 1)
    assert healed(letters(text + b"!"), np.append(words, 34)) == Healed(0, len(text), words.size)


def test_row_ends_that_meet_late_are_found() -> None:
    held = ids(97, *[word(b"bca")] * 400, word(b"bc"), 33)
    wanted = ids(*[word(b"abc")] * 401, 63)
    assert healed(held, wanted) == Healed(0, 402, 401)


def test_several_differences_with_equal_rows_between_them() -> None:
    between = list(range(32, 60)) * 40
    held = ids(*between, *b"abc", *between, *b"bc", *between, 120)
    wanted = ids(*between, word(b"abc"), *between, word(b"bc"), *between, 121)
    assert healed(held, wanted) == Healed(len(between), held.size - 1, wanted.size - 1)


@pytest.mark.parametrize(
    "pair", [(control(b"<e>"), b"<e>"), (control(b"\xff"), b"\xff"), (control(b""), b"")]
)
def test_a_control_is_never_its_spelling(pair: tuple[int, bytes]) -> None:
    row, spelling = pair
    assert healed(ids(row, 97), ids(*spelling, 97)) is None
    assert healed(ids(*spelling, 97), ids(row, 97)) is None


def test_no_text_imitates_a_control() -> None:
    """Not even text that spells how controls are spelled here."""
    row = control(b"<e>")
    assert healed(letters(SPELL(row) + b"a"), ids(row, 97)) is None
    assert healed(ids(row, 97), letters(SPELL(row) + b"a")) is None


def test_controls_of_one_spelling_are_two() -> None:
    known = speller(lambda row: b"<e>", {5, 6})  # noqa: ARG005
    assert heal(ids(5, 1), ids(6, 1), 0, known) is None


def test_text_on_both_sides_of_a_control_is_healed() -> None:
    end = control(b"<e>")
    assert healed(ids(*b"abc", end, *b"bc!"), ids(word(b"abc"), end, word(b"bc"), 63)) == Healed(0, 6, 3)


def test_the_byte_ff_is_a_byte() -> None:
    odd = word(b"\xffa")
    assert healed(ids(0xFF, 97, 33), ids(odd, 63)) == Healed(0, 2, 1)
    assert healed(ids(0xFF, 0, 33), ids(word(b"\xff\x00"), 63)) == Healed(0, 2, 1)
    assert healed(ids(0xFF), ids(odd, 63)) is None


def test_an_image_is_only_the_same_image() -> None:
    one, other = (Image(sha * 32, 12, 12, causal=False).row_ids() for sha in ("a1", "a2"))
    assert healed(ids(*b"abc", *one, *b"bc"), ids(word(b"abc"), *one, word(b"bc"), 33)) == Healed(0, 17, 14)
    assert healed(ids(*b"abc", *one, *b"bc"), ids(word(b"abc"), *other, word(b"bc"))) == Healed(0, 3, 1)
    assert healed(ids(-98), ids(97)) is None


def test_a_word_cut_short_is_bridged() -> None:
    """The held rows end with `a`; the prompt's word goes on."""
    assert healed(ids(120, 97), ids(120, word(b"abc"), 33)) == Healed(1, 2, 2, "bc")


def test_a_bridge_may_begin_where_no_row_ends_before() -> None:
    assert healed(ids(97, word(b"bc")), ids(word(b"ab"), word(b"ca"), 33)) == Healed(0, 2, 2, "a")
    assert healed(ids(97, word(b"bc"), *b"b"), ids(word(b"ab"), *b"c", word(b"bc"))) == Healed(0, 3, 3, "c")
    assert healed(ids(97, 98, 97), ids(98, 98)) is None
    assert healed(ids(97, word(b"bc")), ids(word(b"ab"), word(b"bc"))) is None
    assert healed(ids(97, word(b"bc"), 97), ids(word(b"abc"), word(b"abc"))) == Healed(0, 3, 2, "bc")


def test_no_bridge_where_held_rows_follow() -> None:
    assert healed(ids(97, 33), ids(word(b"abc"), 33)) is None


def test_no_bridge_where_none_is_wanted() -> None:
    assert healed(ids(97), ids(word(b"abc")), bridges=False) is None
    assert healed(ids(*b"ab", 97), ids(word(b"ab"), word(b"abc")), bridges=False) == Healed(0, 2, 1)


def test_no_bridge_out_of_the_middle_of_a_character() -> None:
    assert healed(ids(0xC3), ids(word("é".encode()))) is None
    assert healed(ids(97), ids(word("aé".encode()))) == Healed(0, 1, 1, "é")
    assert healed(ids(97, 0xC3), ids(word("aé".encode()))) is None
    assert healed(ids(*"日".encode()), ids(word("日本".encode()))) == Healed(0, 3, 1, "本")


def test_a_character_in_two_halves_is_healed() -> None:
    assert healed(ids(0xC3, 0xA9, 33), ids(word("é".encode()), 63)) == Healed(0, 2, 1)


def test_rows_that_spell_nothing_are_no_gain() -> None:
    assert healed(ids(EMPTY, 33), ids(63)) is None
    assert healed(ids(33), ids(EMPTY, 63)) is None
    assert healed(ids(EMPTY, 97, 33), ids(97, 63)) == Healed(0, 2, 1)


def test_a_piece_is_looked_up_once() -> None:
    asked: list[int] = []

    def piece(row: int) -> bytes:
        asked.append(row)
        return b"x"

    known = speller(piece, ())
    assert [known(3), known(3), known(-3)] == [b"x", b"x", known(-3)]
    assert asked == [3]
