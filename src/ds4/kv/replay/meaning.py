"""What an answer says, whoever wrote it down. Pure.

Rules:
- What APIs and clients change without meaning it does not count: blanks around texts, texts cut or joined,
  the order of keys, spacing and escapes in arguments, arguments as JSON in a JSON string, 1.0 for 1.
- Reasoning may be missing: clients are free to drop it. What is there must be the same.
- Everything else is an edit. Where in doubt, it is one.
"""

import json
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from ds4.core.messages import Message
from ds4.core.thoughts import split_thoughts
from ds4.core.usage import Unlike

EXACT_INTEGERS = 1 << 53
"""Below it, a float that is whole is the integer: a JavaScript client writes 1.0 as 1."""


@dataclass(frozen=True, slots=True)
class Call:
    """`arguments` is a digest of what they mean (see `arguments_digest`)."""

    name: str
    arguments: bytes


@dataclass(frozen=True, slots=True)
class Meaning:
    """Texts are pieces in order; where one ends and the next begins, blanks mean nothing."""

    text: tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()
    reasoning: tuple[str, ...] = ()

    @property
    def reasons(self) -> bool:
        return any(map(str.strip, self.reasoning))

    @property
    def size(self) -> int:
        """About how many bytes it takes."""
        return 64 + sum(map(len, (*self.text, *self.reasoning))) + 64 * len(self.calls)


def meaning_of(messages: Iterable[Message]) -> Meaning:
    """Of messages of the assistant that are one answer."""
    text: list[str] = []
    reasoning: list[str] = []
    calls: list[Call] = []
    for message in messages:
        thoughts, said = split_thoughts(message, message.text)
        text.append(said)
        reasoning.append(thoughts)
        calls += (Call(call.name, arguments_digest(call.arguments)) for call in message.tool_calls)
    return Meaning(tuple(text), tuple(calls), tuple(reasoning))


def unlike(held: Meaning, sent: Meaning) -> Unlike | None:
    """What the client changed in `held`; None where both mean the same."""
    if [call.name for call in held.calls] != [call.name for call in sent.calls]:
        return Unlike.CALLS
    if held.calls != sent.calls:
        return Unlike.ARGUMENTS
    if not _same_text(held.text, sent.text):
        return Unlike.TEXT
    if sent.reasons and not _same_text(held.reasoning, sent.reasoning):
        return Unlike.REASONING
    return None


def arguments_digest(arguments: str) -> bytes:
    """Equal for arguments that mean the same. What is no JSON means its text, nothing at all no arguments."""
    text = arguments.strip()
    try:
        value = _parsed(text) if text else {}
        written = "json " + json.dumps(value, sort_keys=True)
    except (ValueError, RecursionError):
        written = "text " + text
    return blake2b(written.encode(errors="surrogatepass"), digest_size=16).digest()


def _parsed(text: str) -> object:
    value: object = json.loads(text, parse_float=_number)
    if isinstance(value, str):
        try:
            inner = json.loads(value, parse_float=_number)
        except ValueError:
            return value
        return inner if isinstance(inner, dict) else value
    return value


def _number(written: str) -> int | float:
    value = float(written)
    return int(value) if value.is_integer() and abs(value) < EXACT_INTEGERS else value


def _same_text(held: Sequence[str], sent: Sequence[str]) -> bool:
    left, right = _pieces(held), _pieces(sent)
    while left and right:
        one, other = left.popleft(), right.popleft()
        size = min(len(one), len(other))
        if one[:size] != other[:size]:
            return False
        for pieces, text in ((left, one), (right, other)):
            if rest := text[size:].lstrip():
                pieces.appendleft(rest)
    return not left and not right


def _pieces(texts: Sequence[str]) -> deque[str]:
    return deque(stripped for text in texts if (stripped := text.strip()))
