"""Arguments that the model writes as a JSON object, read while they are produced.

Rules:
- Strings of the object's own members go out character by character. Every other value is held
  until its end and judged there.
- What is not JSON is repaired where there is one plain reading: a quote that no `,` or `}` follows
  belongs to its string, control characters and lone backslashes in strings are escaped, halves of
  characters replaced, keys may be bare. What is no member at all is stray text.
- Nothing is decided that later text could change, and no decision waits for more than MAX_KEY
  characters.
"""

import re
from collections.abc import Callable
from enum import Enum, auto

import orjson

from ds4.core.events import Text
from ds4.parsing.balance import Balance
from ds4.parsing.calls import Calls, Kind
from ds4.parsing.values import escaped

MAX_KEY = 1024
_MAX_GAP = 64
"""Blanks after a quote that may wait for a `,` or `}`."""

_SOLID = re.compile(r"\S")
KEY = re.compile(r"""\s*(?:("(?:[^"\\]|\\.)*")|([^\s"{}\[\],:]+))\s*:""", re.DOTALL)
MAYBE_KEY = re.compile(r"""\s*(?:"(?:[^"\\]|\\.)*(?:\\?|"\s*)|[^\s"{}\[\],:]+\s*)""", re.DOTALL)
_NO_MEMBER = re.compile(r'[^,}"]*')
_PLAIN = re.compile(r'[^"\\\x00-\x1f]+')
_ESCAPE = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})')
_HALF = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_PAIR = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_MAYBE_LOW = re.compile(r"(?:\\(?:u(?:[dD](?:[c-fC-F][0-9a-fA-F]?)?)?)?)?")
_REPLACEMENT = r"\ufffd"
_MAYBE_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?")


class State(Enum):
    OPEN = auto()
    KEY = auto()
    VALUE = auto()
    STRING = auto()
    OTHER = auto()
    STRAY = auto()
    DONE = auto()


class JsonArgs:
    """`read` takes what it can from the front of the text; the rest must come again, with more."""

    def __init__(self, calls: Calls) -> None:
        self.state = State.OPEN
        self._calls = calls
        self._name = ""
        self._balance = Balance()
        self._steps: dict[State, Callable[[str, int], int]] = {
            State.OPEN: self._open,
            State.KEY: self._key,
            State.VALUE: self._begin,
            State.STRING: self._string,
            State.OTHER: self._other,
            State.STRAY: self._stray,
        }

    @property
    def failed(self) -> bool:
        return False

    @property
    def done(self) -> bool:
        return self.state is State.DONE

    @property
    def in_structure(self) -> bool:
        if self.state is State.OTHER:
            return not self._balance.in_string
        return self.state is not State.STRING

    def read(self, text: str) -> int:
        """Returns how many characters are taken. Once `done`, the text behind the object is not."""
        at, before = 0, State.DONE
        while not self.done and (at < len(text) or self.state is not before):
            start, before = at, self.state
            at = self._steps[self.state](text, at)
            if at == start and self.state is before:
                break
        return at

    def close(self, rest: str) -> None:
        """The model ended here, with what `read` did not take."""
        if self.state is State.STRING and rest.startswith("\\"):
            self._calls.value(escaped(rest))
        elif self.state is State.VALUE:
            self._calls.key(self._name, Kind.JSON)
        elif self.state is State.KEY and rest.strip():
            self._calls.stray(Text(rest))
        self.state = State.DONE

    def _open(self, text: str, at: int) -> int:
        at = after_blanks(text, at)
        if at == len(text):
            return at
        # Anything else than an object means no arguments; it is text behind the call.
        self.state = State.KEY if text[at] == "{" else State.DONE
        return at + (self.state is State.KEY)

    def _key(self, text: str, at: int) -> int:
        while (at := after_blanks(text, at)) < len(text) and text[at] == ",":
            at += 1
        if text.startswith("}", at):
            self.state = State.DONE
            return at + 1
        rest = text[at : at + MAX_KEY]
        match = KEY.match(rest)
        if match:
            self._name = _loaded(match[1]) if match[1] else match[2]
            self.state = State.VALUE
            return at + match.end()
        if not rest or (len(rest) < MAX_KEY and MAYBE_KEY.fullmatch(rest)):
            return at
        self._calls.stray(Text(text[at]))
        self.state = State.STRAY
        return at + 1

    def _stray(self, text: str, at: int) -> int:
        match = _NO_MEMBER.match(text, at)
        end = match.end() if match else at
        self._calls.stray(Text(text[at:end]))
        if end < len(text):
            self.state = State.KEY
        return end

    def _begin(self, text: str, at: int) -> int:
        at = after_blanks(text, at)
        if at == len(text):
            return at
        if text[at] == '"':
            self._calls.key(self._name, Kind.ESCAPED)
            self.state = State.STRING
            return at + 1
        self._calls.key(self._name, Kind.JSON)
        self._balance = Balance()
        self.state = State.OTHER
        return at

    def _other(self, text: str, at: int) -> int:
        end = self._balance.scan(text, at, ends=",}")
        self._calls.value(text[at:end])
        if end < len(text):
            self._calls.end_value()
            self.state = State.KEY
        return end

    def _string(self, text: str, at: int) -> int:
        while at < len(text):
            plain = _PLAIN.match(text, at)
            if plain:
                self._calls.value(plain[0])
                at = plain.end()
            elif text[at] == '"':
                return self._quote(text, at)
            else:
                end = self._special(text, at)
                if end == at:
                    return at
                at = end
        return at

    def _special(self, text: str, at: int) -> int:
        """A backslash or a control character."""
        if _HALF.match(text, at):
            return self._half(text, at)
        escape = _ESCAPE.match(text, at)
        if escape:
            self._calls.value(escape[0])
            return escape.end()
        if _MAYBE_ESCAPE.fullmatch(text, at):
            return at
        self._calls.value(escaped(text[at]))
        return at + 1

    def _half(self, text: str, at: int) -> int:
        """Half a character. Many readers take it only together with its other half."""
        pair = _PAIR.match(text, at)
        if pair:
            self._calls.value(pair[0])
            return pair.end()
        end = at + len(r"\ud800")
        if text[at + 3] in "89abAB" and _MAYBE_LOW.fullmatch(text, end):
            return at
        self._calls.value(_REPLACEMENT)
        return end

    def _quote(self, text: str, at: int) -> int:
        after = after_blanks(text, at + 1)
        if after - at <= _MAX_GAP:
            if after == len(text):
                return at
            if text[after] not in ",}":
                self._calls.value('\\"')
                return at + 1
        self._calls.end_value()
        self.state = State.KEY
        return at + 1


def after_blanks(text: str, at: int) -> int:
    match = _SOLID.search(text, at)
    return match.start() if match else len(text)


def _loaded(quoted: str) -> str:
    try:
        return str(orjson.loads(quoted))
    except orjson.JSONDecodeError:
        return quoted[1:-1]
