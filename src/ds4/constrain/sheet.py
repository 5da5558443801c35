"""What everyone who writes a part of an answer's grammar has at hand."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ds4.constrain.lark import Lark
from ds4.constrain.style import Words
from ds4.formats.markup import TEXT, Content, Means, Place, Tag, ToolFormat
from ds4.formats.written import Written

CanEnd = Callable[[str, str], bool]
"""Whether a caller's grammar, in Lark, can end where this markup ends it (`closing`)."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """`dropped` collects what is not enforced, as `path: keyword`."""

    lark: Lark
    words: Words
    tool_format: ToolFormat
    can_end: CanEnd
    dropped: list[str] = field(default_factory=list)

    @property
    def written(self) -> Written:
        return self.tool_format.written.by(self.words.ids)

    @property
    def text_tags(self) -> tuple[str, ...]:
        """What is no text in visible text."""
        return spellings(self.tool_format.places[TEXT].tags)

    @property
    def opening_tag(self) -> str | None:
        """The tag of visible text with which this format's way of writing a call begins."""
        opening = (self.written.before + self.written.opens).lstrip()
        return max(filter(opening.startswith, self.text_tags), key=len, default=None)

    @property
    def is_bare(self) -> bool:
        """Nothing marks a call but that it is JSON with a tool's name in it."""
        return self.opening_tag is None and self.tool_format.channels is None

    def value_place(self, closes: str) -> Place:
        """Where a value is read that `closes` ends."""
        for place in self.tool_format.places.values():
            if place.content is Content.VALUE and closes.strip() in spellings(place.tags):
                return place
        raise LookupError(closes)

    def is_end(self, text: str) -> bool:
        """Whether the model ends its answer by writing this."""
        return self.words.ids.get(text) in self.words.ends


def spellings(tags: Iterable[Tag], means: Means | None = None) -> tuple[str, ...]:
    return tuple(text for tag in tags if means in (None, tag.means) for text in tag.spellings)
