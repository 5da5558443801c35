"""Users report: an unbounded queue, and clients that fail for good on a 429 without Retry-After."""

import asyncio

from ds4.testing.inside import Setting, chat_body, inside, text_of


def test_the_queue_is_bounded_and_says_when_to_come_back() -> None:
    async def body() -> None:
        desk = inside(lambda prompt: "ok", Setting(n_slots=1, max_queue=2))  # noqa: ARG005
        desk.pump.hold()
        waiting = [asyncio.ensure_future(desk.chat(("user", f"go {i}"))) for i in range(3)]
        while desk.pump.backend.status().queued < 2:
            await asyncio.sleep(0)
            desk.pump.step()
        refused = await desk.client.post("/v1/chat/completions", chat_body(("user", "too many"), stream=True))
        assert refused.status == 429
        assert 1 <= int(refused.headers["retry-after"]) <= 60
        assert refused.json()["error"]["type"] == "rate_limit_error"
        desk.pump.release()
        assert [text_of(answer) for answer in await asyncio.gather(*waiting)] == ["ok"] * 3
        assert text_of(await desk.chat(("user", "now"))) == "ok"

    asyncio.run(body())
