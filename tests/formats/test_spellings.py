from hypothesis import given
from hypothesis import strategies as st

from ds4.formats.spellings import Spellings, spelling_pattern

SPELLED = ("<think>", "</think>", "<think>x", "｜DSML｜", "[gMASK]")


def test_the_longest_spelling_wins() -> None:
    parts = list(Spellings(SPELLED).split("a<think>xb<think>"))
    assert parts == [("a", False), ("<think>x", True), ("b", False), ("<think>", True)]


def test_no_spellings_leave_the_text_whole() -> None:
    assert list(Spellings(()).split("a.b")) == [("a.b", False)]
    assert list(Spellings(("",)).split("")) == []


@given(st.lists(st.one_of(st.sampled_from(SPELLED), st.text())))
def test_parts_join_to_the_text(pieces: list[str]) -> None:
    text = "".join(pieces)
    parts = list(Spellings(SPELLED).split(text))
    assert "".join(part for part, _ in parts) == text
    assert all((part in SPELLED) == known for part, known in parts)
    assert all(part for part, _ in parts)
    assert not any(spelling in part for part, known in parts if not known for spelling in SPELLED)


@given(st.lists(st.text("ab<.", max_size=4), max_size=6), st.text("ab<.", max_size=12))
def test_the_pattern_finds_the_longest_spelling_at_the_first_place(spellings: list[str], text: str) -> None:
    found = spelling_pattern(spellings).search(text)
    known = [spelling for spelling in spellings if spelling]
    places = [i for i in range(len(text)) if any(text.startswith(s, i) for s in known)]
    assert (found is not None) == bool(places)
    if found:
        assert found.start() == places[0]
        assert found[0] == max((s for s in known if text.startswith(s, places[0])), key=len)


def test_thousands_of_spellings_share_their_beginning() -> None:
    """Otherwise every `<` in a text would be tried against each of them."""
    assert spelling_pattern(f"<unused{i}>" for i in range(6000)).pattern.count("unused") == 1
