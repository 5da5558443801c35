"""Users report: slot choice by weak similarity. Two agents that share only their system prompt take
each other's slot in turn, and every turn is a full prefill."""

import asyncio

import pytest

from ds4.core.step import Trim
from ds4.schedule.scheduler import CachePlan
from ds4.testing.inside import Setting, inside

SYSTEM = ("system", "You are a careful agent. " * 40)
SLACK = 32


@pytest.mark.parametrize("trim", list(Trim))
@pytest.mark.parametrize(("slots", "ram"), [(2, 0), (1, 1 << 20)])
def test_two_agents_in_turn_both_keep_their_conversations(trim: Trim, slots: int, ram: int) -> None:
    async def body() -> None:
        setting = Setting(n_slots=slots, trim=trim, cache=CachePlan(ram=ram))
        desk = inside(lambda prompt: f"done, {len(prompt)} characters read", setting)
        talks: dict[str, list[tuple[str, str]]] = {"a": [SYSTEM], "b": [SYSTEM]}
        for turn in range(6):
            for agent, talk in talks.items():
                talk.append(("user", f"agent {agent}, step {turn}: " + f"line {turn} of {agent} " * 20))
                before = len(desk.engine.tokenizer.encode_plain(talk[-1][1]))
                answer = await desk.chat(*talk, max_tokens=40)
                talk.append(("assistant", answer["choices"][0]["message"]["content"]))
                if turn > 1:
                    assert desk.last_cost().computed <= before + SLACK, (agent, turn)

    asyncio.run(body())


def test_a_side_request_leaves_the_long_conversation_alone() -> None:
    async def body() -> None:
        desk = inside(lambda prompt: "fine", Setting(n_slots=2))  # noqa: ARG005
        talk = [SYSTEM, ("user", "story " * 500)]
        await desk.chat(*talk, max_tokens=4)
        for title in ("a", "b", "c"):
            await desk.chat(("user", f"Give conversation {title} a title."), max_tokens=4)
        await desk.chat(*talk, ("assistant", "fine"), ("user", "go on"), max_tokens=4)
        assert desk.last_cost().computed <= 4 + SLACK

    asyncio.run(body())
