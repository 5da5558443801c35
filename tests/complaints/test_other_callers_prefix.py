"""Users report: the cache tells one key what another has asked, by its usage or by its speed."""

import asyncio

import pytest

from ds4.api.access import Access
from ds4.api.keys import Keyring
from ds4.core.step import Trim
from ds4.schedule.scheduler import CachePlan
from ds4.testing.asgi import Reply
from ds4.testing.inside import Inside, Setting, chat_body, inside

SECRET = "tell me:" + " oak elm" * 150
OTHER = "tell me:" + " elm oak" * 150
"""As long, since what must be parked takes its time."""
GUESS = chat_body(("user", SECRET), max_tokens=4)


async def told_to_b(asked_by_a: str, trim: Trim, slots: int) -> tuple[object, ...]:
    """All that the second key sees, and how long it took, when the first has just asked something."""
    access = Access(keys=Keyring.of(["key-a", "key-b"]))
    setting = Setting(n_slots=slots, trim=trim, access=access, cache=CachePlan(ram=1 << 20))
    desk = inside(lambda prompt: "fine", setting)  # noqa: ARG005
    await ask(desk, chat_body(("user", asked_by_a), max_tokens=4), "key-a")
    started = desk.clock.now()
    reply = await ask(desk, GUESS, "key-b")
    seconds = round(desk.clock.now() - started, 6)
    known = await desk.client.get("/requests", {"authorization": "Bearer key-b"})
    (entry,) = known.json()["requests"]
    return reply.json()["usage"], reply.headers["x-ds4-cache"], entry["cache"], seconds


async def ask(desk: Inside, body: dict[str, object], key: str) -> Reply:
    headers = {"authorization": f"Bearer {key}"}
    return await desk.client.request("POST", "/v1/chat/completions", value=body, headers=headers)


@pytest.mark.parametrize("trim", list(Trim))
@pytest.mark.parametrize("slots", [1, 2])
def test_a_guess_looks_like_any_other_prompt(trim: Trim, slots: int) -> None:
    async def body() -> None:
        guessed = await told_to_b(SECRET, trim, slots)
        assert guessed == await told_to_b(OTHER, trim, slots)
        assert "reused=0" in str(guessed[1])

    asyncio.run(body())
