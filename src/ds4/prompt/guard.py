"""Client text stays plain text: no control spelling can begin in it, end in it, or be it.

Rules of this file:
- Before rendering, some characters of client strings are exchanged for stand-ins; after rendering they
  are turned back. Whatever spells a control token in between was written by the template.
- The exchange is one character for one: lengths and offsets never change.
- Stand-ins are characters that neither the client nor the template uses, chosen anew per render, so a
  client may send any character. They are printable and have no case: `repr` (templates that print a
  dict) and `upper` leave them alone, which is not so for private-use characters.

What is exchanged, for a spelling such as `<|end|>`:
- every `<` and every `>`: no spelling can begin or end inside client text, even when its other half
  stands in the neighbouring string or in the template;
- the last letter of a string that is just `end` (or `|end`, `/end`): a template that writes
  `<|` + name + `|>` cannot be made to spell it. Options are exempt, and words that the template itself
  looks up or compares with: `<name>` in a vocabulary must not hide every tool's name.
Where the first character is a letter, a space or a quote, exchanging all of them would disturb trim,
JSON escapes and comparisons. There only the beginnings of whole spellings, and of spellings cut off by
the string's end, are exchanged.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ds4.core.errors import BadRequest
from ds4.prompt.marks import Arguments, Client, Mixed, Option, strings

_POOLS = (range(0xA000, 0xA48D), range(0x3400, 0x4DB6), range(0x20000, 0x2A6D7), range(0xAC00, 0xD7A4))
"""Yi syllables first, then ideographs and Hangul."""


@dataclass(frozen=True, slots=True)
class Guard:
    """The exchange for one render. `sentinel` is one more unused character, never part of any text."""

    sentinel: str
    everywhere: tuple[tuple[str, str], ...]
    stand_ins: dict[str, str]
    words: frozenset[str]
    frame: str
    beginnings: re.Pattern[str] | None

    def protect(self, value: object) -> object:
        """`value` with every marked string exchanged (and no longer marked), also in keys."""
        if isinstance(value, Client):
            return self.text(value, whole=not isinstance(value, Option))
        if isinstance(value, Mixed):
            return "".join(self.text(part) if isinstance(part, Client) else part for part in value.parts)
        if isinstance(value, Arguments):
            return Arguments(self._mapping(value), self.text(str(value)))
        if isinstance(value, dict):
            return self._mapping(value)
        if isinstance(value, list):
            return [self.protect(item) for item in value]
        return value

    def _mapping(self, value: dict[object, object]) -> dict[object, object]:
        return {self.protect(key): self.protect(item) for key, item in value.items()}

    def text(self, text: str, *, whole: bool = False) -> str:
        word = text.strip(self.frame) if whole else ""
        if word in self.words:
            last = text.rindex(word) + len(word) - 1
            return self.text(text[:last]) + self.stand_ins[word[-1]] + self.text(text[last + 1 :])
        if self.beginnings is not None:
            text = self.beginnings.sub(lambda match: self.stand_ins[match[0]], text)
        for char, stand_in in self.everywhere:
            text = text.replace(char, stand_in)
        return str(text)

    def restore(self, text: str) -> str:
        for char, stand_in in self.stand_ins.items():
            text = text.replace(stand_in, char)
        return text

    def json_forms(self, *, ascii_only: bool) -> dict[int, str]:
        """Stand-ins whose character JSON would have escaped -> that escape, itself protected."""
        forms = {ord(self.sentinel): self.sentinel} if ascii_only else {}
        for char, stand_in in self.stand_ins.items():
            form = json.dumps(char, ensure_ascii=ascii_only)[1:-1]
            if form != char:
                forms[ord(stand_in)] = self.text(form)
            elif ascii_only:
                forms[ord(stand_in)] = stand_in
        return forms


class GuardRules:
    """What to exchange, worked out once from the control spellings and the template's own text.

    Spellings are two characters or longer.
    """

    def __init__(self, spellings: Iterable[str], template: str) -> None:
        known = sorted(spellings)
        self._everywhere = sorted({c for text in known for c in (text[0], text[-1]) if _exchangeable(c)})
        framed = [(text, word) for text in known if (word := text.strip(_frame(text))) not in ("", text)]
        self._words = frozenset(word for _, word in framed).difference(_looked_up(template))
        self._frame = "".join(sorted({char for text, _ in framed for char in _frame(text)}))
        rare = [text for text in known if not _exchangeable(text[0])]
        self._beginnings = re.compile("|".join(map(_beginning, rare))) if rare else None
        ends = {word[-1] for word in self._words}
        self._chars = sorted(ends.union(self._everywhere, (text[0] for text in rare)))
        self._taken = set(template).union(*known)

    def guard(self, variables: dict[str, object]) -> Guard:
        """Raises BadRequest when the client uses so many characters that no stand-in is left."""
        taken = self._taken.union(*(text for text in strings(variables) if not text.isascii()))
        free = _free(taken)
        try:
            sentinel = next(free)
            stand_ins = {char: next(free) for char in self._chars}
        except StopIteration:
            raise BadRequest("the text uses too many different characters", param="messages") from None
        everywhere = tuple((char, stand_ins[char]) for char in self._everywhere)
        return Guard(sentinel, everywhere, stand_ins, self._words, self._frame, self._beginnings)


def _free(taken: set[str]) -> Iterator[str]:
    return (char for pool in _POOLS for char in map(chr, pool) if char not in taken)


def _exchangeable(char: str) -> bool:
    return not (char.isalnum() or char.isspace() or char in "\"'\\")


def _looked_up(template: str) -> set[str]:
    """The words that the template uses as attributes, keys or values to compare with."""
    found = re.findall(r"""\.(\w+)|'(\w+)'|"(\w+)\"""", template)
    return {word for words in found for word in words}


def _frame(spelling: str) -> str:
    """The characters around the word in a spelling such as `<|end|>`."""
    return re.sub(r"^(\W*).*?(\W*)\Z", r"\1\2", spelling, flags=re.DOTALL)


def _beginning(spelling: str) -> str:
    """Matches the first character of `spelling`, whole or cut off by the end of the string."""
    rest = spelling[1:]
    cut_off = (re.escape(rest[:size]) + r"\Z" for size in range(len(rest)))
    return f"{re.escape(spelling[0])}(?={'|'.join([re.escape(rest), *cut_off])})"
