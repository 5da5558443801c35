"""The table of places an answer walks through, ready to be walked: one per format and way of answering."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from ds4.formats.markup import TEXT, Content, Place, Places, Reasoning, ToolFormat
from ds4.formats.reasoning import OPENED, UNOPENED, reasoning_places
from ds4.parsing.tags import TagScanner

PLAIN = "plain"
"""The place of text in which no tag counts."""
_NO_TAGS = Place(Content.TEXT)


@dataclass(frozen=True, slots=True)
class Spot:
    """A place with the scanner for its tags, which holds no state."""

    place: Place
    tags: TagScanner


@dataclass(frozen=True, slots=True)
class Table:
    """`opened` is where an answer begins inside reasoning, `start` where it begins otherwise.

    `spellings` are those of all tags.
    """

    spots: Mapping[str, Spot]
    start: str
    opened: str
    spellings: frozenset[str]


@lru_cache(maxsize=64)
def table(tools: ToolFormat, reasoning: Reasoning, *, has_tools: bool) -> Table:
    """A server has one format, and every answer would build the same table again."""
    if tools.channels:
        return _table(tools.places, tools.start, tools.channels.opened)
    places, start = (tools.places, tools.start) if has_tools else ({TEXT: _NO_TAGS}, TEXT)
    return _table({**places, **reasoning_places(reasoning, start)}, UNOPENED, OPENED)


def _table(places: Places, start: str, opened: str) -> Table:
    places = {**places, PLAIN: _NO_TAGS}
    spots = {name: Spot(place, TagScanner(place.tags)) for name, place in places.items()}
    tags = (tag for place in places.values() for tag in place.tags)
    return Table(spots, start, opened, frozenset(spelling for tag in tags for spelling in tag.spellings))
