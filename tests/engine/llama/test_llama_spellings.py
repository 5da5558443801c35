from hypothesis import given
from hypothesis import strategies as st

from ds4.engine.llama.spellings import MAX_PIECE, bounded, defused
from ds4.formats.spellings import spelling_pattern

SPELLINGS = ["<think>", "<<think>", "think>>", "<th", "[A]", "][A", "ab", "bab"]
texts = st.lists(st.sampled_from([*SPELLINGS, "<", "t", "b", "A", " ", "\n", "日"])).map("".join)


@given(texts)
def test_pieces_join_to_the_text_and_hold_no_spelling(text: str) -> None:
    pieces = list(defused(text, spelling_pattern(SPELLINGS)))
    assert "".join(pieces) == text
    assert not any(spelling in piece for piece in pieces for spelling in SPELLINGS)


def test_text_without_spellings_stays_whole() -> None:
    assert list(defused("a < b", spelling_pattern(SPELLINGS))) == ["a < b"]
    assert list(defused("<think>", spelling_pattern([]))) == ["<think>"]


@given(st.text("ab \n<日", max_size=50), st.integers(0, 400))
def test_pieces_are_bounded_and_join_to_the_text(unit: str, times: int) -> None:
    text = unit * times
    pieces = list(bounded(text))
    assert "".join(pieces) == text
    assert max(map(len, pieces)) <= MAX_PIECE


def test_words_are_not_cut_where_there_is_a_choice() -> None:
    pieces = list(bounded("several plain words " * 2000))
    assert len(pieces) > 5
    assert all(piece.startswith(" ") for piece in pieces[1:])
    assert all(piece.startswith("line") for piece in bounded("line\n" * 5000))


def test_appending_does_not_move_earlier_cuts() -> None:
    text = "some code = here;\n" * 1000
    before, after = list(bounded(text)), list(bounded(text + text))
    assert before[:-1] == after[: len(before) - 1]
