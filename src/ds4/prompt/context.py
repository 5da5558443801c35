"""A conversation as the variables that chat templates read (the Hugging Face shape), client text marked.

The variables are dicts and lists because that is what templates index; they do not leave this package.
"""

import hashlib
from enum import Enum
from typing import assert_never

from ds4.core.errors import BadRequest, Unsupported
from ds4.core.messages import Conversation, ImagePart, Message, Role, TextPart, Tool, ToolCall
from ds4.core.thoughts import given_reasoning, split_thoughts
from ds4.formats.thinking import Mode
from ds4.prompt.marks import Arguments, Client, Mixed, Option, OurText, parse
from ds4.prompt.traits import Traits

_RESERVED = frozenset({"messages", "tools"})


class ArgumentStyle(Enum):
    """How tool call arguments reach the template.

    Most templates want a mapping (`arguments.items()`, `arguments|tojson`): handed text, these fail or
    print JSON inside a JSON string, which teaches the model to answer like that. A few want text. Which
    one shows only by trying, so a failed render is repeated in the next style.
    """

    NATURAL = "a mapping where the text is a JSON object, else the text"
    TEXT = "always the text"
    MAPPING = "always a mapping; text that is no object becomes its only value"


def variables(
    conversation: Conversation, traits: Traits, style: ArgumentStyle, mode: Mode
) -> dict[str, object]:
    """Raises BadRequest on template arguments or tools that are not JSON, Unsupported on images."""
    values: dict[str, object] = {
        "messages": [_message(m, traits, style) for m in conversation.messages],
        "tools": [_tool(tool) for tool in conversation.tools] or None,
        "add_generation_prompt": True,
    }
    if mode.enabled is not None:
        values |= {"enable_thinking": mode.enabled, "thinking": mode.enabled}
    if mode.effort is not None:
        values["reasoning_effort"] = Option(mode.effort) if isinstance(mode.effort, str) else mode.effort
    for name, text in conversation.template_args:
        values[name] = _template_arg(name, text)
    return values


def _template_arg(name: str, text: str) -> object:
    if name in _RESERVED:
        raise BadRequest(f"{name} cannot be given as a template argument", param="chat_template_kwargs")
    try:
        return parse(text, Option)
    except ValueError as error:
        raise BadRequest(f"{name} is not valid JSON: {error}", param="chat_template_kwargs") from error


def _tool(tool: Tool) -> dict[str, object]:
    try:
        return {"type": "function", "function": parse(tool.raw)}
    except ValueError as error:
        raise BadRequest(f"the tool {tool.name} is not valid JSON: {error}", param="tools") from error


def _message(message: Message, traits: Traits, style: ArgumentStyle) -> dict[str, object]:
    if any(isinstance(part, ImagePart) for part in message.content):
        raise Unsupported("messages", "contain an image, which this model's template cannot take")
    reasoning, content = _thoughts(message, traits)
    if traits.channels and message.tool_calls and reasoning and str(content).strip():
        reasoning, content = f"{reasoning}\n\n{content}", Client("")
    # Absent content is empty text: templates concatenate it.
    values: dict[str, object] = {"role": _role(message.role, traits), "content": content}
    if reasoning:
        values[traits.reasoning_key] = Client(reasoning)
    if message.tool_calls:
        values["tool_calls"] = [_call(call, traits, style) for call in message.tool_calls]
    if message.tool_call_id is not None:
        values["tool_call_id"] = _call_id(message.tool_call_id, traits)
    if message.name is not None:
        values["name"] = Client(message.name)
    return values


def _role(role: Role, traits: Traits) -> str:
    return Role.SYSTEM.value if role is Role.DEVELOPER and not traits.developer else role.value


def _thoughts(message: Message, traits: Traits) -> tuple[str, Client | Mixed]:
    """(reasoning, content). Line ends around reasoning are the template's affair.

    Templates find earlier reasoning by its tags in the content, which the guard hides from them; so
    tagged text at the start of an answer moves to where they look first.
    """
    parts = [part for part in message.content if isinstance(part, TextPart)]
    ours = [i for i, part in enumerate(parts) if isinstance(part, OurText)]
    client = parts[: ours[0]] if ours else parts
    text = "".join(part.text for part in client)
    reasoning = given_reasoning(message)
    if traits.splits_thinking:
        reasoning, text = split_thoughts(message, text)
    rest = (part.text if isinstance(part, OurText) else Client(part.text) for part in parts[len(client) :])
    content = Mixed((Client(text), *rest)) if ours else Client(text)
    return reasoning.strip("\n"), content


def _call(call: ToolCall, traits: Traits, style: ArgumentStyle) -> dict[str, object]:
    function = {"name": Client(call.name), "arguments": _arguments(call.arguments, style)}
    return {"id": _call_id(call.id, traits), "type": "function", "function": function}


def _arguments(text: str, style: ArgumentStyle) -> Arguments | Client:
    if style is ArgumentStyle.TEXT:
        return Client(text)
    try:
        value = parse(text if text.strip() else "{}")
    except ValueError:
        value = None
    if isinstance(value, dict):
        return Arguments(value, text)
    match style:
        case ArgumentStyle.NATURAL:
            return Client(text)
        case ArgumentStyle.MAPPING:
            return Arguments({"arguments": Client(text)}, text)
        case _:
            assert_never(style)


def _call_id(call_id: str, traits: Traits) -> Client:
    if not traits.short_ids or (len(call_id) == 9 and call_id.isalnum()):
        return Client(call_id)
    return Client(hashlib.blake2b(call_id.encode(errors="replace")).hexdigest()[:9])
