"""Tools that become known in the middle of a conversation: their definitions as text, where that happens.

The list at the head of the prompt stays as it was, and with it the whole cached prefix.
"""

from dataclasses import replace

from ds4.core.messages import Conversation, Message, TextPart
from ds4.prompt.layouts.chat import schema_lines
from ds4.prompt.layouts.values import wrapped

HEAD = "From here on you can also call these functions. Each line is the JSON schema of one:\n"


def with_late_tools(conversation: Conversation, *, wraps: bool) -> Conversation:
    """The same conversation with such definitions turned into text. `wraps`: as the model's layout says.

    Raises BadRequest on a tool that is not JSON.
    """
    if not any(message.tools for message in conversation.messages):
        return conversation
    messages = tuple(_spelled_out(message, wraps=wraps) for message in conversation.messages)
    return replace(conversation, messages=messages)


def _spelled_out(message: Message, *, wraps: bool) -> Message:
    if not message.tools:
        return message
    schemas = schema_lines(message.tools)
    lines = "\n".join(map(wrapped, schemas) if wraps else schemas)
    gap = "\n\n" if message.text else ""
    return replace(message, content=(*message.content, TextPart(gap + HEAD + lines)), tools=())
