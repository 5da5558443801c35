"""Records tests/traces/*.jsonl.gz anew: sessions of real clients against the scripted engine.

    python scripts/record_traces.py [NAME]...

The requests are those that the clients sent, with their long texts cut (tests/traces/clients.json.gz). Do
this when answers or lines of the trace are meant to change, and look at what `ds4-server replay` says before.
"""

import asyncio
import gzip
import json
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from ds4.core.step import Trim
from ds4.kv.policy import Knobs
from ds4.observe.trace.values import Json, plain
from ds4.schedule.scheduler import CachePlan, Limits
from ds4.testing import agent_script
from ds4.testing.asgi import Reply
from ds4.testing.inline_store import InlineStore
from ds4.testing.inside import Inside, Setting, inside

FOLDER = Path(__file__).resolve().parents[1] / "tests" / "traces"
CLIENTS = FOLDER / "clients.json.gz"
SMALL = Limits(quantum=64, chunk=256)
RAM = 64 << 20


@dataclass(slots=True)
class Session:
    """A server and the recorded requests. `lines` is its trace so far."""

    requests: Mapping[str, Any]
    setting: Setting
    lines: list[Json] = field(default_factory=list)
    server: Inside = field(init=False)

    def open(self, reply: Callable[[str], str] = agent_script.reply) -> Inside:
        self.server = inside(reply, self.setting, self.lines.append)
        return self.server

    async def send(self, client: str, number: int, **changes: object) -> Reply:
        one = self.requests[client]["requests"][number]
        path = f"{one['path']}?{one['query']}" if one["query"] else one["path"]
        body = json.dumps({**one["body"], **changes}).encode()
        return await self.server.client.request("POST", path, body=body, headers=dict(one["headers"]))

    async def in_turn(self, client: str) -> None:
        for number in range(len(self.requests[client]["requests"])):
            await self.send(client, number)

    async def leave(self, client: str, number: int, chunks: int, **changes: object) -> None:
        """Hangs up behind so many pieces of the answer."""
        one = self.requests[client]["requests"][number]
        async with self.server.client.open("POST", one["path"], value={**one["body"], **changes}) as exchange:
            await exchange.start()
            got = 0
            async for _ in exchange.chunks():
                got += 1
                if got == chunks:
                    break


Play = Callable[[Session], Awaitable[None]]


async def claude_code(session: Session) -> None:
    session.open()
    await session.in_turn("claude-basic")


async def codex(session: Session) -> None:
    session.open()
    await session.in_turn("codex-basic")


async def opencode(session: Session) -> None:
    """Its title request comes beside the first turn."""
    session.open()
    await asyncio.gather(session.send("opencode-chat", 0), session.send("opencode-chat", 1))
    for number in range(2, 5):
        await session.send("opencode-chat", number)


async def pi(session: Session) -> None:
    """A memory that cannot be cut back: marks and rewinds."""
    session.open()
    await session.in_turn("pi-messages")
    await session.send("pi-messages", 1)


async def aider(session: Session) -> None:
    """A model that writes its words in odd tokens: what comes back is encoded otherwise."""
    server = session.open(lambda _: "The unbelievable transformation of internationalised words. " * 2)
    talk = [{"role": "user", "content": "Say something long."}]
    for number in range(3):
        reply = await server.client.post("/v1/chat/completions", {"messages": talk, "temperature": 0})
        said = reply.json()["choices"][0]["message"]["content"]
        talk += [{"role": "assistant", "content": said}, {"role": "user", "content": f"And then {number}?"}]
    await session.in_turn("aider")


async def sub_agents(session: Session) -> None:
    """Three at once with one beginning: one computes it, the others wait and copy."""
    session.open()
    await asyncio.gather(*(session.send("claude-tools", number) for number in (0, 0, 1)))
    await asyncio.gather(*(session.send("claude-tools", number) for number in (2, 3)))


async def taking_turns(session: Session) -> None:
    """Two conversations, one slot: each is parked in RAM while the other runs."""
    session.open()
    for number in range(4):
        await session.send("pi-chat", number)
        if number < 3:
            await session.send("opencode-responses", number)


