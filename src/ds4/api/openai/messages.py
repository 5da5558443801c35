"""Chat messages: the wire's many forms of content, reasoning and calls into `core.messages`."""

from typing import Annotated, Any

import orjson
from pydantic import Field

from ds4.api.validate import Body
from ds4.core.errors import BadRequest, Unsupported
from ds4.core.messages import Message, Role, TextPart, ToolCall

ROLES = {**{role.value: role for role in Role}, "function": Role.TOOL}
NO_IMAGES = "image input requires starting ds4-server with --vision FILE"


class FunctionBody(Body):
    name: str = ""
    arguments: Any = None


class CallBody(Body):
    id: str = ""
    function: FunctionBody = FunctionBody()


class MessageBody(Body):
    role: Annotated[str, Field(json_schema_extra={"enum": [*ROLES]})] = "user"
    content: Any = None
    reasoning_content: Any = None
    reasoning: Any = None
    tool_calls: list[CallBody] = Field(default_factory=list)
    function_call: FunctionBody | None = None
    tool_call_id: str | None = None
    name: str | None = None


def message_of(body: MessageBody, path: str) -> Message:
    """`path` is where the message stands in the request. Raises BadRequest."""
    if body.role not in ROLES:
        known = ", ".join(ROLES)
        raise BadRequest(f"{path}.role must be one of {known}", param=f"{path}.role")
    return Message(
        role=ROLES[body.role],
        content=_content(body.content, f"{path}.content"),
        reasoning=_reasoning(body, path),
        tool_calls=_calls(body),
        tool_call_id=body.tool_call_id,
        name=body.name,
    )


def _content(value: object, path: str) -> tuple[TextPart, ...]:
    if value is None:
        return ()
    if isinstance(value, str):
        return (TextPart(value),)
    if not isinstance(value, list):
        raise BadRequest(f"{path} must be a string, null or an array of parts", param=path)
    texts = [_part_text(part, f"{path}.{number}") for number, part in enumerate(value)]
    return tuple(TextPart(text) for text in texts if text)


def _part_text(part: object, path: str) -> str:
    """The text of a part. Kinds nobody here knows keep their text, if they have any."""
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        raise BadRequest(f"{path} must be an object", param=path)
    kind = part.get("type")
    if kind in ("image_url", "input_image", "image"):
        raise BadRequest(NO_IMAGES, param=path)
    if kind == "input_audio":
        raise Unsupported(path, "is audio, which is not supported by this server")
    text = part.get("refusal" if kind == "refusal" else "text")
    return text if isinstance(text, str) else ""


def _reasoning(body: MessageBody, path: str) -> str | None:
    if body.reasoning_content is not None:
        parts = _content(body.reasoning_content, f"{path}.reasoning_content")
        return "".join(part.text for part in parts) or None
    return body.reasoning if isinstance(body.reasoning, str) and body.reasoning else None


def _calls(body: MessageBody) -> tuple[ToolCall, ...]:
    """Calls without a name are dropped: nothing could be rendered for them."""
    functions = [(call.id, call.function) for call in body.tool_calls]
    if body.function_call is not None:
        functions.append(("", body.function_call))
    return tuple(ToolCall(id_, f.name, _arguments(f.arguments)) for id_, f in functions if f.name)


def _arguments(value: object) -> str:
    if value is None:
        return "{}"
    return value if isinstance(value, str) else orjson.dumps(value).decode()
