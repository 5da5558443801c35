"""The regex of texts without tags agrees with `in`."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ds4.constrain.avoiding import without

TAGS = (
    ("</x>",),
    ("</x>", "</xy>", "<a>", "</x>z"),
    ("</｜D｜p>", "</D｜p>", "&lt;/D"),
    ("[T]", "[TOOLS]"),
    ("<ab", "<ac", "<", "<a"),
    (),
)
pieces = st.sampled_from(
    ["<", "</", "</x", ">", "x", "y>", "&", "&lt;/", "D", "｜", "p>", "[", "T]", "TOOLS]", "a", "\n", "é"]
)


def as_python(terminal: str) -> re.Pattern[str]:
    return re.compile(terminal[1:-1].replace("\\/", "/"))


@pytest.mark.parametrize("tags", TAGS)
@given(st.lists(pieces, max_size=8).map("".join))
def test_it_matches_what_holds_no_tag(tags: tuple[str, ...], text: str) -> None:
    wanted = not any(tag in text for tag in tags)
    assert bool(as_python(without(tags)).fullmatch(text)) is wanted
    assert bool(as_python(without(tags, some=True)).fullmatch(text)) is (wanted and bool(text))


@pytest.mark.parametrize("tags", TAGS)
def test_tags_themselves_never_match(tags: tuple[str, ...]) -> None:
    pattern = as_python(without(tags))
    assert not any(
        pattern.fullmatch(f"{before}{tag}{after}")
        for tag in tags
        for before in ("", "<")
        for after in ("", "z")
    )


def test_tags_that_begin_inside_one_another_are_refused() -> None:
    with pytest.raises(ValueError, match="inside another"):
        without(["<a<b", "<c"])
