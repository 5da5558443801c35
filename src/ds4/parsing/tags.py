"""Finds a place's tags in text that is still growing.

What is a tag never depends on how the text was cut into pieces: a tag counts where its spelling
begins first, and one that never ends within MAX_TAG characters is none.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ds4.formats.markup import Rest, Tag

MAX_TAG = 1024
"""The longest rest of a tag. More is not a tag but somebody's text."""

_TO_END = re.compile(r'(?:[^">]|"[^"]*")*>')
_ATTRIBUTES = re.compile(r'(?:\s+[\w.:-]+\s*=\s*"[^"]*")*\s*/?>')
_ATTRIBUTE = re.compile(r'([\w.:-]+)\s*=\s*"([^"]*)"')
_NAME = re.compile(r"""\s*["']?([^<>"'\s]+)["']?\s*>""")
_ENTITIES = (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&"))


@dataclass(frozen=True, slots=True)
class Found:
    """A tag at [start, end). `end` is None when more text must come before that is known.

    `name` and `string` are what its rest says.
    """

    tag: Tag
    start: int
    end: int | None
    name: str | None = None
    string: bool | None = None


class TagScanner:
    """Holds no state of the text, so one serves all answers."""

    def __init__(self, tags: Iterable[Tag]) -> None:
        self._tags = {spelling: tag for tag in tags for spelling in tag.spellings}
        longest_first = sorted(self._tags, key=len, reverse=True)
        # An empty alternation would match everywhere; (?!) matches nowhere.
        self._pattern = re.compile("|".join(map(re.escape, longest_first)) or "(?!)")
        self._prefixes = frozenset(tag[:end] for tag in self._tags for end in range(1, len(tag)))
        self._heads = frozenset(tag[0] for tag in self._tags)
        self.longest = max(map(len, self._tags), default=1)

    def find(self, text: str) -> Found | None:
        """The first tag. A spelling whose rest does not fit is not a tag."""
        for match in self._pattern.finditer(text):
            found = _with_rest(self._tags[match[0]], match.start(), match.end(), text)
            if found is not None:
                return found
        return None

    def starts(self, text: str) -> list[int]:
        """Where a spelling begins, whatever follows it."""
        return [match.start() for match in self._pattern.finditer(text)]

    def undecided(self, text: str) -> int:
        """How many characters at the end of `text`, which holds no tag, may begin one."""
        window = text[1 - self.longest :] if self.longest > 1 else ""
        for at, char in enumerate(window):
            if char in self._heads and window[at:] in self._prefixes:
                return len(window) - at
        return 0


def _with_rest(tag: Tag, start: int, end: int, text: str) -> Found | None:
    if tag.rest is Rest.NONE:
        return Found(tag, start, end)
    rest = text[end : end + MAX_TAG]
    match = _TO_END.match(rest)
    if match is None:
        return Found(tag, start, None) if len(rest) < MAX_TAG else None
    read = _bare_name if tag.rest is Rest.NAME else _attributes
    return read(tag, start, end, match[0])


def _bare_name(tag: Tag, start: int, end: int, rest: str) -> Found | None:
    match = _NAME.fullmatch(rest)
    return Found(tag, start, end + len(rest), match[1]) if match else None


def _attributes(tag: Tag, start: int, end: int, rest: str) -> Found | None:
    if not _ATTRIBUTES.fullmatch(rest):
        return None
    values = dict(_ATTRIBUTE.findall(rest))
    if not values.get("name"):
        return None
    string = {"true": True, "false": False}.get(values.get("string", ""))
    return Found(tag, start, end + len(rest), _decoded(values["name"]), string)


def _decoded(attribute: str) -> str:
    """Attributes are escaped when calls are shown to the model; values are not."""
    for entity, char in _ENTITIES:
        attribute = attribute.replace(entity, char)
    return attribute
