"""A call that the model writes as one JSON object: its tool's name and its arguments.

Rules:
- Nothing is a call before its name is known: until then any surprise is a failure, and the text
  stays text.
- Arguments that stand before the name, or inside a string, are read at their end.
- After the arguments a missing closing brace is not waited for.
"""

from collections.abc import Callable, Container
from enum import Enum, auto

import orjson

from ds4.parsing.balance import Balance
from ds4.parsing.calls import Calls, Kind
from ds4.parsing.json_args import KEY, MAX_KEY, MAYBE_KEY, JsonArgs, after_blanks

NAME_KEYS = ("name",)
ARGUMENT_KEYS = ("arguments", "parameters")
OTHER_KEYS = ("id", "type")


class State(Enum):
    OPEN = auto()
    KEY = auto()
    NAME = auto()
    ARGUMENTS = auto()
    OBJECT = auto()
    WHOLE = auto()
    """A value that is read at its end."""
    DONE = auto()
    FAILED = auto()


class JsonCall:
    """As JsonArgs. `known` restricts the names that make a call; None takes any."""

    def __init__(self, calls: Calls, known: Container[str] | None = None) -> None:
        self.state = State.OPEN
        self._calls = calls
        self._known = known
        self._args = JsonArgs(calls)
        self._balance = Balance()
        self._whole: list[str] = []
        self._key_name = ""
        self._early: str | None = None
        self._named = False
        self._steps: dict[State, Callable[[str, int], int]] = {
            State.OPEN: self._open,
            State.KEY: self._key,
            State.NAME: self._name,
            State.ARGUMENTS: self._arguments,
            State.OBJECT: self._object,
            State.WHOLE: self._collect,
        }

    @property
    def done(self) -> bool:
        return self.state is State.DONE

    @property
    def failed(self) -> bool:
        return self.state is State.FAILED

    @property
    def in_structure(self) -> bool:
        if self.state is State.OBJECT:
            return self._args.in_structure
        return self.state is not State.WHOLE or not self._balance.in_string

    def read(self, text: str) -> int:
        at, before = 0, State.DONE
        while self.state in self._steps and (at < len(text) or self.state is not before):
            start, before = at, self.state
            at = self._steps[self.state](text, at)
            if at == start and self.state is before:
                break
        return at

    def close(self, rest: str) -> None:
        if self.state is State.OBJECT:
            self._args.close(rest)
        elif self.state is State.WHOLE and self._named and self._key_name in ARGUMENT_KEYS:
            self._deliver("".join(self._whole) + rest + self._balance.missing())
        self.state = State.DONE if self._named else State.FAILED

    def _open(self, text: str, at: int) -> int:
        at = after_blanks(text, at)
        if at == len(text):
            return at
        self.state = State.KEY if text[at] == "{" else State.FAILED
        return at + (self.state is State.KEY)

    def _key(self, text: str, at: int) -> int:
        start = at
        while (at := after_blanks(text, at)) < len(text) and text[at] == ",":
            at += 1
        if text.startswith("}", at):
            self.state = State.DONE if self._named else State.FAILED
            return at + self._named
        rest = text[at : at + MAX_KEY]
        match = KEY.match(rest)
        if match and match[1]:
            return self._member(match[1][1:-1], start, at + match.end())
        if not rest or (rest[0] == '"' and len(rest) < MAX_KEY and MAYBE_KEY.fullmatch(rest)):
            return at
        return self._surprise(at)

    def _member(self, key: str, start: int, end: int) -> int:
        if key in NAME_KEYS and not self._named:
            self.state = State.NAME
        elif key in ARGUMENT_KEYS:
            self.state = State.ARGUMENTS
        elif self._named or key in OTHER_KEYS:
            self._whole_value()
        else:
            return self._surprise(start)
        self._key_name = key
        return end

    def _surprise(self, at: int) -> int:
        self.state = State.DONE if self._named else State.FAILED
        return at

    def _name(self, text: str, at: int) -> int:
        at = after_blanks(text, at)
        end = text.find('"', at + 1)
        if text[at : at + 1] not in ("", '"') or len(text[at:end]) > MAX_KEY:
            self.state = State.FAILED
        elif at < len(text) and end > 0:
            self._start(text[at + 1 : end])
            return end + 1
        return at

    def _start(self, name: str) -> None:
        if not name or "\\" in name or (self._known is not None and name not in self._known):
            self.state = State.FAILED
            return
        self._named = True
        self.state = State.KEY
        self._calls.start(name)
        if self._early is not None:
            self._deliver(self._early)

    def _arguments(self, text: str, at: int) -> int:
        at = after_blanks(text, at)
        if at == len(text):
            return at
        if self._named and text[at] == "{":
            self._args = JsonArgs(self._calls)
            self.state = State.OBJECT
        else:
            self._whole_value()
        return at

    def _object(self, text: str, at: int) -> int:
        at += self._args.read(text[at:])
        if self._args.done:
            self.state = State.KEY
        return at

    def _whole_value(self) -> None:
        self._balance = Balance()
        self._whole = []
        self.state = State.WHOLE

    def _collect(self, text: str, at: int) -> int:
        end = self._balance.scan(text, at, ends=",}")
        self._whole.append(text[at:end])
        if end < len(text):
            self.state = State.KEY
            if self._key_name in ARGUMENT_KEYS:
                self._collected("".join(self._whole))
        return end

    def _collected(self, raw: str) -> None:
        if self._named:
            self._deliver(raw)
        else:
            self._early = raw

    def _deliver(self, raw: str) -> None:
        text = _unquoted(raw).strip()
        if text.startswith("{"):
            args = JsonArgs(self._calls)
            taken = args.read(text)
            args.close(text[taken:])
        elif text not in ("", "null"):
            # The same single parameter that stands for such arguments in a prompt.
            self._calls.key("arguments", Kind.OPEN)
            self._calls.value(text)
            self._calls.end_value()


def _unquoted(raw: str) -> str:
    """What a JSON string holds; anything else as it is."""
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return raw
    return value if isinstance(value, str) else raw
