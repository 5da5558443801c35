"""Many clients of every sort against one app on the scripted engine: nothing is stuck, lost or kept.

SOAK_REQUESTS sets how many (`make soak` runs 10,000); the short run is part of the unit suite.
"""

import asyncio
import gc
import os
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from ds4.core.status import Readiness
from ds4.observe.records import Finished, PromptStarted
from ds4.schedule.scheduler import Limits
from ds4.testing.inside import Inside, Setting, inside

REQUESTS = int(os.environ.get("SOAK_REQUESTS", "150"))
CLIENTS = 24
SLOTS, QUEUE = 4, 12
SEED = 20


@dataclass(slots=True)
class World:
    """`answers` counts HTTP statuses by sort of client."""

    desk: Inside
    dice: random.Random
    answers: Counter[tuple[str, int]] = field(default_factory=Counter)


def reply(prompt: str) -> str:
    return f"seen {len(prompt)} characters. " * (1 + len(prompt) % 5)


def make_world() -> World:
    limits = Limits(quantum=64, chunk=256)
    setting = Setting(n_ctx=512, n_slots=SLOTS, max_queue=QUEUE, limits=limits, max_tokens=200)
    return World(inside(reply, setting), random.Random(SEED))


WORDS = ("river", "tree", "iron", "bread", "<|im_end|>")
JUNK = (b"", b"{", b"[1]", b"\xff\xfe", b'{"messages":3}', b'{"messages":[{"role":7}]}')


def a_body(world: World, **fields: object) -> dict[str, object]:
    content = " ".join(world.dice.choices(WORDS, k=world.dice.randint(1, 40)))
    messages = [{"role": "user", "content": content}]
    return {"messages": messages, "max_tokens": world.dice.randint(1, 60), **fields}


async def whole(world: World) -> int:
    reply = await world.desk.client.post("/v1/chat/completions", a_body(world))
    if reply.status == 200:
        assert reply.json()["choices"][0]["finish_reason"] in ("stop", "length")
    return reply.status


async def streamed(world: World, *, leave_after: int | None = None, dawdle: bool = False) -> int:
    body = a_body(world, stream=True)
    async with world.desk.client.open("POST", "/v1/chat/completions", value=body) as exchange:
        await exchange.start()
        last = b""
        seen = 0
        async for chunk in exchange.chunks():
            last, seen = chunk, seen + 1
            if seen == leave_after:
                return exchange.status
            for _ in range(50 * dawdle):
                await asyncio.sleep(0)
        if exchange.status == 200:
            assert last.endswith(b"data: [DONE]\n\n")
        return exchange.status


async def leaver(world: World) -> int:
    return await streamed(world, leave_after=world.dice.randint(1, 5))


async def dawdler(world: World) -> int:
    return await streamed(world, dawdle=True)


async def vanisher(world: World) -> int:
    """Goes before anything has come."""
    async with world.desk.client.open("POST", "/v1/chat/completions", value=a_body(world)):
        for _ in range(world.dice.randint(0, 20)):
            await asyncio.sleep(0)
    return 0


async def overflow(world: World) -> int:
    body = {"messages": [{"role": "user", "content": "word " * 2000}]}
    return (await world.desk.client.post("/v1/chat/completions", body)).status


async def nonsense(world: World) -> int:
    junk = world.dice.choice(JUNK)
    reply = await world.desk.client.request("POST", "/v1/chat/completions", body=junk)
    assert reply.json()["error"]["message"]
    return reply.status


async def lost(world: World) -> int:
    return (await world.desk.client.get("/v1/nowhere")).status


SORTS: dict[str, tuple[Callable[[World], Awaitable[int]], set[int]]] = {
    "whole": (whole, {200, 429}),
    "streamed": (streamed, {200, 429}),
    "leaver": (leaver, {200, 429}),
    "dawdler": (dawdler, {200, 429}),
    "vanisher": (vanisher, {0}),
    "overflow": (overflow, {400, 429}),
    "nonsense": (nonsense, {400}),
    "lost": (lost, {404}),
}


async def client(world: World, todo: list[str]) -> None:
    while todo:
        sort = todo.pop()
        act, allowed = SORTS[sort]
        status = await act(world)
        assert status in allowed, f"{sort} got {status}"
        world.answers[sort, status] += 1


async def run(world: World, requests: int) -> None:
    todo = world.dice.choices(list(SORTS), k=requests)
    await asyncio.gather(*(client(world, todo) for _ in range(CLIENTS)))
    while world.desk.pump.step():
        pass
    await asyncio.sleep(0)


def living_objects() -> int:
    gc.collect()
    return len(gc.get_objects())


def test_nothing_is_stuck_lost_or_kept() -> None:
    async def body() -> World:
        world = make_world()
        await run(world, REQUESTS // 2)
        world.desk.records.clear()
        before = living_objects()
        await run(world, REQUESTS)
        ended = Counter(r.subject.job for r in world.desk.records if isinstance(r, Finished))
        started = {r.subject.job for r in world.desk.records if isinstance(r, PromptStarted)}
        finishes = {r.finish for r in world.desk.records if isinstance(r, Finished)}
        assert started <= set(ended)
        assert set(ended.values()) == {1}, "every job ends once"
        assert finishes == {"stop", "length", "cancelled"}
        # The books of this test itself may not count as growth.
        world.desk.records.clear()
        del ended, started
        grown = living_objects() - before
        assert grown < 2000, f"{grown} objects more after {REQUESTS} requests"
        return world

    world = asyncio.run(body())
    status = world.desk.pump.backend.status()
    assert status.readiness is Readiness.READY
    assert status.queued == 0
    assert {slot.state for slot in status.slots} <= {"idle", "empty"}
    assert sum(world.answers.values()) == REQUESTS // 2 + REQUESTS
    assert world.answers["whole", 200] > 0
    assert world.answers["leaver", 200] > 0
    assert any(status == 429 for _, status in world.answers), "the queue never filled"
