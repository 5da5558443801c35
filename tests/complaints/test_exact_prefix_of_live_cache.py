"""Users report: a prompt that is an exact prefix of what is in memory is computed again from the start."""

import asyncio

from ds4.testing.inside import Setting, inside


def test_the_first_part_of_a_long_prompt_costs_one_row() -> None:
    async def body() -> None:
        desk = inside(lambda prompt: "ok", Setting(n_slots=1))  # noqa: ARG005
        long = "word " * 600
        await desk.chat(("user", long), max_tokens=2)
        whole = desk.last_cost()
        part = "<|im_start|>user\n" + "word " * 400
        await desk.client.post("/v1/completions", {"prompt": part, "max_tokens": 1, "temperature": 0})
        cost = desk.last_cost()
        assert whole.computed > 600
        assert cost.reused > 400
        assert cost.computed <= 2

    asyncio.run(body())
