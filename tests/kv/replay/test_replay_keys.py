"""An answer belongs to the API key it was given to: another caller with the same words gets nothing of it."""

import asyncio
from typing import Any

from ds4.api.access import Access
from ds4.api.keys import Keyring
from ds4.core.usage import Replay
from ds4.kv.replay.notebook import Notebook, Options
from ds4.schedule.scheduler import CachePlan
from ds4.testing.clock import FakeClock
from ds4.testing.inside import Inside, Setting, inside

ASKED = [{"role": "user", "content": "one"}]


async def said(server: Inside, key: str, messages: list[dict[str, str]]) -> Any:
    reply = await server.client.request(
        "POST",
        "/v1/chat/completions",
        value={"messages": messages, "temperature": 0},
        headers={"authorization": f"Bearer {key}"},
    )
    assert reply.status == 200
    return reply.json()["choices"][0]["message"]


def test_each_key_has_its_own_answers() -> None:
    async def body() -> None:
        access = Access(keys=Keyring.of(["ann", "bob"]))
        plan = CachePlan(notebook=Notebook(Options(), FakeClock()))
        server = inside(lambda _: "Two.", Setting(access=access, cache=plan))
        answer = await said(server, "ann", ASKED)
        later = [
            *ASKED,
            {"role": "assistant", "content": answer["content"]},
            {"role": "user", "content": "three"},
        ]
        await said(server, "bob", later)
        assert server.last_report().replay == Replay()
        await said(server, "ann", later)
        assert server.last_report().replay == Replay(1)

    asyncio.run(body())
