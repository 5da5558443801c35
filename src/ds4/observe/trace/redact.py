"""A trace without anybody's words: what stays is structure, counts and decisions. Pure.

Rules:
- Letters become x, digits 0, all other characters beyond ASCII U+25A1; blanks and punctuation stay. So a
  text keeps its length and its look.
- Ids of tokens stay, their pieces do not, but for those of control tokens: they are the model's words.
- Fields that are words of ours (reasons, kinds, roles, names of settings) stay; what is not known to be
  ours goes.
- A redacted trace can be read, not repeated: the texts would not be encoded to these tokens.
"""

from collections.abc import Mapping

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
        *("effort", "enabled", "elapsed", "media_type", "more", "how", "flags", "normalised"),
    )
)


def redacted(line: Json) -> Json:
    if line["at"] in OURS:
        return line
    words = plain(line)
    return {key: _value(key, value) for key, value in words.items()} if isinstance(words, dict) else {}


def placeholder(text: str) -> str:
    return "".join(map(_stand_in, text))


def _value(key: str, value: object) -> object:
    if key in _KEPT and not isinstance(value, dict | list):
        return value
    match value:
        case str():
            return placeholder(value)
        case Mapping():
            return {name: _value(name, item) for name, item in value.items()}
        case list():
            return [_value(key, item) for item in value]
    return value


def _stand_in(char: str) -> str:
    if not char.isascii():
        return WHITE_SQUARE
    if char.isdigit():
        return "0"
    return "x" if char.isalpha() else char
