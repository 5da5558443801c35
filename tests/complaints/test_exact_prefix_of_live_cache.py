"""Users report: a prompt that is an exact prefix of what is in memory is computed again from the start."""

import asyncio

import pytest

from ds4.core.step import Trim
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


@pytest.mark.parametrize("trim", list(Trim))
def test_the_first_turns_of_a_long_conversation_cost_the_last_of_them(trim: Trim) -> None:
    """Also where the memory cannot be cut: a saved boundary lies before each turn."""

    async def body() -> None:
        desk = inside(lambda prompt: "ok", Setting(n_slots=1, trim=trim))  # noqa: ARG005
        talk = [
            ("assistant" if turn % 2 else "user", f"turn {turn}: " + f"line {turn} of it " * 40)
            for turn in range(9)
        ]
        await desk.chat(*talk, max_tokens=2)
        await desk.chat(*talk[:5], max_tokens=2)
        turn = len(desk.engine.tokenizer.encode_plain(talk[4][1]))
        assert desk.last_cost().reused > 3 * turn
        # The prompt's last row, and where nothing can be cut, its last turn.
        assert desk.last_cost().computed <= (1 if trim is Trim.ANY else turn) + 16

    asyncio.run(body())
