"""One answer as a client of each API sees it, read from a stream or from a whole document."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import messages_reading
import responses_reading
from pydantic_core import from_json

Json = dict[str, Any]


@dataclass(frozen=True)
class Seen:
    """What every API has a word for. `calls` are names and arguments; of arguments that a limit cut there is
    what a client can still read. `cut`: by a limit."""

    text: str
    reasoning: str
    calls: tuple[tuple[str, object], ...]
    cut: bool
    prompt: int
    completion: int
    thought: int


@dataclass(frozen=True)
class Form:
    """`document`: everything a whole answer says, ids aside. `of_stream` makes the same of a stream."""

    path: str
    seen: Callable[[Json], Seen]
    of_stream: Callable[[bytes], Json]


def read_arguments(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return from_json(text, allow_partial="trailing-strings") if text else {}


def comparable(value: Any) -> Any:
    """Ids only exist: two runs count them differently. A stream has no way to say that there is nothing."""
    if isinstance(value, dict):
        members = {
            key: bool(item) if key in ("id", "call_id") else comparable(item) for key, item in value.items()
        }
        return {key: item for key, item in members.items() if item not in (None, [], {})}
    return [comparable(item) for item in value] if isinstance(value, list) else value


def chunks_of(body: bytes) -> list[Json]:
    *chunks, done = body.decode().removesuffix("\n\n").split("\n\n")
    assert done == "data: [DONE]"
    return [json.loads(chunk.removeprefix("data: ")) for chunk in chunks]


def chat_of_stream(body: bytes) -> Json:
    *chunks, last = chunks_of(body)
    assert last["choices"] == []
    message: Json = {}
    tokens: list[object] = []
    finish = None
    for chunk in chunks:
        (choice,) = chunk["choices"]
        assert finish is None, "nothing follows the finish reason"
        finish = choice["finish_reason"]
        _add_delta(message, dict(choice["delta"]))
        if (logprobs := choice.get("logprobs")) is not None:
            tokens += logprobs["content"]
    choice = {"index": 0, "message": message, "logprobs": {"content": tokens}, "finish_reason": finish}
    return {**last, "object": "chat.completion", "choices": [choice]}


def _add_delta(message: Json, delta: Json) -> None:
    for call in delta.pop("tool_calls", []):
        calls = message.setdefault("tool_calls", [])
        if call["index"] == len(calls):
            calls.append({key: value for key, value in call.items() if key != "index"})
        else:
            calls[call["index"]]["function"]["arguments"] += call["function"]["arguments"]
    for name, text in delta.items():
        message[name] = message.get(name, "") + text


def chat_seen(answer: Json) -> Seen:
    (choice,), usage = answer["choices"], answer["usage"]
    message = choice["message"]
    functions = [call["function"] for call in message.get("tool_calls", ())]
    return Seen(
        message["content"],
        message.get("reasoning_content", ""),
        tuple((f["name"], read_arguments(f["arguments"])) for f in functions),
        choice["finish_reason"] == "length",
        usage["prompt_tokens"],
        usage["completion_tokens"],
        usage["completion_tokens_details"]["reasoning_tokens"],
    )


def responses_of_stream(body: bytes) -> Json:
    return responses_reading.read(body).response


def responses_seen(answer: Json) -> Seen:
    items, usage = answer["output"], answer["usage"]

    def texts(kind: str, field: str) -> str:
        return "".join(part["text"] for item in items if item["type"] == kind for part in item[field])

    return Seen(
        texts("message", "content"),
        texts("reasoning", "summary"),
        tuple(
            (item["name"], read_arguments(item["arguments"]))
            for item in items
            if item["type"] == "function_call"
        ),
        answer["status"] == "incomplete",
        usage["input_tokens"],
        usage["output_tokens"],
        usage["output_tokens_details"]["reasoning_tokens"],
    )


def messages_of_stream(body: bytes) -> Json:
    message = messages_reading.read(body)
    for block in message["content"]:
        if block["type"] == "tool_use":
            block["input"] = read_arguments(block.pop("json", ""))
    return message


def messages_seen(answer: Json) -> Seen:
    blocks, usage = answer["content"], answer["usage"]
    kinds = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    return Seen(
        "".join(block["text"] for block in blocks if block["type"] == "text"),
        "".join(block["thinking"] for block in blocks if block["type"] == "thinking"),
        tuple((block["name"], block["input"]) for block in blocks if block["type"] == "tool_use"),
        answer["stop_reason"] == "max_tokens",
        sum(usage[kind] for kind in kinds),
        usage["output_tokens"],
        usage["output_tokens_details"]["thinking_tokens"],
    )


def completions_of_stream(body: bytes) -> Json:
    *chunks, last = chunks_of(body)
    choices: dict[int, Json] = {}
    for chunk in chunks:
        (part,) = chunk["choices"]
        choice = choices.setdefault(part["index"], {"index": part["index"], "text": "", "logprobs": None})
        assert choice.get("finish_reason") is None, "nothing follows the finish reason"
        choice["text"] += part["text"]
        choice["finish_reason"] = part["finish_reason"]
        if part["logprobs"] is not None:
            known = choice["logprobs"] or {}
            choice["logprobs"] = {name: known.get(name, []) + new for name, new in part["logprobs"].items()}
    return {**last, "choices": [choices[number] for number in sorted(choices)]}


CHATS: Mapping[str, Form] = {
    "chat": Form("/v1/chat/completions", chat_seen, chat_of_stream),
    "responses": Form("/v1/responses", responses_seen, responses_of_stream),
    "messages": Form("/v1/messages", messages_seen, messages_of_stream),
}
