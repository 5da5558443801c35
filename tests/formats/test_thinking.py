"""What a request's words about reasoning mean to each family."""

import pytest

from ds4.core.errors import BadRequest
from ds4.core.messages import Thinking
from ds4.formats.thinking import (
    DEEPSEEK_V4,
    DEEPSEEK_V41,
    HARMONY,
    NAMED,
    NAMES,
    THINK_MAX_CTX,
    Efforts,
    Mode,
    mode,
)

BIG = THINK_MAX_CTX
TABLES = [NAMED, DEEPSEEK_V4, DEEPSEEK_V41, HARMONY]


def effort(table: Efforts, asked: str, n_ctx: int = BIG) -> object:
    return mode(Thinking(effort=asked), table, n_ctx).effort


@pytest.mark.parametrize("table", TABLES)
def test_nothing_asked_nothing_said(table: Efforts) -> None:
    assert mode(Thinking(), table, BIG) == Mode(None, None)
    assert mode(Thinking(enabled=True), table, BIG) == Mode(True, None)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("asked", NAMES)
def test_off_wins_over_any_effort(table: Efforts, asked: str) -> None:
    assert mode(Thinking(False, asked), table, BIG) == Mode(False, table.off)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("enabled", [None, True, False])
def test_no_effort_is_off(table: Efforts, enabled: bool | None) -> None:
    assert mode(Thinking(enabled, "none"), table, BIG).enabled is False


@pytest.mark.parametrize("asked", ["minimal", "low", "medium", "high", "xhigh"])
def test_deepseek_v4_thinks_as_usual(asked: str) -> None:
    assert effort(DEEPSEEK_V4, asked) == "high"


def test_deepseek_v4_thinks_hardest_only_with_room() -> None:
    assert effort(DEEPSEEK_V4, "max", BIG) == "max"
    assert effort(DEEPSEEK_V4, "max", BIG - 1) == "high"


@pytest.mark.parametrize(
    ("asked", "number"),
    [("low", 50), ("high", 75), ("xhigh", 75), ("max", 100), ("1", 1), ("33", 33), ("100", 100)],
)
def test_deepseek_v41_is_told_a_number(asked: str, number: int) -> None:
    assert effort(DEEPSEEK_V41, asked, 4096) == number


def test_gpt_oss_knows_three_levels_and_no_off() -> None:
    assert [effort(HARMONY, asked) for asked in NAMES[1:]] == ["low", "low", "medium", "high", "high", "high"]
    assert effort(HARMONY, "none") == "low"


@pytest.mark.parametrize("asked", NAMES[1:])
def test_other_templates_get_the_word_itself(asked: str) -> None:
    assert effort(NAMED, asked) == asked


@pytest.mark.parametrize("asked", ["ultra", "", "High", "50", " high"])
def test_unknown_efforts_are_refused_by_name(asked: str) -> None:
    for enabled in (None, False):
        with pytest.raises(BadRequest, match="minimal, low") as caught:
            mode(Thinking(enabled, asked), DEEPSEEK_V4, BIG)
        assert caught.value.param == "reasoning_effort"


@pytest.mark.parametrize("asked", ["0", "101", "-1", "1.5", "007", "٣", "1000"])
def test_numbers_out_of_range_are_refused_with_the_range(asked: str) -> None:
    with pytest.raises(BadRequest, match="1 to 100"):
        mode(Thinking(effort=asked), DEEPSEEK_V41, BIG)
