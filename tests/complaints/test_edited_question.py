"""Users report: models with a sliding window or a recurrent state compute everything again when the last
message is edited."""

import asyncio

import pytest

from ds4.core.step import Trim
from ds4.testing.inside import Setting, inside

SLACK = 32


@pytest.mark.parametrize("trim", [Trim.WINDOW, Trim.BOUNDARY])
def test_an_edit_costs_the_message(trim: Trim) -> None:
    async def body() -> None:
        desk = inside(lambda prompt: "fine", Setting(n_slots=1, trim=trim))  # noqa: ARG005
        talk = [("system", "You are a careful agent. " * 80), ("user", "go"), ("assistant", "fine")]
        # Longer than the window and what is held beside it: no cut leads back before it.
        question = "what is written on line one of this? " * 60
        await desk.chat(*talk, ("user", question))
        edited = "tell me, " + question
        await desk.chat(*talk, ("user", edited))
        assert desk.last_report().rewound
        assert desk.last_cost().computed <= len(desk.engine.tokenizer.encode_plain(edited)) + SLACK

    asyncio.run(body())