async def restarted(session: Session) -> None:
    """The second process finds on disk what the first has computed."""
    session.open()
    await session.send("pi-chat", 0)
    session.server.pump.scheduler.persist()
    store = session.setting.cache.store
    if isinstance(store, InlineStore):
        session.lines = []
        session.setting = _with_disk(store.reopened())
        session.open()
    await session.send("pi-chat", 1)
    await session.send("pi-chat", 2)


async def leaving(session: Session) -> None:
    """Clients that go away, in prefill and in the middle of an answer."""
    server = session.open(lambda _: "one two three four five six seven eight nine ten " * 3)
    await session.leave("pi-chat", 0, 4)
    one = session.requests["opencode-chat"]["requests"][1]
    async with server.client.open("POST", one["path"], value=one["body"]) as exchange:
        for _ in range(12):
            await asyncio.sleep(0)
        exchange.hang_up()
    await session.send("pi-chat", 0)


async def all_sorts(session: Session) -> None:
    """Every API streamed, several choices with logprobs, and what is refused."""
    server = session.open(lambda _: "A short answer, as asked.")
    ask, talk = server.client.post, [{"role": "user", "content": "Say it in short."}]
    await asyncio.gather(
        ask("/v1/completions", {"prompt": "Once upon", "max_tokens": 12, "stream": True}),
        ask("/v1/chat/completions", {"messages": talk, "stream": True, "n": 2, "logprobs": True}),
        ask("/v1/messages", {"messages": talk, "max_tokens": 16, "stream": True, "model": "any"}),
        ask("/v1/responses", {"input": "Say it in short.", "stream": True, "model": "any"}),
    )
    await session.send("litellm", 1)
    await ask("/v1/messages/count_tokens", {"messages": talk, "model": "any"})
    await ask("/tokenize", {"content": "some words", "with_pieces": True})
    await ask("/v1/chat/completions", {"messages": []})
    await ask("/v1/messages", {"messages": talk})
    await ask("/v1/chat/completions", {"messages": [{"role": "user", "content": "x " * 9000}]})
    await server.client.request("POST", "/v1/responses", body=b'{"input": ')
    await server.client.request("PUT", "/v1/responses")
    await server.client.get("/v1/models")
    await server.client.get("/nowhere")


def _with_disk(store: InlineStore) -> Setting:
    knobs = Knobs(min_tokens=64, cold_max=4096, interval=512, trim=16, align=64, saves=True)
    return Setting(n_ctx=8192, limits=SMALL, cache=CachePlan(knobs, store=store))


SESSIONS: Mapping[str, tuple[Play, Setting]] = {
    "claude-code": (claude_code, Setting(n_ctx=8192, family="deepseek-v4")),
    "codex": (codex, Setting(n_ctx=16384, family="qwen3.8")),
    "opencode": (opencode, Setting(n_ctx=8192, family="glm-5.2")),
    "pi-rewinding": (pi, Setting(n_ctx=8192, trim=Trim.BOUNDARY, limits=SMALL)),
    "aider-healing": (aider, Setting(n_ctx=8192)),
    "sub-agents": (sub_agents, Setting(n_ctx=8192, n_slots=3, limits=SMALL)),
    "taking-turns": (taking_turns, Setting(n_ctx=8192, n_slots=1, cache=CachePlan(ram=RAM))),
    "restarted": (restarted, _with_disk(InlineStore())),
    "leaving": (leaving, Setting(n_ctx=8192, limits=SMALL)),
    "all-sorts": (all_sorts, Setting(n_ctx=4096)),
}


def record(name: str) -> bytes:
    """The trace of one session."""
    play, setting = SESSIONS[name]
    session = Session(json.loads(gzip.decompress(CLIENTS.read_bytes())), setting)

    async def run() -> None:
        await play(session)

    asyncio.run(run())
    return b"".join(orjson.dumps(plain(line), option=orjson.OPT_APPEND_NEWLINE) for line in session.lines)


def main(names: list[str]) -> None:
    for name in names or SESSIONS:
        path = FOLDER / f"{name}.jsonl.gz"
        path.write_bytes(gzip.compress(record(name), 9, mtime=0))
        sys.stdout.write(f"{path.name}: {path.stat().st_size} bytes\n")


if __name__ == "__main__":
    main(sys.argv[1:])
