"""A real server with --trace, its threads and sockets: what it did can be repeated without any of them."""

import asyncio
import stat
from pathlib import Path
from typing import Any

import httpx
import pytest

from ds4.observe.trace.reading import Run, read_lines, runs
from ds4.replay_command import Verdict, replay, told
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


def runs_of(path: Path) -> list[Run]:
    return runs(read_lines(path), path)


def options(slots: int) -> tuple[str, ...]:
    engine = ("--engine", "scripted", "--script", "script.py", "--batched-session", str(slots))
    return (*engine, "--kv-disk-dir", "kv", "--kv-cache-min-tokens", "64", "-c", "4096", "--trace", "trace")


def verdict(run: Run) -> Verdict:
    found = replay(read_head(run.head), run)
    assert found.same, "\n".join(told(found, verbose=True))
    assert not found.played.lost
    return found


@pytest.mark.parametrize("slots", [1, 3])
def test_what_a_server_did_is_repeated_to_the_byte(tmp_path: Path, slots: int) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    with server_process(tmp_path, *options(slots)) as server:
        asyncio.run(visits(server.url))
    trace = tmp_path / "trace"
    assert stat.S_IMODE(trace.stat().st_mode) == 0o600
    assert b"sk-not-to-be-seen" not in trace.read_bytes()
    (run,) = runs_of(trace)
    assert verdict(run).compared["request"] == 15


def test_of_a_redacted_trace_the_decisions_are_repeated(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    with server_process(tmp_path, *options(3), "--trace-redact") as server:
        asyncio.run(visits(server.url))
    assert not any(word in (tmp_path / "trace").read_text() for word in ("Question", "seven", "Hello"))
    (run,) = runs_of(tmp_path / "trace")
    assert verdict(run).compared["started"] >= 13


def test_what_an_earlier_process_left_is_repeated_too(tmp_path: Path) -> None:
    """Checkpoints, answers that are put back as they were sampled, and kept responses."""
    (tmp_path / "script.py").write_text(SCRIPT)
    chat, talk = "/v1/chat/completions", body(1)["messages"]
    with server_process(tmp_path, *options(1)) as server:
        said = httpx.post(server.url + chat, json=body(1), timeout=60).json()["choices"][0]["message"]
        hello = {"input": "Hello.", "model": "any"}
        kept = httpx.post(server.url + "/v1/responses", json=hello, timeout=60).json()["id"]
    with server_process(tmp_path, *options(1)) as server:
        again = {"role": "user", "content": "And again."}
        for _ in range(2):
            more = body(1, messages=[*talk, {"role": "assistant", "content": said["content"]}, again])
            assert httpx.post(server.url + chat, json=more, timeout=60).status_code == 200
        after = {"input": "And again.", "model": "any", "previous_response_id": kept}
        assert httpx.post(server.url + "/v1/responses", json=after, timeout=60).status_code == 200
    first, second = runs_of(tmp_path / "trace")
    assert not {"remembered", "kept"} & {line["at"] for line in first.lines}
    assert {"remembered", "kept"} <= {line["at"] for line in second.lines}
    for run in (first, second):
        verdict(run)
