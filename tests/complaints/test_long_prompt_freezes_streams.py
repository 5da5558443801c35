"""Users report: one long prompt freezes every running stream. Between two tokens of a stream there may
be at most one quantum of somebody else's prompt."""

import asyncio

from ds4.observe.records import PrefillChunk
from ds4.schedule.scheduler import Limits
from ds4.testing.inside import Setting, chat_body, inside

QUANTUM = 32


def test_four_streams_beside_a_prompt_of_thousands() -> None:
    async def body() -> None:
        setting = Setting(n_slots=5, n_ctx=8192, limits=Limits(quantum=QUANTUM, chunk=1024))
        desk = inside(lambda prompt: "word " * 400, setting)  # noqa: ARG005
        desk.pump.hold()
        values = [chat_body(("user", f"go {i}"), stream=True, max_tokens=300) for i in range(4)]
        streams = [asyncio.ensure_future(desk.client.post("/v1/chat/completions", value)) for value in values]
        while sum(slot.generated > 0 for slot in desk.pump.backend.status().slots) < len(streams):
            await asyncio.sleep(0)
            desk.pump.step()
        desk.pump.release()
        await desk.chat(("user", "read " * 3000), max_tokens=1)
        chunks = [r.rows for r in desk.records if isinstance(r, PrefillChunk) and r.subject.prompt > 3000]
        assert len(chunks) > 3000 // QUANTUM - 5, "the streams decode longer than the prompt takes"
        assert max(chunks) <= QUANTUM
        for reply in await asyncio.gather(*streams):
            assert reply.body.endswith(b"data: [DONE]\n\n")

    asyncio.run(body())
