"""Exact bytes, kept as files in tests/wire. A changed byte is a changed interface: look before you accept it.

`python tests/api/test_wire.py` writes the files anew.
"""

from pathlib import Path
from typing import Any

import pytest
from api_fakes import FakeBackend, World, finish, run

from ds4.core.errors import ContextOverflow, Ds4Error, EngineError, Overloaded
from ds4.core.events import (
    Event,
    Failed,
    FinishReason,
    Progress,
    Reasoning,
    Text,
    ToolArgs,
    ToolEnd,
    ToolStart,
)
from ds4.core.sampling import Sampled

FOLDER = Path(__file__).parents[1] / "wire"
CHAT: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
COMPLETION: dict[str, Any] = {"model": "m", "prompt": "hi"}
STREAM: dict[str, Any] = {"stream": True, "stream_options": {"include_usage": True}}
MANY: dict[str, Any] = {"prompt": ["hi", [104, 111]], "n": 2, "echo": True}
TALK: list[tuple[Event, ...]] = [
    (Progress(3, 7),),
    (Progress(7, 7), Text("Grüß")),
    (Text(' "dich"\n'), Text("")),
    (finish(),),
]
CALLS: list[tuple[Event, ...]] = [
    (Progress(7, 7),),
    (Reasoning("Look it"),),
    (Reasoning(" up."), Text("Checking.")),
    (
        ToolStart(0, "call_a", "stock"),
        ToolArgs(0, "{"),
        ToolArgs(0, '"item":"A"'),
        ToolArgs(0, "}"),
        ToolEnd(0),
    ),
    (ToolStart(1, "call_b", "now"), ToolArgs(1, "{}"), ToolEnd(1), finish(FinishReason.TOOL_CALLS)),
]
CUT: list[tuple[Event, ...]] = [(Text("so far"),), (Failed(EngineError("decode failed")),)]
LOGGED: list[tuple[Event, ...]] = [
    (Reasoning("Hm."),),
    (Text("G", (Sampled(71, -0.25, ((71, -0.25), (72, -1.5))),)),),
    (
        Text(
            "ü", (Sampled(195, -0.5, ((195, -0.5),)), Sampled(188, -2.0, ((65, -0.125), (0, float("-inf")))))
        ),
    ),
    (finish(),),
]
REFUSALS: dict[str, Ds4Error] = {
    "overflow": ContextOverflow(120, 100),
    "overloaded": Overloaded("64 requests are already waiting, the limit is 64", retry_after=3),
}
CASES: dict[str, tuple[str, dict[str, Any], list[tuple[Event, ...]], Ds4Error | None]] = {
    "chat.json": ("chat/completions", CHAT, TALK, None),
    "chat.sse": ("chat/completions", CHAT | STREAM, TALK, None),
    "chat_calls.json": ("chat/completions", CHAT, CALLS, None),
    "chat_calls.sse": ("chat/completions", CHAT | STREAM, CALLS, None),
    "chat_failed.sse": ("chat/completions", CHAT | STREAM, CUT, None),
    "chat_choices.json": ("chat/completions", CHAT | {"n": 2}, TALK, None),
    "chat_choices.sse": ("chat/completions", CHAT | STREAM | {"n": 2}, TALK, None),
    "chat_logprobs.json": ("chat/completions", CHAT | {"logprobs": True, "top_logprobs": 2}, LOGGED, None),
    "chat_logprobs.sse": (
        "chat/completions",
        CHAT | STREAM | {"logprobs": True, "top_logprobs": 2},
        LOGGED,
        None,
    ),
    "completion.json": ("completions", COMPLETION, TALK, None),
    "completion.sse": ("completions", COMPLETION | STREAM, TALK, None),
    "completion_choices.json": ("completions", COMPLETION | MANY, TALK, None),
    "completion_choices.sse": ("completions", COMPLETION | STREAM | MANY, TALK, None),
    "completion_logprobs.json": ("completions", COMPLETION | {"logprobs": 2}, LOGGED[1:], None),
    "completion_logprobs.sse": ("completions", COMPLETION | STREAM | {"logprobs": 2}, LOGGED[1:], None),
    "completion_failed.sse": ("completions", COMPLETION | STREAM, CUT, None),
    "error_overflow_chat.json": ("chat/completions", CHAT, [], REFUSALS["overflow"]),
    "error_overflow_completion.json": ("completions", COMPLETION, [], REFUSALS["overflow"]),
    "error_overloaded.json": ("chat/completions", CHAT, [], REFUSALS["overloaded"]),
    "error_unsupported.json": ("chat/completions", CHAT | {"audio": {"voice": "x"}}, [], None),
    "error_field.json": ("chat/completions", CHAT | {"temperature": "hot"}, [], None),
    "error_missing.json": ("chat/completions", {}, [], None),
    "error_path.json": ("nowhere", {}, [], None),
}


def answer(name: str) -> bytes:
    path, value, script, refusal = CASES[name]
    client = World(FakeBackend(script, refusal)).client()
    return run(client.post(f"/v1/{path}", value)).body


@pytest.mark.parametrize("name", CASES)
def test_bytes_on_the_wire(name: str) -> None:
    assert answer(name) == (FOLDER / name).read_bytes()


def test_no_file_is_left_over() -> None:
    assert {path.name for path in FOLDER.iterdir() if path.is_file()} == set(CASES)


if __name__ == "__main__":
    for case in CASES:
        (FOLDER / case).write_bytes(answer(case))
