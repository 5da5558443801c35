"""A conversation as an agent holds it, and the body it sends: its whole history, each time.

What came back is sent again as the real clients do: text as it was, tool calls as JSON that was parsed and
written anew (chat, messages) or as it came (responses), reasoning under the name or the seal it came with.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from bench.shapes import Api, Shape, Tool, filler

Json = dict[str, object]

BILLING = "x-anthropic-billing-header: cc_version=2.1.332.{}; cc_entrypoint=sdk-cli;"
"""Claude Code's first system text. Its last part is another one for what is asked beside the conversation."""


@dataclass(frozen=True, slots=True)
class Call:
    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Answer:
    """`items` are the answer's own of the Responses API, `signature` that of a thinking block."""

    text: str = ""
    reasoning: str = ""
    signature: str = ""
    calls: tuple[Call, ...] = ()
    items: tuple[Json, ...] = ()


@dataclass(frozen=True, slots=True)
class User:
    text: str


@dataclass(frozen=True, slots=True)
class Results:
    """One for each call, in order, as (id of the call, what the tool said)."""

    said: tuple[tuple[str, str], ...]


Turn = User | Results | Answer


def body(shape: Shape, turns: Sequence[Turn], max_tokens: int, name: str = "") -> Json:
    """Greedy and streamed. `name` makes the system text another one."""
    write = {Api.CHAT: _chat, Api.MESSAGES: _messages, Api.RESPONSES: _responses}[shape.api]
    limit = "max_output_tokens" if shape.api is Api.RESPONSES else "max_tokens"
    common: Json = {"model": "any", "stream": True, "temperature": 0, limit: max_tokens}
    return {**shape.fields, **common, **write(shape, turns, name)}


def side_request(shape: Shape, about: str) -> Json:
    """What an agent asks beside the conversation: a title for it. No tools, a system text of its own."""
    side = Shape(shape.client, shape.api, (2096,), (), 0, (), {})
    return body(side, [User(f"Generate a title for this conversation:\n{about}")], 16, "title")


def _chat(shape: Shape, turns: Sequence[Turn], name: str) -> Json:
    messages: list[Json] = [{"role": "system", "content": "\n".join(_system(shape, name))}]
    for turn in turns:
        match turn:
            case User(text):
                messages.append({"role": "user", "content": text})
            case Results(said):
                messages += [{"role": "tool", "tool_call_id": call, "content": text} for call, text in said]
            case Answer():
                messages.append(_chat_answer(turn))
    functions = [
        {"type": "function", "function": {**_told(tool), "parameters": tool.schema}} for tool in shape.tools
    ]
    tools = {"tools": functions} if functions else {}
    return {"messages": messages, "stream_options": {"include_usage": True}, **tools}


def _chat_answer(answer: Answer) -> Json:
    said: Json = {"role": "assistant", "content": answer.text or None}
    if answer.reasoning:
        said["reasoning_content"] = answer.reasoning
    if answer.calls:
        said["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": _rewritten(call.arguments)},
            }
            for call in answer.calls
        ]
    return said


def _messages(shape: Shape, turns: Sequence[Turn], name: str) -> Json:
    billing = BILLING.format("b11" if name else "eaf")
    system = [{"type": "text", "text": text} for text in (billing, *_system(shape, name))]
    messages: list[Json] = []
    for index, turn in enumerate(turns):
        match turn:
            case User(text):
                before = [_text(part) for part in _context(shape)] if index == 0 else []
                messages.append({"role": "user", "content": [*before, _text(text)]})
            case Results(said):
                blocks = [
                    {"type": "tool_result", "tool_use_id": call, "content": text} for call, text in said
                ]
                messages.append({"role": "user", "content": blocks})
            case Answer():
                messages.append({"role": "assistant", "content": _blocks(turn)})
        if index == 0 and shape.late_system:
            messages.append({"role": "system", "content": filler("late system", shape.late_system)})
    tools = [{**_told(tool), "input_schema": tool.schema} for tool in shape.tools]
    return {"system": system, "messages": messages, **({"tools": tools} if tools else {})}


def _blocks(answer: Answer) -> list[Json]:
    blocks: list[Json] = []
    if answer.reasoning:
        blocks.append({"type": "thinking", "thinking": answer.reasoning, "signature": answer.signature})
    if answer.text:
        blocks.append(_text(answer.text))
    blocks += [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": json.loads(call.arguments or "{}")}
        for call in answer.calls
    ]
    return blocks or [_text("(no content)")]


def _responses(shape: Shape, turns: Sequence[Turn], name: str) -> Json:
    items: list[Json] = [_item("developer", text) for text in _system(shape, name)]
    items += [_item("user", text) for text in _context(shape)]
    for turn in turns:
        match turn:
            case User(text):
                items.append(_item("user", text))
            case Results(said):
                items += [
                    {"type": "function_call_output", "call_id": call, "output": text} for call, text in said
                ]
            case Answer():
                items += turn.items
    return {"input": items, **({"tools": _namespaced(shape.tools)} if shape.tools else {})}


def _namespaced(tools: Sequence[Tool]) -> list[Json]:
    found: list[Json] = []
    spaces: dict[str, list[Json]] = {}
    for tool in tools:
        told: Json = {"type": "function", **_told(tool), "parameters": tool.schema, "strict": False}
        if not tool.namespace:
            found.append(told)
        elif tool.namespace in spaces:
            spaces[tool.namespace].append(told)
        else:
            spaces[tool.namespace] = inside = [told]
            found.append({"type": "namespace", "name": tool.namespace, "description": "", "tools": inside})
    return found


def _system(shape: Shape, name: str) -> list[str]:
    return [filler(f"system {name} {index}", size) for index, size in enumerate(shape.system)]


def _context(shape: Shape) -> list[str]:
    return [filler(f"context {index}", size) for index, size in enumerate(shape.context)]


def _told(tool: Tool) -> Json:
    return {"name": tool.name, "description": tool.description}


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _item(role: str, text: str) -> Json:
    return {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}


def _rewritten(arguments: str) -> str:
    """As JavaScript writes JSON."""
    return json.dumps(json.loads(arguments or "{}"), separators=(",", ":"), ensure_ascii=False)
