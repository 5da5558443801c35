"""Users report: silence while a request is queued or its prompt is computed, until the client gives up.
And some clients choke on comment lines, so a heartbeat is an ordinary chunk."""

import asyncio
import json

from ds4.testing.inside import Setting, chat_body, inside


def test_headers_come_at_once_and_heartbeats_are_ordinary_chunks() -> None:
    async def body() -> None:
        desk = inside(lambda prompt: "ok", Setting(n_slots=1))  # noqa: ARG005
        desk.pump.hold()
        value = chat_body(("user", "go"), stream=True)
        async with desk.client.open("POST", "/v1/chat/completions", value=value) as exchange:
            await exchange.start()
            assert exchange.status == 200
            assert exchange.headers["content-type"].startswith("text/event-stream")

    asyncio.run(body())


def test_every_line_of_a_stream_is_data() -> None:
    async def body() -> None:
        desk = inside(lambda prompt: "ok", Setting(n_slots=1))  # noqa: ARG005
        reply = await desk.client.post("/v1/chat/completions", chat_body(("user", "go"), stream=True))
        lines = [line for line in reply.body.decode().split("\n") if line]
        assert all(line.startswith("data: ") for line in lines)
        assert all(json.loads(line[6:])["object"] == "chat.completion.chunk" for line in lines[:-1])

    asyncio.run(body())
