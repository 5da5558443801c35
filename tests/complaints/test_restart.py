"""Users report: after a restart everything is computed again; with thinking on nothing is stored at all; the
conversation that began second is never found; a restore that "succeeded" did nothing."""

import asyncio

import pytest

from ds4.core.step import Trim
from ds4.core.usage import CacheSource
from ds4.kv.policy import Knobs
from ds4.schedule.scheduler import CachePlan
from ds4.testing.inline_store import InlineStore
from ds4.testing.inside import Inside, Setting, inside, text_of

SLACK = 32
Talk = list[tuple[str, str]]


def think(prompt: str) -> str:
    return f"I have read {len(prompt)} characters. " * 5 + "</think>done, as you asked"


def process(store: InlineStore, trim: Trim) -> Inside:
    cache = CachePlan(Knobs(min_tokens=64, saves=True), store=store)
    return inside(think, Setting(family="deepseek-v4", n_slots=2, trim=trim, cache=cache))


async def say(desk: Inside, talk: Talk, text: str) -> None:
    talk.append(("user", text))
    answer = await desk.chat(*talk, thinking={"type": "enabled"})
    talk.append(("assistant", text_of(answer)))


@pytest.mark.parametrize("trim", list(Trim))
def test_both_conversations_go_on_where_they_were(trim: Trim) -> None:
    async def body() -> None:
        store = InlineStore()
        talks: list[Talk] = [[("system", f"You are {name}, an agent. " * 50)] for name in ("ann", "bob")]
        before = process(store, trim)
        for turn in range(2):
            for talk in talks:
                await say(before, talk, f"step {turn} of the work " * 20)
        before.pump.scheduler.persist()
        after = process(store.reopened(), trim)
        for talk in talks:
            old = len(after.engine.tokenizer.encode_plain(talk[-2][1] + talk[-1][1]))
            await say(after, talk, "and now the next step")
            report, cost = after.last_report(), after.last_cost()
            assert report.source is CacheSource.DISK
            # What the engine was given, not what the report says.
            assert cost.computed <= old + SLACK
            assert cost.computed + cost.reused > 350

    asyncio.run(body())
