"""Reads a stream of Messages events the way a strict client does."""

import json
from typing import Any

ALLOWED = {
    "text": {"text_delta"},
    "thinking": {"thinking_delta", "signature_delta"},
    "tool_use": {"input_json_delta"},
}
FIELDS = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}


def events_of(body: bytes) -> list[dict[str, Any]]:
    """The events of a stream; each must be named as its data says."""
    found = []
    for frame in body.decode().split("\n\n")[:-1]:
        name, data = frame.split("\n")
        event = json.loads(data.removeprefix("data: "))
        assert name == f"event: {event['type']}"
        found.append(event)
    return found


def read(body: bytes) -> dict[str, Any]:
    """The message a stream adds up to. Fails on anything out of order; input stays text as `json`."""
    first, *inner, delta, stop = [event for event in events_of(body) if event["type"] != "ping"]
    assert (first["type"], delta["type"], stop["type"]) == ("message_start", "message_delta", "message_stop")
    message: dict[str, Any] = first["message"]
    assert message["content"] == []
    assert message["stop_reason"] is None
    _read_blocks(inner, message["content"])
    message["usage"] |= delta["usage"]
    message |= delta["delta"]
    return message


def _read_blocks(events: list[dict[str, Any]], content: list[dict[str, Any]]) -> None:
    block: dict[str, Any] | None = None
    signed = False
    for event in events:
        assert event["index"] == len(content) - (event["type"] != "content_block_start")
        match event["type"]:
            case "content_block_start":
                assert block is None
                block, signed = event["content_block"], False
                content.append(block)
            case "content_block_delta":
                assert block is not None
                assert not signed, "the signature comes last"
                signed = event["delta"]["type"] == "signature_delta"
                _add(block, event["delta"])
            case "content_block_stop":
                assert block is not None
                assert signed == (block["type"] == "thinking")
                block = None
            case kind:
                raise AssertionError(f"unexpected {kind}")
    assert block is None


def _add(block: dict[str, Any], delta: dict[str, Any]) -> None:
    assert delta["type"] in ALLOWED[block["type"]]
    if block["type"] == "tool_use":
        assert block["input"] == {}
        block["json"] = block.get("json", "") + delta["partial_json"]
    else:
        block[FIELDS[delta["type"]]] += delta[FIELDS[delta["type"]]]


def parsed(message: dict[str, Any]) -> dict[str, Any]:
    """The same message with the inputs of its calls read, as in a whole answer."""
    for block in message["content"]:
        if "json" in block:
            block["input"] = json.loads(block.pop("json"))
    return message


def said(message: dict[str, Any]) -> list[dict[str, Any]]:
    """The blocks that say something: a long wait leaves empty ones."""
    return [
        block
        for block in message["content"]
        if block["type"] == "tool_use" or block.get("text") or block.get("thinking")
    ]
