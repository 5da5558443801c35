"""Finds special spellings in a text."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

_NOTHING = "(?!)"
"""A pattern that matches nowhere."""


def spelling_pattern(spellings: Iterable[str]) -> re.Pattern[str]:
    """Matches any spelling, the longest where several begin at one place. Empty ones are left out.

    Built as a tree of shared beginnings: vocabularies with thousands of `<unusedN>` entries would make
    a flat alternative slow at every `<`.
    """
    return _pattern(tuple(spellings))


@lru_cache(maxsize=32)
def _pattern(spellings: tuple[str, ...]) -> re.Pattern[str]:
    """Everything that knows a vocabulary asks for the same one."""
    tree: _Tree = {}
    for spelling in filter(None, spellings):
        node = tree
        for character in spelling:
            node = node.setdefault(character, {})
        node[""] = {}
    return re.compile(_alternatives(tree) or _NOTHING)


_Tree = dict[str, "_Tree"]


def _alternatives(tree: _Tree) -> str:
    branches = [re.escape(head) + _alternatives(rest) for head, rest in tree.items() if head]
    if not branches:
        return ""
    body = branches[0] if len(branches) == 1 and "" not in tree else f"(?:{'|'.join(branches)})"
    return body + ("?" if "" in tree else "")


class Spellings:
    """Cuts text at spellings."""

    def __init__(self, spellings: Iterable[str]) -> None:
        self._pattern = spelling_pattern(spellings)

    def places(self, text: str) -> Iterator[tuple[int, int]]:
        """The start and end of each spelling, from the left."""
        return (match.span() for match in self._pattern.finditer(text))

    def split(self, text: str) -> Iterator[tuple[str, bool]]:
        """Yields (part, is a spelling), no part empty; the parts join to `text`."""
        end = 0
        for start, stop in self.places(text):
            if start > end:
                yield text[end:start], False
            yield text[start:stop], True
            end = stop
        if end < len(text):
            yield text[end:], False
