"""How a model writes reasoning and tool calls, as data: places and the tags that lead from one to the next.

An answer is at one place at any time. The place says what its plain text is and which tags count
there; every other tag is just text. Readers walk the table, and whoever constrains sampling can
walk it too: `Content.free` tells payload, which is sampled as the caller asked, from structure.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from ds4.formats.written import Written

TEXT = "text"
"""The place of visible text in every table. A block that turns out to be no call falls back to it."""


class Content(StrEnum):
    """What stands at a place, between its tags."""

    TEXT = "text"
    REASONING = "reasoning"
    SPACE = "space"
    """Structure: only whitespace and tags belong here."""
    TOOL_NAME = "tool_name"
    """Up to the next tag. Whitespace around it is structure."""
    KEY = "key"
    """A parameter's name, as above."""
    VALUE = "value"
    """A parameter's value, up to the tag that ends it."""
    HEADER = "header"
    """What stands before a message: its channel, and the tool it goes to."""
    IGNORED = "ignored"
    CALL_JSON = "call_json"
    """One JSON object with the tool's name and its arguments; then the place `then`."""
    ARGS_JSON = "args_json"
    """One JSON object, the arguments; then the place `then`."""

    @property
    def free(self) -> bool:
        """Not structure, wherever one looks. JSON and values have both inside."""
        return self in (Content.TEXT, Content.REASONING, Content.VALUE)


class Means(StrEnum):
    """What a tag does besides leading to the next place."""

    NOTHING = "nothing"
    OPEN = "open"
    """Something that may become a call begins. Until its tool is named it may still be text."""
    CALL = "call"
    """Names the tool. Ends a call whose closing is missing."""
    KEY = "key"
    """Names a parameter. Its value begins."""
    INNER_KEY = "inner_key"
    """Names the first parameter inside the parameter before: that value is an object."""
    END_VALUE = "end_value"
    END_OBJECT = "end_object"
    """Ends the object that INNER_KEY began, if there is one."""
    END_CALL = "end_call"
    END_ANSWER = "end_answer"
    """Nothing follows: sampling can stop, if there was a call."""
    LITERAL = "literal"
    """Stands for the text `literal` inside a value."""
    MESSAGE = "message"
    """Ends a header, which decides where to go: to a call, to reasoning or to text."""


class Rest(StrEnum):
    """How a tag goes on after its spelling."""

    NONE = "none"
    NAME = "name"
    """A bare name up to `>`."""
    ATTRIBUTES = "attributes"
    """name="value" pairs up to `>`. `name` names the tool or the parameter."""


@dataclass(frozen=True, slots=True)
class Tag:
    """`to` is the next place. `peek`: the text of the tag belongs to the next place.

    `bare_to`: the next place when there is no `string` attribute.
    """

    spellings: tuple[str, ...]
    means: Means
    to: str
    rest: Rest = Rest.NONE
    peek: bool = False
    bare_to: str | None = None
    literal: str = ""


@dataclass(frozen=True, slots=True)
class Header:
    """How to read a message's header: patterns, and where the message goes.

    `recipient` finds the tool's name in its group 1, `reasoning` whether the message is reasoning.
    """

    recipient: str
    call_to: str
    reasoning: str
    reasoning_to: str


@dataclass(frozen=True, slots=True)
class Place:
    """`skip` is structure at the place's beginning, as much of it as is there.

    `otherwise`: where to go when something else than whitespace and tags stands here.
    `known`: only the names of the caller's tools make a call, since nothing else marks one.
    """

    content: Content
    tags: tuple[Tag, ...] = ()
    skip: str = ""
    otherwise: str | None = None
    then: str = TEXT
    known: bool = False
    header: Header | None = None


Places = Mapping[str, Place]


@dataclass(frozen=True, slots=True)
class Reasoning:
    """The markers around reasoning. The blanks are markup too, as much of them as is there:

    `after_open` and `before_close` inside the reasoning, `after_close` before the text.
    """

    open: str = "<think>"
    close: str = "</think>"
    after_open: str = ""
    before_close: str = ""
    after_close: str = ""


@dataclass(frozen=True, slots=True)
class Channels:
    """Reasoning as one of a format's own channels. `opened` is the place inside it."""

    reasoning: Reasoning
    opened: str


@dataclass(frozen=True, slots=True, eq=False)
class ToolFormat:
    """Each is one of a kind, so that what is made from its table can be kept by it.

    `start` is where an answer begins, when no reasoning stands before it. `written` is the one spelling of
    calls that `places` must read.

    With `channels` the format is read without tools too, and the family's reasoning markers mean
    nothing. `signs`: a chat template that holds one of them writes this format.
    """

    name: str
    places: Places
    signs: tuple[str, ...]
    written: Written
    start: str = TEXT
    channels: Channels | None = None

    @property
    def spellings(self) -> frozenset[str]:
        """All tags. A control token with such a spelling is markup like the text would be."""
        tags = (tag for place in self.places.values() for tag in place.tags)
        return frozenset(spelling for tag in tags for spelling in tag.spellings)
