"""Keeps strings apart from other values, where both stand bare and nothing but the value tells them apart.

Rules:
- What the reader takes for another value must not be written as a string.
- The library reads all alternatives at once and takes the longest, so they must be apart early. Numbers,
  true, false, null and listed values stand in one terminal with the string. What needs JSON (lists, objects,
  bounded numbers) begins as no string does.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import orjson

from ds4.constrain.lark import plain, regex
from ds4.constrain.schema import types_of
from ds4.constrain.schema.document import Schema
from ds4.constrain.schema.library import possible
from ds4.constrain.schema.parts import options, values_of, with_definitions
from ds4.formats.declared import Types

_BLANKS = r"[ \t\n\r]*"
_INTEGER = "-?(?:0|[1-9][0-9]{0,17})"
_SCALARS = {
    "integer": _INTEGER,
    "number": _INTEGER + r"(?:\.[0-9]{1,17})?(?:[eE][+-]?[0-9]{1,2})?",
    "boolean": "true|false",
    "null": "null",
}
"""As they are written: no reader has to round."""
_READ = {
    "integer": "-?[0-9]+",
    "number": r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?",
    "boolean": "true|false",
    "null": "null",
}
"""What is read as such a value, and rather more."""
_BEGINS = {
    "array": r"\[",
    "boolean": "[tf]",
    "integer": "[-0-9]",
    "null": "n",
    "number": "[-0-9]",
    "object": r"\{",
}
_ALWAYS_JSON = frozenset({"array", "object"})


@dataclass(frozen=True, slots=True)
class Others:
    """Values that are no strings: `scalars` are regexes of some, `rest` schemas of the others."""

    scalars: list[str] = field(default_factory=list)
    rest: list[Schema] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Apart:
    """`looks` are regexes of all text that no string may be."""

    looks: tuple[str, ...] = ()

    @property
    def refused(self) -> str:
        """What follows the terminal of a string that could be any of these, and anything else."""
        return "".join(f" & ~{regex(each)}" for each in self.looks)

    def takes(self, text: str) -> bool:
        return not any(re.fullmatch(each, text) for each in self.looks)

    def meets(self, schema: Mapping[str, object]) -> bool:
        """Whether a string of this schema may look so."""
        patterns = ({"type": "string", "pattern": f"^(?:{each})$"} for each in self.looks)
        return any(possible(schema, pattern) for pattern in patterns)


FREE = Apart()


def apart(types: Types, rest: Iterable[Schema]) -> Apart:
    """`types` are what the reader expects, all if nothing is known; `rest` is written as JSON."""
    expected = types or frozenset(_BEGINS)
    words = [pattern for name, pattern in _READ.items() if name in expected]
    begun = {name for schema in rest for name in types_of(schema)} | (expected & _ALWAYS_JSON)
    begins = dict.fromkeys(_BEGINS[name] for name in sorted(begun))
    looks = []
    if words:
        looks.append(f"{_BLANKS}(?:{'|'.join(words)}){_BLANKS}")
    if begins:
        looks.append(f"{_BLANKS}(?:{'|'.join(begins)})(?s:.*)")
    return Apart(tuple(looks))


def sort(schema: Schema) -> Others:
    """`schema` allows no strings."""
    found = Others()
    for branch in options(schema):
        scalars = _scalars(branch)
        if scalars is None:
            found.rest.append(with_definitions(branch, schema))
        else:
            found.scalars.extend(scalars)
    begun = {name for branch in found.rest for name in types_of(branch)}
    # Two of a kind, one in the terminal and one as JSON, would not be apart.
    return found if begun <= _ALWAYS_JSON else Others(rest=[schema])


def _scalars(schema: Schema) -> list[str] | None:
    """Regexes; None for what needs JSON."""
    if isinstance(schema, bool):
        return [] if not schema else None
    listed = values_of(schema)
    if listed is not None:
        simple = not any(isinstance(value, list | dict) for value in listed)
        return [plain(orjson.dumps(value).decode()) for value in listed] if simple else None
    unbounded = set(schema) == {"type"}
    return [_SCALARS[kind]] if unbounded and (kind := str(schema["type"])) in _SCALARS else None
