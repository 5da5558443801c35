"""A conversation as layouts write it: one kind of system message, results in the order of their calls."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from ds4.core.errors import BadRequest, Unsupported
from ds4.core.messages import Conversation, ImagePart, Message, Role, Tool, ToolCall
from ds4.core.thoughts import split_thoughts
from ds4.formats.preamble import Preamble
from ds4.formats.thinking import Effort
from ds4.formats.written import SPACED
from ds4.prompt.json_text import dump, parse
from ds4.prompt.results import in_call_order


@dataclass(frozen=True, slots=True)
class Entry:
    """One message. `index` is its place in the client's list. A developer message is a SYSTEM one.

    A user message that follows results is no question: what clients add there (reminders, mostly) belongs
    to the loop of calls that goes on.
    """

    index: int
    role: Role
    text: str
    reasoning: str = ""
    calls: tuple[ToolCall, ...] = ()
    is_question: bool = False


@dataclass(frozen=True, slots=True)
class Chat:
    """`lead` are the system messages at the beginning, `entries` all that follow them, `size` is how many
    messages there are. `tools` are schemas as JSON text. `continues`: the last entry is an answer to go
    on with. `generates`: the prompt ends where an answer begins. `last_question` is an index, -1 without one.
    """

    lead: tuple[Entry, ...]
    entries: tuple[Entry, ...]
    size: int
    tools: tuple[str, ...]
    preamble: Preamble
    tools_first: bool
    thinks: bool
    effort: Effort | None
    think_max: str
    continues: bool
    generates: bool
    last_question: int

    @property
    def with_tools(self) -> bool:
        """Tools are in play, now or earlier."""
        return bool(self.tools) or any(e.calls or e.role is Role.TOOL for e in self.entries)

    def last(self, *roles: Role) -> int:
        """The index of the last entry of these roles, -1 without one."""
        return max((entry.index for entry in self.entries if entry.role in roles), default=-1)

    def open_ended(self, entry: Entry) -> bool:
        """Whether the prompt ends inside this entry."""
        return self.continues and entry is self.entries[-1]


def entries(messages: Sequence[Message]) -> tuple[Entry, ...]:
    """Raises Unsupported on images."""
    return tuple(
        _entry(index, messages[index], follows_result=index > 0 and messages[index - 1].role is Role.TOOL)
        for index in in_call_order(messages)
    )


def runs(given: Iterable[Entry]) -> Iterator[tuple[Entry, ...]]:
    """Results that follow one another together, every other entry by itself."""
    for is_result, run in groupby(given, lambda entry: entry.role is Role.TOOL):
        if is_result:
            yield tuple(run)
        else:
            yield from ((entry,) for entry in run)


def schema_lines(tools: Iterable[Tool]) -> tuple[str, ...]:
    """Raises BadRequest on a tool that is not JSON."""
    return tuple(map(_schema_line, tools))


def is_continued(conversation: Conversation) -> bool:
    """A last answer is gone on with; a turn of calls is complete, what comes next are results."""
    last = conversation.messages[-1]
    return last.role is Role.ASSISTANT and not last.tool_calls


def _entry(index: int, message: Message, *, follows_result: bool) -> Entry:
    if any(isinstance(part, ImagePart) for part in message.content):
        raise Unsupported("messages", "contain an image, which this model's prompt format cannot take")
    reasoning, text = split_thoughts(message, message.text)
    role = Role.SYSTEM if message.role is Role.DEVELOPER else message.role
    is_question = role is Role.USER and not follows_result
    return Entry(index, role, text, reasoning, message.tool_calls, is_question)


def _schema_line(tool: Tool) -> str:
    try:
        return dump(parse(tool.raw), SPACED)
    except ValueError as error:
        raise BadRequest(f"the tool {tool.name} is not valid JSON: {error}", param="tools") from error
