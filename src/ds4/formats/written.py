"""How a model writes calls, as data: one spelling per format.

What reads answers takes many (the places in `markup`). What writes calls takes this one: earlier calls in a
prompt, and the grammar that holds a model to a call.

    before  opens NAME named  parameters  closes  between  opens NAME named ... closes  after
"""

from collections.abc import Container
from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Separators:
    """What stands between the parts of JSON; nothing else does."""

    comma: str
    colon: str


MINIFIED = Separators(",", ":")
SPACED = Separators(", ", ": ")
"""As most vendors' templates print JSON."""


class Names(StrEnum):
    """How a name is written, and so which names can be."""

    WORD = "word"
    """As it is: letters, digits and `_.:-`."""
    BARE = "bare"
    """As it is: no blanks, quotes and brackets."""
    LINE = "line"
    """As it is: one line without `<`."""
    ATTRIBUTE = "attribute"
    """With entities for `&`, `<`, `>` and the quote."""
    JSON = "json"
    """Inside a JSON string, without escapes."""

    def spelled(self, name: str) -> str:
        if self is Names.ATTRIBUTE:
            for char, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
                name = name.replace(char, entity)
        return name


@dataclass(frozen=True, slots=True)
class Parameters:
    """A parameter is `opens` NAME, then `text` before a string or `json` before another value, the value, and
    `closes`.

    Where `text` and `json` are the same, what reads the value asks the tool's schema. `escaped`: how the
    closing tag is written inside a string; empty where it cannot be.
    """

    opens: str
    text: str
    json: str
    closes: str
    names: Names
    escaped: str = ""

    @property
    def tells(self) -> bool:
        """Whether the markup says what is a string."""
        return self.text != self.json


@dataclass(frozen=True, slots=True)
class Written:
    """`gap` stands between the answer's text, if there is any, and `before`. Without `parameters` the
    arguments are one JSON object.

    A format of messages: `text` is the header of the visible text, `note` that of text before calls, `turn`
    what stands between two messages.

    `needs` is a vocabulary's entry without which calls are written in the way of `otherwise`.
    """

    opens: str
    named: str
    closes: str
    names: Names
    separators: Separators
    gap: str = ""
    before: str = ""
    between: str = ""
    after: str = ""
    parameters: Parameters | None = None
    text: str = ""
    note: str = ""
    turn: str = ""
    needs: str = ""
    otherwise: "Written | None" = None

    def by(self, vocabulary: Container[str]) -> "Written":
        """The way for a vocabulary with these entries."""
        if self.otherwise is None or self.needs in vocabulary:
            return self
        return self.otherwise.by(vocabulary)
