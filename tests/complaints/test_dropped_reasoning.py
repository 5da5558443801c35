"""Users report: the template leaves earlier reasoning out, so that every next turn is a full prefill."""

import asyncio

import pytest

from ds4.core.step import Trim
from ds4.testing.inside import Setting, inside, text_of
from thorough import pairs

SYSTEM = ("system", "You are a careful agent. " * 80)
SLACK = 32


@pytest.mark.parametrize(("trim", "family"), pairs(tuple(Trim), ("deepseek-v4", "glm-5.2")))
def test_reuse_reaches_the_boundary_before_the_reasoning(trim: Trim, family: str) -> None:
    async def body() -> None:
        desk = inside(
            lambda prompt: f"let me think of {len(prompt)} things " * 9 + "</think>done, as you asked",
            Setting(family=family, n_slots=1, trim=trim),
        )
        talk = [SYSTEM]
        for turn in range(4):
            talk.append(("user", f"step {turn} of the work " * 12))
            answer = await desk.chat(*talk, thinking={"type": "enabled"})
            assert answer["choices"][0]["message"]["reasoning_content"]
            talk.append(("assistant", text_of(answer)))
            new = sum(len(desk.engine.tokenizer.encode_plain(text)) for _, text in talk[-3:-1])
            assert desk.last_cost().computed <= new + SLACK or not turn, (turn, desk.last_report())

    asyncio.run(body())
