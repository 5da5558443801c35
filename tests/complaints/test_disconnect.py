"""Users report: a client that leaves does not stop its request, or stops another's."""

import asyncio

import pytest

from ds4.testing.inside import Inside, Setting, chat_body, inside, text_of


async def turns(desk: Inside, count: int) -> None:
    for _ in range(count):
        desk.pump.step()
        await asyncio.sleep(0)


@pytest.mark.parametrize(("stream", "steps"), [(True, 0), (True, 1), (True, 6), (False, 1), (False, 6)])
def test_the_engine_stops_within_a_step_and_keeps_the_work(stream: bool, steps: int) -> None:
    async def body() -> None:
        desk = inside(lambda prompt: "word " * 500, Setting(n_slots=1))  # noqa: ARG005
        desk.pump.hold()
        value = chat_body(("user", "read this " * 200), stream=stream)
        async with desk.client.open("POST", "/v1/chat/completions", value=value):
            for _ in range(20):
                await asyncio.sleep(0)
            await turns(desk, steps)
        await turns(desk, 1)
        ran = desk.pump.turns
        await turns(desk, 3)
        assert desk.pump.turns == ran, "nothing is computed for a client that has left"
        (slot,) = desk.pump.backend.status().slots
        assert slot.job is None
        assert slot.rows > 0 or steps == 0
        desk.pump.release()
        await desk.chat(("user", "read this " * 200), max_tokens=1)
        assert desk.last_cost().reused >= slot.rows - 8 or not slot.rows

    asyncio.run(body())


def test_the_neighbours_go_on() -> None:
    async def body() -> None:
        desk = inside(lambda prompt: f"answer to {prompt.split()[-2]}" * 5)
        stays = asyncio.ensure_future(desk.chat(("user", "question one")))
        value = chat_body(("user", "question two"), stream=True)
        async with desk.client.open("POST", "/v1/chat/completions", value=value) as leaves:
            await leaves.start()
            await anext(leaves.chunks())
        alone = inside(lambda prompt: f"answer to {prompt.split()[-2]}" * 5)
        assert text_of(await stays) == text_of(await alone.chat(("user", "question one")))

    asyncio.run(body())
