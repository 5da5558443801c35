"""Tools for templates that know none: as text, in turns that every template takes.

The definitions join the system turn; a call is text of the assistant's turn; results are a user turn.
So a template that insists on alternating roles has nothing to refuse. The tags are ours: where the
vocabulary has control tokens for them, they are those tokens.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby

from ds4.core.messages import Conversation, Message, Part, Role, TextPart, Tool
from ds4.formats.preamble import HERMES_JSON
from ds4.formats.tools import hermes_json
from ds4.prompt.folding import GAP, SYSTEM_ROLES
from ds4.prompt.layouts.calls import call_parts
from ds4.prompt.layouts.chat import schema_lines
from ds4.prompt.layouts.hermes import END_RESULT, RESULT
from ds4.prompt.layouts.values import wrapped
from ds4.prompt.marks import OurText
from ds4.prompt.options import PromptOptions
from ds4.prompt.results import in_call_order


def uses_tools(conversation: Conversation) -> bool:
    return bool(conversation.tools) or any(
        message.tool_calls or message.role is Role.TOOL for message in conversation.messages
    )


def without_tools(conversation: Conversation, options: PromptOptions) -> Conversation:
    """The same conversation with its tools turned into text. Raises BadRequest on a tool that is not JSON."""
    messages = tuple(_as_text(conversation.messages))
    if conversation.tools:
        messages = _with_definitions(messages, _definitions(conversation.tools, options), options)
    return replace(conversation, messages=messages, tools=())


def text_of(tools: tuple[Tool, ...], options: PromptOptions) -> str:
    """How they stand in the first message, empty without any. Raises BadRequest on one that is not JSON."""
    parts = _definitions(tools, options) if tools else ()
    return "".join(part.text for part in parts)


def _as_text(messages: tuple[Message, ...]) -> Iterator[Message]:
    ordered = (messages[index] for index in in_call_order(messages))
    for is_result, run in groupby(ordered, lambda message: message.role is Role.TOOL):
        if is_result:
            parts = [part for message in run for part in _result(message)]
            yield Message(Role.USER, tuple(parts[:-1]))
            continue
        for message in run:
            yield replace(message, content=message.content + _calls(message), tool_calls=())


def _result(message: Message) -> tuple[Part, ...]:
    return (OurText(RESULT), *message.content, OurText(END_RESULT), OurText("\n"))


def _calls(message: Message) -> tuple[Part, ...]:
    before = "text" if message.content else ""
    parts = call_parts(message.tool_calls, hermes_json.HERMES_JSON.written, before)
    return tuple(OurText(part.text) if part.ours else TextPart(part.text) for part in parts)


def _definitions(tools: tuple[Tool, ...], options: PromptOptions) -> tuple[TextPart, ...]:
    preamble = options.preamble or HERMES_JSON
    schemas = "\n".join(map(wrapped, schema_lines(tools)))
    return OurText(preamble.head), TextPart(schemas), OurText(preamble.tail)


def _with_definitions(
    messages: tuple[Message, ...], definitions: tuple[Part, ...], options: PromptOptions
) -> tuple[Message, ...]:
    if messages[0].role not in SYSTEM_ROLES:
        return Message(Role.SYSTEM, definitions), *messages
    system = messages[0].content
    gap = (OurText(GAP),) if messages[0].text else ()
    content = (*definitions, *gap, *system) if options.tools_first else (*system, *gap, *definitions)
    return replace(messages[0], content=content), *messages[1:]
