"""Where one is in JSON text: inside a string or not, and how deep. Judges nothing."""

import re

_IN_STRING = re.compile(r'["\\]')
_OUTSIDE = re.compile(r'[\[\]{}",]')
_CLOSES = {"[": "]", "{": "}"}


class Balance:
    """A stack, not recursion: any depth costs the same per character."""

    def __init__(self) -> None:
        self.in_string = False
        self._escaped = False
        self._closers: list[str] = []

    def scan(self, text: str, at: int = 0, *, ends: str = "") -> int:
        """Goes through `text` from `at`, up to one of `ends` outside all brackets. Returns where."""
        while at < len(text):
            if self._escaped:
                self._escaped = False
                at += 1
                continue
            match = (_IN_STRING if self.in_string else _OUTSIDE).search(text, at)
            if match is None:
                return len(text)
            if match[0] in ends and not self.in_string and not self._closers:
                return match.start()
            self._note(match[0])
            at = match.end()
        return at

    def missing(self) -> str:
        """What would close everything open."""
        return '"' * self.in_string + "".join(reversed(self._closers))

    def _note(self, char: str) -> None:
        if char == '"':
            self.in_string = not self.in_string
        elif char == "\\":
            self._escaped = True
        elif char in _CLOSES:
            self._closers.append(_CLOSES[char])
        elif char != "," and self._closers:
            self._closers.pop()
