"""Messages of the wire into messages of `core`: one turn of the user's may be several of these.

Rules of this file:
- A turn keeps its place. System text is never moved to the top: that would change the prompt's beginning.
- Results stand before whatever else the user's turn holds: they answer the calls right above them.
- The string form and the block form of the same text give the same message.
"""

from collections.abc import Iterator, Sequence

import orjson

from ds4.api.anthropic.blocks import Block, blocks_of, joined, text_of
from ds4.api.anthropic.tools import Toolbox
from ds4.api.sealed import Seals
from ds4.core.errors import BadRequest
from ds4.core.messages import Message, Role, TextPart, Tool, ToolCall

ROLES = ("user", "assistant", "system")
NO_IMAGES = "this server cannot show images to the model: leave them out of the conversation"


def messages_of(role: str, content: object, path: str, tools: Toolbox, seals: Seals) -> Iterator[Message]:
    """`path` is where the turn stands in the request, `seals` are those of the request. Raises BadRequest."""
    if role not in ROLES:
        raise BadRequest(f"{path}.role must be one of {', '.join(ROLES)}", param=f"{path}.role")
    blocks = blocks_of(content, f"{path}.content")
    match role:
        case "assistant":
            yield _answer(blocks, seals)
        case "system":
            yield _said(Role.SYSTEM, blocks, tools)
        case _:
            yield from _user(blocks, tools)


def _user(blocks: Sequence[Block], tools: Toolbox) -> Iterator[Message]:
    results = [block for block in blocks if block.kind == "tool_result"]
    others = [block for block in blocks if block.kind != "tool_result"]
    for block in results:
        yield _result(block, tools)
    # Next to results it is a tool's image, sent by the client itself: refused it would end the session.
    pictures = [block for block in others if block.kind == "image"]
    if pictures and not results:
        raise BadRequest(NO_IMAGES, param=pictures[0].path)
    message = _said(Role.USER, others, tools)
    if message.content or message.tools or not results:
        yield message


def _said(role: Role, blocks: Sequence[Block], tools: Toolbox) -> Message:
    text, late = _with_tools(blocks, tools)
    return Message(role, _parts(text), tools=late)


def _result(block: Block, tools: Toolbox) -> Message:
    text, late = _with_tools(block.inner("content"), tools)
    if block.fields.get("is_error") is True:
        text = _as_error(text)
    return Message(Role.TOOL, _parts(text), tool_call_id=block.string("tool_use_id"), tools=late)


def _as_error(text: str) -> str:
    """The model is told in words, unless the tool's own words say it."""
    says_so = text.lstrip("<([ ").lower().startswith(("error", "tool_use_error", "exit code"))
    return text if says_so else joined(("Error:", text))


def _with_tools(blocks: Sequence[Block], tools: Toolbox) -> tuple[str, tuple[Tool, ...]]:
    """The text of `blocks`, and the tools they make known. One that is in the list already is named."""
    texts: list[str] = []
    late: dict[str, Tool] = {}
    for block in blocks:
        name = _referenced(block)
        if not name:
            texts.append(text_of(block))
        elif name in tools.deferred:
            late[name] = tools.deferred[name]
        else:
            texts.append(f"[tool {name}]")
    return joined(texts), tuple(late.values())


def _referenced(block: Block) -> str:
    if block.kind == "tool_addition":
        inside = block.fields.get("tool")
        block = Block("tool_reference", block.path, inside if isinstance(inside, dict) else {})
    if block.kind != "tool_reference":
        return ""
    return block.string("tool_name") or block.string("name")


def _answer(blocks: Sequence[Block], seals: Seals) -> Message:
    thoughts = [thought for block in blocks if (thought := _thought(block, seals))]
    # Unlike the user's, the pieces of an answer were one text when they were written.
    text = "".join(text_of(block) for block in blocks if block.kind not in _APART)
    calls = tuple(_call(block) for block in blocks if block.kind == "tool_use" and block.string("name"))
    return Message(Role.ASSISTANT, _parts(text), reasoning="\n\n".join(thoughts) or None, tool_calls=calls)


def leaves_out(content: object) -> bool:
    """Whether something of a turn is in no message: calls without a name, or of tools that a vendor ran."""
    return isinstance(content, list) and any(map(_is_left_out, content))


def _is_left_out(block: object) -> bool:
    match block:
        case {"type": "tool_use", "name": str(name)}:
            return not name
        case {"type": "tool_use" | "server_tool_use" | "mcp_tool_use"}:
            return True
        case _:
            return False


_APART = ("thinking", "redacted_thinking", "tool_use", "server_tool_use", "mcp_tool_use")


def _thought(block: Block, seals: Seals) -> str:
    """Words that the client changed count; where it sends none, the signature has them."""
    match block.kind:
        case "thinking":
            said = block.string("thinking")
            return said if said.strip() else seals.open(block.string("signature")) or ""
        case "redacted_thinking":
            return seals.open(block.string("data")) or ""
        case _:
            return ""


def _call(block: Block) -> ToolCall:
    value = block.fields.get("input")
    arguments = value if isinstance(value, str) else orjson.dumps({} if value is None else value).decode()
    return ToolCall(block.string("id"), block.string("name"), arguments)


def _parts(text: str) -> tuple[TextPart, ...]:
    return (TextPart(text),) if text else ()
