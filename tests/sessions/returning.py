"""The ids of a recording become ours: what this server called its answers is what the agent sends back."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from recordings import Json

Names = dict[str, list[str]]
"""By kind, in the order of the answer: calls, items, and what only this server can read."""


def names_in(items: Iterable[Json]) -> Names:
    """Of messages or items of any API that are one answer."""
    found: Names = defaultdict(list)
    for item in items:
        for kind, name in _names(item):
            found[kind].append(name)
    return found


def _names(item: Json) -> Iterator[tuple[str, str]]:
    for call in item.get("tool_calls") or ():
        yield "call", call["id"]
    content = item.get("content")
    for block in content if isinstance(content, list) else ():
        if block["type"] == "tool_use":
            yield "call", block["id"]
        elif block["type"] == "thinking":
            yield "signature", block["signature"]
    if item.get("call_id"):
        yield "call", item["call_id"]
    if item.get("encrypted_content"):
        yield "sealed", item["encrypted_content"]
    if item.get("id"):
        # References have no type of their own.
        kind = item["type"]
        yield kind if kind != "item_reference" else _REFERRED[item["id"].partition("_")[0]], item["id"]


_REFERRED = {"rs": "reasoning", "msg": "message", "fc": "function_call"}


def mapped(recorded: Names, ours: Names) -> dict[str, str]:
    """Recorded names to ours. Raises ValueError where this server has not named the same things."""
    return {
        theirs: name
        for kind, names in recorded.items()
        for theirs, name in zip(names, ours.get(kind, []), strict=True)
    }


def renamed(value: Any, names: dict[str, str]) -> Any:
    """The same JSON with every string that is a name exchanged."""
    if isinstance(value, dict):
        return {key: renamed(item, names) for key, item in value.items()}
    if isinstance(value, list):
        return [renamed(item, names) for item in value]
    return names.get(value, value) if isinstance(value, str) else value


def answered(path: str, body: bytes) -> list[Json]:
    """An answer of this server, streamed or not, as messages or items that have its names."""
    text = body.decode()
    if text.startswith("{"):
        return _whole(path, json.loads(text))
    events = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: {")]
    return _STREAMS[path](events)


def _whole(path: str, value: Json) -> list[Json]:
    match path:
        case "/v1/messages":
            return [{"content": value["content"]}]
        case "/v1/responses":
            return list(value["output"])
        case _:
            return [value["choices"][0]["message"]]


def _chat_stream(events: list[Json]) -> list[Json]:
    deltas = [choice["delta"] for event in events for choice in event["choices"]]
    calls = [call for delta in deltas for call in delta.get("tool_calls") or () if "id" in call]
    return [{"tool_calls": calls}]


def _messages_stream(events: list[Json]) -> list[Json]:
    blocks = [event["content_block"] for event in events if event["type"] == "content_block_start"]
    for event in events:
        if event["type"] == "content_block_delta" and event["delta"]["type"] == "signature_delta":
            blocks[event["index"]]["signature"] = event["delta"]["signature"]
    return [{"content": blocks}]


def _responses_stream(events: list[Json]) -> list[Json]:
    last = events[-1]
    if last["type"] != "response.completed":
        raise AssertionError(f"the answer ended with {last['type']}")
    return list(last["response"]["output"])


_STREAMS = {
    "/v1/chat/completions": _chat_stream,
    "/v1/messages": _messages_stream,
    "/v1/responses": _responses_stream,
}
