"""Users report: models with a sliding window or a recurrent state compute everything again when the last
message is edited."""

import asyncio

import pytest

from ds4.core.step import Trim
from ds4.testing.inside import Setting, inside, text_of

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


@pytest.mark.parametrize("trim", [Trim.WINDOW, Trim.BOUNDARY])
@pytest.mark.parametrize("family", ["chatml", "deepseek-v4", "glm-5.2", "qwen3.8"])
def test_an_edit_leaves_the_answer_before_it(family: str, trim: Trim) -> None:
    """Also where no token ends an answer, so that the next prompt goes on at the very row where an edit parts
    from it; and where the answer comes back in other tokens, of which there are fewer."""

    async def body() -> None:
        desk = inside(lambda _: "so it goes on " * 100, Setting(family, n_slots=1, trim=trim))
        off = {"type": "disabled"}
        talk = [("user", "go")]
        talk.append(("assistant", text_of(await desk.chat(*talk, thinking=off))))
        question = "what is written on line one of this? " * 60
        await desk.chat(*talk, ("user", question), thinking=off)
        edited = "tell me, " + question
        await desk.chat(*talk, ("user", edited), thinking=off)
        assert desk.last_cost().computed <= len(desk.engine.tokenizer.encode_plain(edited)) + SLACK

    asyncio.run(body())
