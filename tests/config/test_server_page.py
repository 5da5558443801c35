from pathlib import Path

import pytest

from ds4.config.markdown import BEGIN, END, options_markdown, with_options
from ds4.config.table import OPTIONS

PAGE = Path(__file__).parents[2] / "docs" / "server.md"


def test_the_page_says_what_the_table_says() -> None:
    """`make docs` mends it."""
    page = PAGE.read_text(encoding="utf-8")
    assert with_options(page) == page


def test_every_option_has_a_row() -> None:
    table = options_markdown()
    for row in OPTIONS:
        assert f"`{row.signature}`".replace("|", "\\|") in table


def test_only_the_part_between_the_markers_changes() -> None:
    page = f"before\n{BEGIN}\nof long ago\n{END}\nafter\n"
    made = with_options(page)
    assert made.startswith("before\n")
    assert made.endswith("\nafter\n")
    assert "of long ago" not in made
    assert with_options(made) == made


@pytest.mark.parametrize("page", ["", BEGIN, END])
def test_a_page_without_markers_is_refused(page: str) -> None:
    with pytest.raises(ValueError, match="markers"):
        with_options(page)
