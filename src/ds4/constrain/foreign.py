"""A caller's grammar in the constraint library's Lark, before the library has it.

Rules:
- The library follows names and brackets on its stack. How deep that can be is bounded here (see `deep`).
- A JSON schema inside is held to what can be enforced, as every other.
- What cannot be read here cannot be read there either, and is left to the library to refuse.
"""

import json
import re
from collections.abc import Iterable, Iterator

import orjson

from ds4.constrain.grammar import check_length
from ds4.constrain.schema import cleaned
from ds4.core.errors import BadRequest, Unsupported

MAX_LEVELS = 2_000
"""If each definition leads to the next, inside all its brackets: 3 KiB of stack each, measured, and some
seconds if they are repetitions of repetitions."""
_PIECE = re.compile(
    r"""(?:\#|//)[^\n]*
    |"(?:\\.|[^"\\\n])*"
    |/(?:\\.|[^/\\])+/
    |<[^<>\s]+>
    |%(?P<word>json|regex|llguidance|lark)\b
    |::
    |(?P<mark>[:()\[\]{}])""",
    re.VERBOSE,
)
_BLANKS = re.compile(r"[ \t\r\n]*")
_OPENING, _CLOSING = ("(", "[", "{"), (")", "]", "}")
_GUIDANCE = "x-guidance"
_decoder = json.JSONDecoder()


def checked(text: str, path: str) -> str:
    """The grammar as the library may have it. Raises BadRequest that names `path`, or a place in it."""
    check_length(len(text), path)
    parts: list[str] = []
    marks: list[str] = []
    size = done = 0
    for found, end in _pieces(text):
        marks.append(found["mark"] or "")
        if found["word"] == "lark":
            raise Unsupported(path, "has %lark, which is not supported by this server")
        if found["word"] == "json" and end > found.end():
            parts += [text[done : found.end()], " ", _schema(text[found.end() : end], path)]
            done, size = end, size + len(parts[-1])
            check_length(size, path)
    if _levels(marks) > MAX_LEVELS:
        raise BadRequest(f"{path} has too many rules and brackets ({MAX_LEVELS} at most)", param=path)
    return "".join([*parts, text[done:]])


def _pieces(text: str) -> Iterator[tuple[re.Match[str], int]]:
    """Each with where it ends, the JSON behind it included."""
    place = 0
    while found := _PIECE.search(text, place):
        place = found.end()
        if found["word"] not in (None, "lark"):
            place = _end(text, place)
        yield found, place


def _end(text: str, place: int) -> int:
    """Where the JSON ends that begins at `place`; there itself if there is none."""
    begin = _BLANKS.match(text, place)
    try:
        return _decoder.raw_decode(text, begin.end() if begin else place)[1]
    except (ValueError, RecursionError):
        return place


def _schema(text: str, path: str) -> str:
    """Its settings for the library stay. One that allows nothing is refused."""
    schema = cleaned(text, path, strict=True).schema
    given = orjson.loads(text)
    settings = {_GUIDANCE: given[_GUIDANCE]} if isinstance(given, dict) and _GUIDANCE in given else {}
    return orjson.dumps({**({} if isinstance(schema, bool) else schema), **settings}).decode()


def _levels(marks: Iterable[str]) -> int:
    """Of all definitions, as if they all stood inside each other."""
    levels = depth = deepest = 0
    for mark in marks:
        depth = max(0, depth + (mark in _OPENING) - (mark in _CLOSING))
        deepest = max(deepest, depth)
        if mark == ":":
            levels, deepest = levels + 1 + deepest, depth
    return levels + deepest
