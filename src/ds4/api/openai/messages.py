"""Chat messages: the wire's many forms of content, reasoning and calls into `core.messages`.

Nothing can show images here. A user who sends one is told so; a tool's image is left out with a word, since
the client sends it again with every turn and a refusal would end the session.
"""

from collections.abc import Sequence
from typing import Annotated, Any

import orjson
from pydantic import Field

from ds4.api.validate import Body
from ds4.core.constraint import INPUT
from ds4.core.errors import BadRequest, Unsupported
from ds4.core.messages import Message, Role, TextPart, ToolCall

ROLES = {**{role.value: role for role in Role}, "function": Role.TOOL}
NO_IMAGES = "this server cannot show images to the model: leave them out of the conversation"
IMAGE_LEFT_OUT = "[image left out: this server cannot show images to the model]"
FILE_LEFT_OUT = "[file {name}left out: this server cannot show files to the model]"


class FunctionBody(Body):
    name: str = ""
    arguments: Any = None


class CustomBody(Body):
    name: str = ""
    input: Any = None


class CallBody(Body):
    id: str = ""
    function: FunctionBody = FunctionBody()
    custom: CustomBody = CustomBody()


class MessageBody(Body):
    role: Annotated[str, Field(json_schema_extra={"enum": [*ROLES]})] = "user"
    content: Any = None
    reasoning_content: Any = None
    reasoning: Any = None
    tool_calls: list[CallBody] = Field(default_factory=list)
    function_call: FunctionBody | None = None
    tool_call_id: str | None = None
    name: str | None = None


def messages_of(bodies: Sequence[MessageBody]) -> tuple[Message, ...]:
    """Agents send a tool's images behind its answer, as a user's turn. Raises BadRequest."""
    tools = [ROLES.get(body.role) is Role.TOOL for body in bodies]
    behind = [False, *tools]
    return tuple(
        message_of(body, f"messages.{number}", images=tools[number] or behind[number])
        for number, body in enumerate(bodies)
    )


def message_of(body: MessageBody, path: str, *, images: bool = False) -> Message:
    """`path` is where the message stands in the request, `images` whether they may be in it.

    Raises BadRequest.
    """
    if body.role not in ROLES:
        known = ", ".join(ROLES)
        raise BadRequest(f"{path}.role must be one of {known}", param=f"{path}.role")
    return Message(
        role=ROLES[body.role],
        content=_content(body.content, f"{path}.content", images=images),
        reasoning=_reasoning(body, path),
        tool_calls=_calls(body),
        tool_call_id=body.tool_call_id,
        name=body.name,
    )


def _content(value: object, path: str, *, images: bool = False) -> tuple[TextPart, ...]:
    if value is None:
        return ()
    if isinstance(value, str):
        return (TextPart(value),)
    if not isinstance(value, list):
        raise BadRequest(f"{path} must be a string, null or an array of parts", param=path)
    texts = [_part_text(part, f"{path}.{number}", images) for number, part in enumerate(value)]
    return tuple(TextPart(text) for text in texts if text)


def _part_text(part: object, path: str, images: bool) -> str:
    """The text of a part. Kinds nobody here knows keep their text, if they have any."""
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        raise BadRequest(f"{path} must be an object", param=path)
    match part.get("type"):
        case "image_url" | "input_image" | "image":
            if not images:
                raise BadRequest(NO_IMAGES, param=path)
            return IMAGE_LEFT_OUT
        case "input_audio":
            raise Unsupported(path, "is audio, which is not supported by this server")
        case "file":
            return FILE_LEFT_OUT.format(name=_file_name(part.get("file")))
        case "refusal":
            text = part.get("refusal")
        case _:
            text = part.get("text")
    return text if isinstance(text, str) else ""


def _file_name(file: object) -> str:
    name = file.get("filename") if isinstance(file, dict) else None
    return f"{name} " if isinstance(name, str) and name else ""


def _reasoning(body: MessageBody, path: str) -> str | None:
    if body.reasoning_content is not None:
        parts = _content(body.reasoning_content, f"{path}.reasoning_content")
        return "".join(part.text for part in parts) or None
    return body.reasoning if isinstance(body.reasoning, str) and body.reasoning else None


def _calls(body: MessageBody) -> tuple[ToolCall, ...]:
    """Calls without a name are dropped: nothing could be rendered for them."""
    calls = [*map(_call, body.tool_calls)]
    if body.function_call is not None:
        calls.append(_call(CallBody(function=body.function_call)))
    return tuple(call for call in calls if call.name)


def _call(body: CallBody) -> ToolCall:
    if body.function.name:
        return ToolCall(body.id, body.function.name, _arguments(body.function.arguments))
    given = body.custom.input
    raw = "" if given is None else _arguments(given)
    return ToolCall(body.id, body.custom.name, orjson.dumps({INPUT: raw}).decode())


def _arguments(value: object) -> str:
    if value is None:
        return "{}"
    return value if isinstance(value, str) else orjson.dumps(value).decode()
