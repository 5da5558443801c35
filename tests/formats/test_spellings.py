from hypothesis import given
from hypothesis import strategies as st

from ds4.formats.spellings import Spellings

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
