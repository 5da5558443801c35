"""A conversation in no vendor's wire format. `api/` parses into it, `prompt/` renders it."""

from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    SYSTEM = "system"
    DEVELOPER = "developer"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class TextPart:
    text: str


@dataclass(frozen=True, slots=True)
class ImagePart:
    """Undecoded image bytes as the client sent them."""

    data: bytes
    media_type: str


Part = TextPart | ImagePart


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call the assistant made earlier. `arguments` is the client's text: JSON, or not."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Tool:
    """A function the model may call. `raw` is its JSON object, minified, in the client's key order."""

    name: str
    raw: str


@dataclass(frozen=True, slots=True)
class Message:
    """`tools` may be called from this message on: their definitions stand in it, behind its content."""

    role: Role
    content: tuple[Part, ...] = ()
    reasoning: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    name: str | None = None
    tools: tuple[Tool, ...] = ()

    @property
    def text(self) -> str:
        """The text parts, joined without a separator (what ds4 does with content arrays)."""
        return "".join(part.text for part in self.content if isinstance(part, TextPart))


@dataclass(frozen=True, slots=True)
class Thinking:
    """What the caller asked about reasoning. None everywhere means the family's default."""

    enabled: bool | None = None
    effort: str | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """`template_args` holds the caller's own template variables as (name, JSON text)."""

    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    thinking: Thinking = Thinking()
    template_args: tuple[tuple[str, str], ...] = ()
    namespace: str = ""

    @property
    def callable_tools(self) -> tuple[Tool, ...]:
        """Those of the beginning and those that came later."""
        return (*self.tools, *(tool for message in self.messages for tool in message.tools))
