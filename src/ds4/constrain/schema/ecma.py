"""A pattern of JSON schema (ECMA-262, flag `u`, unanchored) in the words of the library's regexes.

Characters are written as code points, classes are spelled out: the two languages differ in `.`, `\\d`, `\\w`,
`\\s`, in what may stand bare in a class, and in a hundred small things. What is not regular is refused, and
so is whatever engines read in different ways. Why NUL may be taken out of a pattern: see `takes_escapes`.
"""

import re
from collections.abc import Iterator

from ds4.constrain.schema.characters import ANY_OF_A_LINE, SETS, ascii_members, code, takes_escapes

_CONTROLS = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13}
_REPEATS = re.compile(r"[*+?]|\{([0-9]+)(?:,([0-9]*))?\}")
_MAX_REPEAT = 10_000
_PROPERTY = re.compile(r"\{[A-Za-z_]+(?:=[A-Za-z_]+)?\}")
_NAME = re.compile(r"[A-Za-z_$][\w$]*>")
_HEX = {"x": re.compile(r"[0-9A-Fa-f]{2}"), "u": re.compile(r"[0-9A-Fa-f]{4}|\{0*[0-9A-Fa-f]{1,6}\}")}


class NotRegular(ValueError):
    """Says what of the pattern cannot be written."""


def translated(pattern: str) -> str:
    """Raises NotRegular."""
    reader = _Reader(pattern, nul=True)
    written = "".join(reader.parts())
    return written if not takes_escapes(reader.classes) else "".join(_Reader(pattern, nul=False).parts())


class _Reader:
    def __init__(self, pattern: str, *, nul: bool) -> None:
        self._text = pattern
        self._at = 0
        self._nul = nul
        self.classes: list[frozenset[int]] = []
        """What of each is ASCII."""

    def parts(self) -> Iterator[str]:
        depth, repeatable = 0, False
        while self._at < len(self._text):
            if found := _REPEATS.match(self._text, self._at):
                if not repeatable:
                    raise NotRegular("repeats nothing")
                yield self._repeat(found)
                repeatable = False
                continue
            char = self._next()
            depth += (char == "(") - (char == ")")
            if depth < 0:
                raise NotRegular("has a ) without (")
            repeatable = char not in "^$(|"
            yield self._part(char)
        if depth:
            raise NotRegular("has a ( without )")

    def _part(self, char: str) -> str:
        if char in "^$|)":
            return char
        if char == "(":
            return self._group()
        if char == ".":
            return self._set(ANY_OF_A_LINE)
        if char == "[":
            return self._class()
        if char == "\\":
            found = self._escape(in_class=False)
            if isinstance(found, int):
                return self._code(found)
            self.classes.append(ascii_members(found))
            return self._set(found)
        return self._code(ord(char))

    def _set(self, members: str) -> str:
        return f"[{members}]" if self._nul else f"[[{members}]&&[^\\x{{0}}]]"

    def _code(self, point: int) -> str:
        if not point and not self._nul:
            raise NotRegular("has NUL and a class without quotes")
        self.classes.append(frozenset([point]))
        return code(point)

    def _repeat(self, found: re.Match[str]) -> str:
        low, high = found[1], found[2]
        if max(len(low or ""), len(high or "")) > 9 or max(int(low or 0), int(high or 0)) > _MAX_REPEAT:
            raise NotRegular(f"repeats more than {_MAX_REPEAT} times")
        if low and high and int(low) > int(high):
            raise NotRegular("repeats with bounds out of order")
        self._at = found.end()
        if self._text.startswith("?", self._at):
            # Lazy or not: the same strings match.
            self._at += 1
        return found[0]

    def _group(self) -> str:
        if not self._text.startswith("?", self._at):
            return "(?:"
        if self._text.startswith("?:", self._at):
            self._at += 2
        elif self._text.startswith("?<", self._at) and (name := _NAME.match(self._text, self._at + 2)):
            self._at = name.end()
        else:
            raise NotRegular("has a lookaround, or a group that is not of ECMA-262")
        return "(?:"

    def _class(self) -> str:
        negated = self._text.startswith("^", self._at)
        self._at += negated
        items = list(self._items())
        members = "".join(written for written, _ in items)
        if not items:
            members, negated = ("\\x{0}-\\x{10FFFF}", not negated)
        ascii_ones = frozenset().union(*(known for _, known in items))
        if negated:
            ascii_ones = frozenset(range(128)) - ascii_ones
        self.classes.append(ascii_ones)
        return self._set(f"{'^' if negated else ''}{members}")

    def _items(self) -> Iterator[tuple[str, frozenset[int]]]:
        """Each with those of its members that are ASCII."""
        while (char := self._next()) != "]":
            first = self._escape(in_class=True) if char == "\\" else ord(char)
            ranged = self._text.startswith("-", self._at) and not self._text.startswith("-]", self._at)
            if not ranged:
                yield (
                    (f"[{first}]", ascii_members(first))
                    if isinstance(first, str)
                    else (code(first), frozenset([first]))
                )
                continue
            self._at += 1
            char = self._next()
            last = self._escape(in_class=True) if char == "\\" else ord(char)
            if isinstance(first, str) or isinstance(last, str) or first > last:
                raise NotRegular("has a range that is none")
            yield f"{code(first)}-{code(last)}", frozenset(range(first, min(last, 127) + 1))

    def _escape(self, *, in_class: bool) -> int | str:
        """A code point, or the members of a class."""
        char = self._next()
        if char.lower() in SETS:
            return f"{'^' if char.isupper() else ''}{SETS[char.lower()]}"
        if char in "pP":
            return f"\\{char}{self._match(_PROPERTY)}"
        if char in _HEX:
            return self._hex(char)
        if char == "c":
            return ord(self._match(re.compile("[A-Za-z]"))) % 32
        if char in _CONTROLS or (char == "b" and in_class):
            return _CONTROLS.get(char, 8)
        if char == "0" and not self._text[self._at : self._at + 1].isdecimal():
            return 0
        if char.isalnum() or char == "_":
            raise NotRegular(f"has \\{char}")
        return ord(char)

    def _hex(self, kind: str) -> int:
        value = int(self._match(_HEX[kind]).strip("{}"), 16)
        if 0xD800 <= value < 0xDC00 and self._text.startswith("\\u", self._at):
            self._at += 2
            low = int(self._match(_HEX["u"]).strip("{}"), 16)
            value = 0x10000 + ((value - 0xD800) << 10) + (low - 0xDC00) if 0xDC00 <= low < 0xE000 else value
        if value > 0x10FFFF or 0xD800 <= value < 0xE000:
            raise NotRegular("has half a character")
        return value

    def _match(self, wanted: re.Pattern[str]) -> str:
        found = wanted.match(self._text, self._at)
        if not found:
            raise NotRegular("has an unfinished escape")
        self._at = found.end()
        return found[0]

    def _next(self) -> str:
        if self._at >= len(self._text):
            raise NotRegular("ends too early")
        self._at += 1
        return self._text[self._at - 1]
