"""Finds special spellings in a text."""

import re
from collections.abc import Iterable, Iterator


class Spellings:
    """Cuts text at spellings, the longest first where several begin at one place."""

    def __init__(self, spellings: Iterable[str]) -> None:
        longest_first = sorted((s for s in spellings if s), key=len, reverse=True)
        # An empty alternation would match everywhere; (?!) matches nowhere.
        self._pattern = re.compile("|".join(map(re.escape, longest_first)) or "(?!)")

    def split(self, text: str) -> Iterator[tuple[str, bool]]:
        """Yields (part, is a spelling), no part empty; the parts join to `text`."""
        end = 0
        for match in self._pattern.finditer(text):
            if match.start() > end:
                yield text[end : match.start()], False
            yield match.group(), True
            end = match.end()
        if end < len(text):
            yield text[end:], False
