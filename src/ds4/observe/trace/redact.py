"""A trace without anybody's words: what stays is structure, counts and decisions. Pure.

Rules:
- Letters become x, digits 0, all other characters beyond ASCII U+25A1; blanks and punctuation stay. So a
  text keeps its length and its look.
- Ids of tokens stay, their pieces do not, but for those of control tokens: they are the model's words.
- Fields that are words of ours (reasons, kinds, roles, names of settings) stay; what is not known to be
  ours goes.
- What the server made of texts cannot be made again: it is in the trace. So the rest can be repeated.
"""

from collections.abc import Callable, Mapping

from ds4.observe.trace.values import Json, plain

WHITE_SQUARE = "\N{WHITE SQUARE}"
OURS = frozenset(("head", "lost", "shown", "turn", "id", "ran", "slept", "left", "done"))
"""Lines that hold no text of others."""
_KEPT = frozenset(
    (
        *(
            "at",
            "t",
            "request",
            "job",
            "caller",
            "method",
            "path",
            "http",
            "scheme",
            "key",
            "whole",
            "status",
        ),
        *("kind", "role", "origin", "row", "rows", "message", "source", "reason", "finish", "tier", "slot"),
        *("part", "why", "effort", "enabled", "elapsed", "media_type", "more", "how", "flags", "normalised"),
    )
)


def redacted(line: Json) -> Json:
    return _with(line, placeholder)


def shape(line: Json) -> Json:
    """What is equal of a line and the same line redacted."""
    return _with(line, _nothing)


def placeholder(text: str) -> str:
    return "".join(map(_stand_in, text))


def _nothing(_text: str) -> str:
    return ""


def _with(line: Json, stand_in: Callable[[str], str]) -> Json:
    if line["at"] in OURS:
        return line

    def value(key: str, value_: object) -> object:
        if key in _KEPT and not isinstance(value_, dict | list):
            return value_
        match value_:
            case str():
                return stand_in(value_)
            case Mapping():
                return {name: value(name, item) for name, item in value_.items()}
            case [str(origin), what] if key == "items":
                return [origin, value("ids", what)]
            case list():
                return [value(key, item) for item in value_]
        return value_

    words = plain(line)
    return {key: value(key, item) for key, item in words.items()} if isinstance(words, dict) else {}


def _stand_in(char: str) -> str:
    if not char.isascii():
        return WHITE_SQUARE
    if char.isdigit():
        return "0"
    return "x" if char.isalpha() else char
