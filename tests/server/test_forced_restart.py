"""A forced call goes on from what an earlier process kept, and the turn behind it from the call itself."""

from pathlib import Path
from typing import Any

import httpx
import pytest
from bench.forced_calls import Way, body, choice, faults, whole

from ds4.testing.process import ServerProcess, server_process

pytestmark = [pytest.mark.server, pytest.mark.engine]

WAY = Way("whole", {"parallel_tool_calls": False})
SEED = 1


def ask(server: ServerProcess, **fields: Any) -> tuple[Any, Any]:
    """The message, and what is known of the request. It must be right."""
    asked = body(SEED, WAY.fields) | fields
    with httpx.Client(base_url=server.url, timeout=60) as client:
        reply = client.post("/v1/chat/completions", json=asked)
        told = client.get(f"/requests/{reply.headers['x-ds4-request']}").json()
    (answer,) = whole(reply.json())
    assert faults(answer, choice(SEED)[1], WAY) == []
    assert "CONSTRAINED" in told["flags"]
    assert 0 < told["forced_tokens"] < told["generated_tokens"]
    return reply.json()["choices"][0]["message"], told


@pytest.mark.parametrize("family", ["deepseek-v4", "qwen3.8"])
def test_it_is_held_to_the_same_behind_what_was_kept(family: str, tmp_path: Path) -> None:
    kept = str(tmp_path / "kv")
    options = [
        "--ctx",
        "2048",
        "--model-family",
        family,
        "--kv-disk-dir",
        kept,
        "--kv-cache-min-tokens",
        "64",
    ]
    with server_process(tmp_path, *options) as server:
        first, told = ask(server)
        assert told["cache"]["source"] == "none"
    with server_process(tmp_path, *options) as server:
        again, restored = ask(server)
        assert restored["cache"]["source"] == "disk"
        assert restored["computed_tokens"] < restored["prompt_tokens"] / 4
        (call,), (same,) = first["tool_calls"], again["tool_calls"]
        assert call["function"] == same["function"]
        result = {"role": "tool", "tool_call_id": same["id"], "content": "done"}
        messages = [*body(SEED, {})["messages"], again, result]
        _, told = ask(server, messages=messages)
        # What was forced behind the last sampled token never was computed, and is no part of what is held.
        assert told["cache"]["common"] == told["cache"]["held"] > restored["prompt_tokens"]
        assert told["cache"]["reason"] == "none"
