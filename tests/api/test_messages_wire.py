"""Exact bytes of Messages answers, kept as files in tests/wire/messages_golden.

`python tests/api/test_messages_wire.py` writes the files anew; look before you accept a difference.
"""

from pathlib import Path
from typing import Any

import pytest
from api_fakes import FakeBackend, World, finish, run

from ds4.core.errors import ContextOverflow, Ds4Error, EngineError, Overloaded, Unavailable
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

FOLDER = Path(__file__).parents[1] / "wire" / "messages_golden"
ASK: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
STREAM: dict[str, Any] = ASK | {"stream": True}
TALK: list[tuple[Event, ...]] = [
    (Progress(3, 8),),
    (Progress(8, 8), Text("Grüß")),
    (Text(' "dich"\n'), Text("")),
    (finish(sequence="STOP"),),
]
CALLS: list[tuple[Event, ...]] = [
    (Progress(3, 8),),
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
CUT: list[tuple[Event, ...]] = [(Progress(3, 8), Text("so far")), (Failed(EngineError("decode failed")),)]
CASES: dict[str, tuple[str, dict[str, Any], list[tuple[Event, ...]], Ds4Error | None]] = {
    "text.json": ("messages", ASK, TALK, None),
    "text.sse": ("messages", STREAM, TALK, None),
    "calls.json": ("messages", ASK, CALLS, None),
    "calls.sse": ("messages", STREAM, CALLS, None),
    "failed.sse": ("messages", STREAM, CUT, None),
    "count.json": ("messages/count_tokens", ASK, [], None),
    "error_overflow.json": ("messages", STREAM, [], ContextOverflow(120, 100)),
    "error_overloaded.json": ("messages", ASK, [], Overloaded("64 requests are waiting", retry_after=3)),
    "error_unavailable.json": ("messages", ASK, [], Unavailable("server shutting down")),
    "error_unsupported.json": ("messages", ASK | {"output_format": {"type": "xml"}}, [], None),
    "error_missing.json": ("messages", {}, [], None),
    "error_path.json": ("messages/batches", {}, [], None),
}


def answer(name: str) -> bytes:
    path, value, script, refusal = CASES[name]
    client = World(FakeBackend(script, refusal)).client()
    return run(client.post(f"/v1/{path}", value)).body


@pytest.mark.parametrize("name", CASES)
def test_bytes_on_the_wire(name: str) -> None:
    assert answer(name) == (FOLDER / name).read_bytes()


def test_no_file_is_left_over() -> None:
    assert {path.name for path in FOLDER.iterdir()} == set(CASES)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for case in CASES:
        (FOLDER / case).write_bytes(answer(case))
