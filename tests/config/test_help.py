import pytest

from ds4.config.help import WIDTH, help_text, topics
from ds4.config.option import Topic
from ds4.config.table import OPTIONS


def test_all_shows_every_option() -> None:
    text = help_text("all")
    for row in OPTIONS:
        assert row.signature in text
        assert all(name in text for name, _ in row.shorthands)


@pytest.mark.parametrize("topic", list(Topic))
def test_a_topic_shows_its_options_and_no_others(topic: Topic) -> None:
    lines = help_text(topic).splitlines()
    shown = {row.signature for row in OPTIONS if any(line.startswith(f"  {row.signature}") for line in lines)}
    assert shown == {row.signature for row in OPTIONS if row.topic is topic}
    assert shown


def test_default_help_names_the_topics_and_the_common_options() -> None:
    text = help_text()
    assert all(topic in text for topic in topics())
    assert all(row.signature in text for row in OPTIONS if row.common)
    assert "--version" in text


def test_unknown_topic_is_named_before_the_default_help() -> None:
    assert help_text("kitchen") == f"unknown help topic: kitchen\n\n{help_text()}"


@pytest.mark.parametrize("topic", [None, *topics()])
def test_help_fits_a_terminal(topic: str | None) -> None:
    assert max(map(len, help_text(topic).splitlines())) <= WIDTH
