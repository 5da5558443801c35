"""A trace holds what its answers were made behind, also where that is what the model sampled earlier."""

from reruns import traced, verdict, without_texts

from ds4.core.usage import AsSent, Replay, Unlike
from ds4.kv.replay.notebook import Notebook, Options
from ds4.schedule.scheduler import CachePlan
from ds4.testing.clock import FakeClock
from ds4.testing.inside import Inside, Setting, text_of


async def two_turns(desk: Inside) -> None:
    answer = await desk.chat(("user", "one"))
    await desk.chat(("user", "one"), ("assistant", text_of(answer)), ("user", "two"))
    assert desk.last_report().replay == Replay(1)


def test_replayed_answers_are_made_again() -> None:
    setting = Setting("deepseek-v4", cache=CachePlan(notebook=Notebook(Options(), FakeClock())))
    run = traced(two_turns, lambda _: "Hm.</think>An answer.", setting)
    assert verdict(run).same


async def edited(desk: Inside) -> None:
    await desk.chat(("user", "one"))
    await desk.chat(("user", "one"), ("assistant", "Other."), ("user", "two"))
    assert desk.last_report().replay == Replay(0, (AsSent(1, Unlike.TEXT),))


def test_so_are_those_that_were_edited_also_without_their_texts() -> None:
    setting = Setting("deepseek-v4", cache=CachePlan(notebook=Notebook(Options(), FakeClock())))
    run = traced(edited, lambda _: "Hm.</think>An answer.", setting)
    assert verdict(run).same
    assert verdict(without_texts(run)).same
