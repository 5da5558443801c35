"""A real server with --trace, its threads and sockets: what it did can be repeated without any of them."""

import asyncio
import stat
from pathlib import Path
from typing import Any

import httpx
import pytest

from ds4.observe.trace.reading import Run, read_lines, runs
from ds4.replay_command import replay, told
from ds4.rerun.head import read_head
from ds4.testing.process import server_process

pytestmark = pytest.mark.server

SCRIPT = """
COST = {"base": 0.002, "per_decode_row": 0.0005, "per_prefill_row": 0.00002}
REALTIME = True

def reply(prompt):
    return "one two three four five six seven eight nine ten " * (2 + len(prompt) % 3)
"""
BEGINNING = "A system text that all share, long enough to be worth a copy. " * 40


def body(number: int, **fields: Any) -> dict[str, Any]:
    talk = [{"role": "system", "content": BEGINNING}, {"role": "user", "content": f"Question {number}."}]
    return {"messages": talk, "model": "any", **fields}


async def visits(url: str) -> None:
    """Several at once, some streamed, some that leave early, a refused one."""
    headers = {"authorization": "Bearer sk-not-to-be-seen"}
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=60) as client:

        async def stream(path: str, fields: dict[str, Any], most: int | None = None) -> None:
            async with client.stream("POST", path, json={**fields, "stream": True}) as reply:
                read = 0
                async for _ in reply.aiter_bytes():
                    read += 1
                    if read == most:
                        return

        chat = "/v1/chat/completions"
        await asyncio.gather(*(stream(chat, body(number)) for number in range(4)))
        await asyncio.gather(
            stream(chat, body(5, n=2, logprobs=True, top_logprobs=2)),
            stream("/v1/completions", {"prompt": "Once upon", "max_tokens": 20}),
            stream("/v1/responses", {"input": "Hello.", "model": "any"}),
            stream(chat, body(6, max_tokens=1000), most=3),
            client.post(chat, json={"messages": []}),
        )
        await asyncio.gather(*(client.post(chat, json=body(number)) for number in range(6)))


def run_of(path: Path) -> Run:
    (run,) = runs(read_lines(path), path)
    return run


@pytest.mark.parametrize("slots", [1, 3])
def test_what_a_server_did_is_repeated_to_the_byte(tmp_path: Path, slots: int) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    options = ("--engine", "scripted", "--script", "script.py", "--batched-session", str(slots))
    disk = ("--kv-disk-dir", "kv", "--kv-cache-min-tokens", "64")
    with server_process(tmp_path, *options, *disk, "-c", "4096", "--trace", "trace") as server:
        asyncio.run(visits(server.url))
    trace = tmp_path / "trace"
    assert stat.S_IMODE(trace.stat().st_mode) == 0o600
    assert b"sk-not-to-be-seen" not in trace.read_bytes()
    run = run_of(trace)
    found = replay(read_head(run.head), run)
    assert found.same, "\n".join(told(found, verbose=True))
    assert found.compared["request"] == 15
    assert not found.played.lost
