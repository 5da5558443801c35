"""`--help [TOPIC]`, worded from the option table. Pure: the same text on every terminal."""

import textwrap
from collections.abc import Iterable

from ds4.config.option import Option, Topic
from ds4.config.table import OPTIONS

WIDTH = 80
COLUMN = 26
ALL = "all"
USAGE = "usage: ds4-server [OPTION]..."


def topics() -> tuple[str, ...]:
    return (*Topic, ALL)


def help_text(topic: str | None = None) -> str:
    """The default help, one topic's options, or all of them. An unknown topic is named, then the default."""
    if topic is None:
        return _default_help()
    if topic == ALL:
        return _page(Topic)
    if topic in topics():
        return _page([Topic(topic)])
    return f"unknown help topic: {topic}\n\n{_default_help()}"


def _default_help() -> str:
    rows = [row for row in OPTIONS if row.common]
    lines = [USAGE, "", "Serves one GGUF model over HTTP. The options used most:", ""]
    lines += [line for row in rows for line in _row(row)]
    lines += _entry("-h, --help [TOPIC]", "this text, or the options of one topic")
    lines += _entry("--version", "the version")
    lines += ["", *textwrap.wrap(f"Topics: {', '.join(topics())}", WIDTH)]
    lines += ["", "The directory of --kv-disk-dir is looked after with: ds4-server cache DIR"]
    lines += ["A --trace is shown by ds4-server trace FILE, repeated by ds4-server replay FILE"]
    return "\n".join(lines) + "\n"


def _page(chosen: Iterable[Topic]) -> str:
    lines = [USAGE]
    for topic in chosen:
        lines += ["", f"{topic}: {topic.heading}"]
        lines += [line for row in OPTIONS if row.topic is topic for line in _row(row)]
    return "\n".join(lines) + "\n"


def _row(row: Option) -> list[str]:
    lines = _entry(row.signature, f"{row.about} (default: {row.shown_default})")
    if row.shorthands:
        names = ", ".join(name for name, _ in row.shorthands)
        lines += _entry(names, f"short for {row.names[-1]} with that name")
    return lines


def _entry(left: str, text: str) -> list[str]:
    indent = " " * COLUMN
    body = textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)
    head = f"  {left}"
    if len(head) >= COLUMN:
        return [head, *body]
    return [head.ljust(COLUMN) + body[0].lstrip(), *body[1:]]
