"""Users report: one agent more than there are slots, and each throws another out at every turn."""

import asyncio

import pytest

from ds4.core.step import Trim
from ds4.schedule.scheduler import CachePlan
from ds4.testing.inside import Setting, inside, text_of
from thorough import pairs

SLACK = 32


@pytest.mark.parametrize(("trim", "slots"), pairs(tuple(Trim), (1, 2)))
def test_each_turn_is_restored_and_not_computed(trim: Trim, slots: int) -> None:
    async def body() -> None:
        setting = Setting(n_slots=slots, trim=trim, cache=CachePlan(ram=1 << 20))
        desk = inside(lambda prompt: f"done, {len(prompt)} characters read", setting)
        talks = {f"agent{n}": [("system", f"You are agent{n}. " * 60)] for n in range(slots + 1)}
        for turn in range(4):
            for agent, talk in talks.items():
                talk.append(("user", f"{agent}, step {turn}: " + f"line {turn} of {agent} " * 20))
                new = len(desk.engine.tokenizer.encode_plain(talk[-1][1]))
                talk.append(("assistant", text_of(await desk.chat(*talk))))
                if turn:
                    assert desk.last_cost().computed <= new + SLACK, (agent, turn, desk.last_report())

    asyncio.run(body())


@pytest.mark.parametrize("trim", list(Trim))
def test_two_agents_swap_through_room_for_one(trim: Trim) -> None:
    """What is loaded may be what has to leave for the one that is parked."""

    async def body() -> None:
        desk = inside(lambda prompt: "fine", Setting(n_slots=1, trim=trim, cache=CachePlan(ram=90_000)))  # noqa: ARG005
        talks = [[("user", f"agent {n} reads on " * 80)] for n in range(2)]
        for turn in range(3):
            for talk in talks:
                await desk.chat(*talk)
                assert desk.last_cost().computed <= SLACK or not turn, desk.last_report()
                talk += [("assistant", "fine"), ("user", "go on")]

    asyncio.run(body())


@pytest.mark.parametrize("trim", list(Trim))
def test_a_full_ram_keeps_what_the_next_turn_needs(trim: Trim) -> None:
    """And not what an earlier turn has needed once."""

    async def body() -> None:
        desk = inside(lambda prompt: "fine", Setting(n_slots=1, trim=trim, cache=CachePlan(ram=500_000)))  # noqa: ARG005
        talks = [[("system", f"You are agent {n}. " * 40)] for n in range(3)]
        for turn in range(7):
            for talk in talks:
                talk.append(("user", f"step {turn}: " + f"line {turn} is this. " * 15))
                new = len(desk.engine.tokenizer.encode_plain(talk[-1][1]))
                await desk.chat(*talk)
                talk.append(("assistant", "fine"))
                assert desk.last_cost().computed <= new + SLACK or not turn, (turn, desk.last_report())

    asyncio.run(body())
