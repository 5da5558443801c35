from hypothesis import given
from hypothesis import strategies as st

from ds4.engine.llama.spellings import MAX_PIECE, bounded, defused, spelling_pattern

SPELLINGS = ["<think>", "<<think>", "think>>", "<th", "[A]", "][A", "ab", "bab"]
texts = st.lists(st.sampled_from([*SPELLINGS, "<", "t", "b", "A", " ", "\n", "日"])).map("".join)


@given(texts)
def test_pieces_join_to_the_text_and_hold_no_spelling(text: str) -> None:
    pieces = list(defused(text, spelling_pattern(SPELLINGS)))
    assert "".join(pieces) == text
    assert not any(spelling in piece for piece in pieces for spelling in SPELLINGS)


def test_text_without_spellings_stays_whole() -> None:
    assert list(defused("a < b", spelling_pattern(SPELLINGS))) == ["a < b"]
    assert list(defused("<think>", None)) == ["<think>"]


@given(
    st.lists(st.text("ab<.", min_size=1, max_size=4), min_size=1, max_size=6), st.text("ab<.", max_size=12)
)
def test_the_pattern_finds_the_longest_spelling_at_the_first_place(spellings: list[str], text: str) -> None:
    pattern = spelling_pattern(spellings)
    assert pattern is not None
    found = pattern.search(text)
    places = [i for i in range(len(text)) if any(text.startswith(s, i) for s in spellings)]
    assert (found is not None) == bool(places)
    if found:
        assert found.start() == places[0]
        assert found[0] == max((s for s in spellings if text.startswith(s, places[0])), key=len)


def test_no_spellings_no_pattern() -> None:
    assert spelling_pattern([]) is None


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


def test_thousands_of_spellings_share_their_beginning() -> None:
    """Otherwise every `<` in a text would be tried against each of them."""
    pattern = spelling_pattern([f"<unused{i}>" for i in range(6000)])
    assert pattern is not None
    assert pattern.pattern.count("unused") == 1
    assert len(list(defused("<div>" * 1000 + "<unused4711>", pattern))) == 2
