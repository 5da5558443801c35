"""Strings as they stand bare between tags, by their schema.

A schema of strings (`schema.string_part`) becomes one expression of terminals, so that the tag that ends the
string can be part of the same terminal.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ds4.constrain.apart import FREE, Apart
from ds4.constrain.lark import literal, one_of, regex
from ds4.constrain.text_formats import TEXT_FORMATS

Lost = Callable[[str], None]
"""Hears of a keyword that cannot be demanded of a bare string; raises if that must not be."""

_TOKEN = re.compile(r"\\.|\[\^?(?:\\.|[^\\\]])*\]|.", re.DOTALL)
_REST = "(?s:.*)"


@dataclass(frozen=True, slots=True)
class Bare:
    """`free` are all strings as they may be written; `exact` those that are written as they are.

    `spell` writes a known string, None if that is not possible.
    """

    free: str
    exact: str
    spell: Callable[[str], str | None]

    def body(self, schema: object, lost: Lost, apart: Apart = FREE) -> str | None:
        """None if there is no such string that can be written."""
        if not isinstance(schema, Mapping):
            return None
        if "const" in schema:
            return self._known(schema["const"], apart)
        if "enum" in schema:
            return _any_of([self._known(value, apart) for value in schema["enum"]])
        if "anyOf" in schema:
            return _any_of([self.body(branch, lost, apart) for branch in schema["anyOf"]])
        if "allOf" in schema:
            bodies = [self.body(branch, lost, apart) for branch in schema["allOf"]]
            return None if None in bodies else f"({' & '.join(filter(None, bodies))})"
        return self._leaf(schema, lost, apart)

    def _known(self, value: object, apart: Apart) -> str | None:
        spelled = self.spell(value) if isinstance(value, str) and apart.takes(value) else None
        return None if spelled is None else literal(spelled)

    def _leaf(self, schema: Mapping[str, object], lost: Lost, apart: Apart) -> str:
        """The library must never find out late that nothing is left of a string: what it demands and what it
        must not look like either have nothing in common, or the demand is lost."""
        narrow = [keyword for keyword in ("pattern", "format") if keyword in schema]
        if narrow and apart.meets(schema):
            for keyword in narrow:
                lost(keyword)
            schema = {keyword: value for keyword, value in schema.items() if keyword not in narrow}
        elif narrow:
            apart = FREE
        demands = _demands(schema, lost)
        body = f"{self.exact} & {' & '.join(demands)}" if demands else self.free
        return f"({body}{apart.refused})" if demands or apart.looks else body


def _any_of(bodies: list[str | None]) -> str | None:
    possible = [body for body in bodies if body is not None]
    return one_of(possible) if possible else None


def _demands(schema: Mapping[str, object], lost: Lost) -> list[str]:
    demands = []
    low, high = schema.get("minLength", 0), schema.get("maxLength")
    if low or high is not None:
        demands.append(regex(f"(?s:.{{{low},{'' if high is None else high}}})"))
    if isinstance(pattern := schema.get("pattern"), str):
        branches = list(map(_search, _branches(pattern)))
        if None in branches:
            lost("pattern")
        else:
            demands.append(regex("|".join(filter(None, branches))))
    if isinstance(name := schema.get("format"), str):
        demands.append(regex(TEXT_FORMATS[name]))
    return demands


def _branches(pattern: str) -> list[str]:
    branches, depth = [""], 0
    for token in _TOKEN.findall(pattern):
        depth += (token == "(") - (token == ")")
        if token == "|" and not depth:
            branches.append("")
        else:
            branches[-1] += token
    return branches


def _search(branch: str) -> str | None:
    """The regex of all texts in which the branch is found. None where an anchor is not at its end."""
    tokens = _TOKEN.findall(branch)
    begins, ends = tokens[:1] == ["^"], tokens[-1:] == ["$"]
    inner = tokens[begins : len(tokens) - ends]
    if "^" in inner or "$" in inner:
        return None
    return f"(?:{'' if begins else _REST}{''.join(inner)}{'' if ends else _REST})"
