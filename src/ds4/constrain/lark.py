"""Writes a grammar in the constraint library's own Lark.

Rules:
- Terminals (upper case) match text, and no special token is text: those are named by their ids.
- A terminal takes as much as it can. What ends a free text therefore stands in the same terminal, which is
  lazy: its first end counts. Only a special token ends a terminal from outside.
- A `body` is an expression of terminals that needs no brackets around it.
"""

import re
from collections.abc import Iterable, Mapping
from enum import Enum, auto
from itertools import chain, count, groupby

import orjson

from ds4.constrain.style import Words
from ds4.formats.spellings import Spellings
from ds4.formats.written import Separators

Piece = str | int
"""Text, or a special token."""
_SPECIAL = frozenset("\\.+*?()|[]{}^$#&-~")
_NO_NAME = re.compile(r"[^a-z0-9]+")


class Kind(Enum):
    RULE = auto()
    LAZY = auto()
    TERMINAL = auto()


class Lark:
    """A grammar in the making. Equal rules are one, under the name of the first."""

    def __init__(self, words: Words) -> None:
        self._ids = words.ids
        self._spellings = Spellings(words.ids)
        self._named: dict[tuple[Kind, str], str] = {}
        self._lines: list[str] = []
        self._others: list[dict[str, str]] = []
        self._size = 0

    @property
    def size(self) -> int:
        """Characters of what is written so far."""
        return self._size

    def rule(self, hint: str, expression: str) -> str:
        return self._define(hint, Kind.RULE, expression)

    def terminal(self, hint: str, body: str) -> str:
        return self._define(hint, Kind.TERMINAL, body)

    def lazy(self, hint: str, body: str) -> str:
        return self._define(hint, Kind.LAZY, self.terminal(hint, body))

    def foreign(self, grammar: str) -> str:
        """A caller's grammar, which stands in its own names."""
        name = f"g{len(self._others)}"
        self._others.append({"name": name, "lark_grammar": grammar})
        self._size += len(grammar)
        return f"@{name}"

    def markup(self, text: str, *more: str) -> str:
        """Markup, then plain text and markup in turns. What spells an entry in markup is that entry."""
        pieces: list[Piece] = []
        for number, part in enumerate((text, *more)):
            for piece in [part] if number % 2 else self._cut(part):
                if isinstance(piece, str) and pieces and isinstance(pieces[-1], str):
                    pieces[-1] += piece
                else:
                    pieces.append(piece)
        return " ".join(_written(piece) for piece in pieces if piece != "")

    def ended(self, hint: str, body: str, end: str) -> str:
        """Text, and the markup that ends it, which must not stand inside the text."""
        first, *pieces = self._cut(end)
        inside = first if isinstance(first, str) else ""
        outside = " ".join(map(_written, pieces if inside else (first, *pieces)))
        whole = f"({body} {literal(inside)})" if inside else body
        if not outside:
            return self.lazy(hint, whole)
        return f"{whole if whole in self._named.values() else self.terminal(hint, whole)} {outside}"

    def text(self, start: str) -> str:
        """The library's JSON: a list of grammars of which the first begins."""
        lines = [f"start: {start}", *self._lines]
        grammars = [{"lark_grammar": "\n".join(lines) + "\n"}, *self._others]
        return orjson.dumps({"grammars": grammars}).decode()

    def _cut(self, text: str) -> list[Piece]:
        return [self._ids[part] if special else part for part, special in self._spellings.split(text)]

    def _define(self, hint: str, kind: Kind, body: str) -> str:
        if (kind, body) not in self._named:
            self._named[kind, body] = name = self._unused(hint, kind)
            self._lines.append(f"{name}{'[lazy]' if kind is Kind.LAZY else ''}: {body}")
            self._size += len(self._lines[-1])
        return self._named[kind, body]

    def _unused(self, hint: str, kind: Kind) -> str:
        base = _NO_NAME.sub("_", hint.lower()).strip("_")
        base = base if base[:1].isalpha() else f"x_{base}"
        used = {*self._named.values(), "start"}
        base = base.upper() if kind is Kind.TERMINAL else base
        numbered = (f"{base}_{number}" for number in count(2))
        return next(name for name in chain([base], numbered) if name not in used)


def tokens(ids: Iterable[int]) -> str:
    """Any one of these special tokens."""
    ordered = sorted(set(ids))
    runs = [[token for _, token in run] for _, run in groupby(enumerate(ordered), lambda at: at[1] - at[0])]
    return f"<[{','.join(str(run[0]) if len(run) == 1 else f'{run[0]}-{run[-1]}' for run in runs)}]>"


def literal(text: str) -> str:
    return orjson.dumps(text).decode().replace("\x7f", "\\u007f")


def regex(pattern: str) -> str:
    """`pattern` in the syntax of Rust's regex crate; it matches the whole text."""
    return f"/{_escaped(pattern) or '(?:)'}/"


def choice(texts: Iterable[str]) -> str:
    """A regex."""
    return "|".join(map(plain, texts))


def plain(text: str) -> str:
    """A regex that matches just `text`."""
    return "".join(map(_character, text))


def one_of(bodies: Iterable[str]) -> str:
    """Alternatives, of terminals or of rules."""
    known = tuple(dict.fromkeys(bodies))
    return known[0] if len(known) == 1 else f"({' | '.join(known)})"


def json(schema: bool | Mapping[str, object], separators: Separators) -> str:
    """A JSON value of a cleaned schema, which is not False."""
    form = {
        "whitespace_flexible": False,
        "item_separator": separators.comma,
        "key_separator": separators.colon,
    }
    body = {} if isinstance(schema, bool) else dict(schema)
    return f"%json {orjson.dumps({**body, 'x-guidance': form}).decode()}"


def _character(char: str) -> str:
    if char in _SPECIAL:
        return "\\" + char
    return char if char.isprintable() else f"\\x{{{ord(char):X}}}"


def _written(piece: Piece) -> str:
    return literal(piece) if isinstance(piece, str) else tokens([piece])


_REGEX = re.compile(r"\\.|[/\n\r]", re.DOTALL)
_ESCAPES = {"/": r"\/", "\n": r"\n", "\r": r"\r", "\\\n": r"\n"}


def _escaped(pattern: str) -> str:
    return _REGEX.sub(lambda found: _ESCAPES.get(found[0], found[0]), pattern)
