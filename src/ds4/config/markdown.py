"""The options section of docs/server.md, between two markers. Pure."""

from ds4.config.option import Option, Topic
from ds4.config.table import OPTIONS

BEGIN = "<!-- options: written by `make docs`, do not edit -->"
END = "<!-- /options -->"


def options_markdown() -> str:
    return "\n".join(line for topic in Topic for line in _section(topic))


def with_options(page: str) -> str:
    """`page` with its options section made new. Raises ValueError when the markers are missing."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError("the page has no options markers")
    return f"{before}{BEGIN}\n\n{options_markdown()}\n{END}{after}"


def _section(topic: Topic) -> list[str]:
    rows = [_row(row) for row in OPTIONS if row.topic is topic]
    head = [f"### {str(topic).capitalize()}: {topic.heading}", ""]
    return [*head, "| Option | Default | Meaning |", "| --- | --- | --- |", *rows, ""]


def _row(row: Option) -> str:
    return f"| {_names(row)} | {_default(row)} | {_escape(row.about)} |"


def _names(row: Option) -> str:
    shown = f"`{_escape(row.signature)}`"
    if row.shorthands:
        shown += "<br>short: " + " ".join(f"`{name}`" for name, _ in row.shorthands)
    return shown


def _default(row: Option) -> str:
    return _escape(row.shown_default) if row.unset else f"`{_escape(row.shown_default)}`"


def _escape(text: str) -> str:
    # A bar ends a table cell, in code spans too.
    return text.replace("|", "\\|")
