"""The raw input of a custom tool, read out of its JSON arguments while they are produced.

Rules:
- Arguments that begin with the input are decoded as they come. All others are held and judged at
  the end: the input wherever it stands, else the only text there is, else the arguments themselves.
- Arguments that are cut off give what could be decoded.
"""

import re

import orjson

from ds4.core.constraint import INPUT

_HEAD = re.compile(rf'\{{\s*"{INPUT}"\s*:\s*"')
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_HEX = "[0-9a-fA-F]"
_HIGH, _LOW = rf"\\u[dD][89abAB]{_HEX}{{2}}", rf"\\u[dD][c-fC-F]{_HEX}{{2}}"
_UNIT = re.compile(
    rf'(?P<plain>[^"\\]+)|(?P<pair>{_HIGH}{_LOW})|(?P<code>(?!{_HIGH})\\u{_HEX}{{4}})'
    # A half alone: known as soon as something follows that cannot be its other half.
    rf"|(?P<half>{_HIGH}(?=[^\\]|\\[^u]|\\u[^dD]|\\u[dD][^c-fC-F]))|(?P<simple>\\[^u])"
)
_REPLACEMENT = "\ufffd"


class RawInput:
    def __init__(self) -> None:
        self._rest = ""
        self._decoding = False
        self._ended = False
        self._given: list[str] = []

    @property
    def text(self) -> str:
        return "".join(self._given)

    def add(self, arguments: str) -> str:
        """The input that is certain now."""
        if self._ended:
            return ""
        self._rest += arguments
        if not self._decoding:
            head = _HEAD.match(self._rest)
            if head is None:
                return ""
            self._decoding = True
            self._rest = self._rest[head.end() :]
        return self._give(self._decode())

    def end(self) -> str:
        """What is left of the input, once the arguments are complete or cut off."""
        if self._decoding or self._ended:
            return ""
        self._ended = True
        return self._give(_judged(self._rest))

    def _decode(self) -> str:
        out: list[str] = []
        at = 0
        while (unit := _UNIT.match(self._rest, at)) is not None:
            out.append(_decoded(unit))
            at = unit.end()
        self._ended = self._rest.startswith('"', at)
        self._rest = self._rest[at:]
        return "".join(out)

    def _give(self, text: str) -> str:
        self._given.append(text)
        return text


def _decoded(unit: re.Match[str]) -> str:
    text = unit[0]
    match unit.lastgroup:
        case "plain":
            return text
        case "simple":
            return _ESCAPES.get(text[1], text[1])
        case "pair":
            high, low = int(text[2:6], 16), int(text[8:12], 16)
            return chr(0x10000 + ((high & 0x3FF) << 10) + (low & 0x3FF))
        case _:
            code = int(text[2:6], 16)
            return _REPLACEMENT if 0xD800 <= code < 0xE000 else chr(code)


def _judged(arguments: str) -> str:
    try:
        value = orjson.loads(arguments)
    except orjson.JSONDecodeError:
        return ""
    if not isinstance(value, dict):
        return arguments
    if isinstance(value.get(INPUT), str):
        return str(value[INPUT])
    texts = [member for member in value.values() if isinstance(member, str)]
    return texts[0] if len(texts) == len(value) == 1 else arguments
