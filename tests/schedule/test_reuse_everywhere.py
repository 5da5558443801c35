"""What no slot of its own holds comes from another slot or from RAM: copies, parked states, marks, waits."""

import asyncio
from dataclasses import replace

import numpy as np
import pytest
from scripted_desk import Desk, finish_of, on_desk, text_of

from ds4.core.job import Job
from ds4.core.plan import Boundary, BoundaryKind
from ds4.core.sampling import Sampling
from ds4.core.step import Trim
from ds4.core.usage import CacheSource, MissReason, SaveReason, SaveTier
from ds4.schedule.scheduler import CachePlan

RAM = CachePlan(ram=64 << 20)
LONG = "word " * 60
ENDLESS = Sampling(temperature=0, ignore_eos=True)


def story(name: str, turns: int) -> str:
    return f"{name} begins " + " ".join(f"{name} turn {turn} {LONG[:100]}" for turn in range(turns))


@on_desk(slots=2, cache=RAM)
async def test_more_conversations_than_slots_are_restored_in_turn(desk: Desk) -> None:
    told: dict[str, int] = {}
    for turn in range(4):
        for name in ("ann", "bob", "cid"):
            end = finish_of(await desk.run(desk.job(f"{name}{turn}", story(name, turn + 1), max_tokens=3)))
            if turn > 1:
                assert end.report.source in (CacheSource.RAM, CacheSource.LIVE, CacheSource.COPIED)
                assert end.report.reused >= told[name] - 1, (name, turn, end.report)
            told[name] = end.usage.prompt


@on_desk(slots=1, cache=RAM)
async def test_what_is_displaced_is_named_and_parked(desk: Desk) -> None:
    first = finish_of(await desk.run(desk.job("a", story("ann", 3), max_tokens=3)))
    second = finish_of(await desk.run(desk.job("b", story("bob", 1), max_tokens=3)))
    assert second.report.displaced == first.usage.prompt - second.report.common
    (saved,) = second.report.saved
    assert (saved.reason, saved.tier) == (SaveReason.EVICT, SaveTier.RAM)
    back = finish_of(await desk.run(desk.job("c", story("ann", 4), max_tokens=3)))
    assert back.report.source is CacheSource.RAM
    assert back.report.reused >= first.usage.prompt
    assert back.report.restored_bytes >= saved.size


@on_desk(slots=1)
async def test_without_a_ram_tier_nothing_is_parked(desk: Desk) -> None:
    await desk.run(desk.job("a", story("ann", 3), max_tokens=3))
    assert finish_of(await desk.run(desk.job("b", story("bob", 1), max_tokens=3))).report.saved == ()
    back = finish_of(await desk.run(desk.job("c", story("ann", 4), max_tokens=3)))
    assert back.report.reused < 10


@pytest.mark.parametrize("trim", list(Trim))
def test_a_busy_slot_is_copied_not_waited_for(trim: Trim) -> None:
    @on_desk(slots=2, trim=trim)
    async def run(desk: Desk) -> None:
        shared = story("ann", 3)
        running = await desk.decoding(desk.job("a", shared, max_tokens=200, sampling=ENDLESS))
        end = finish_of(await desk.run(desk.job("b", shared + " and now", max_tokens=3)))
        assert not running.done()
        assert end.report.source is CacheSource.COPIED
        assert end.report.computed <= 12
        desk.pump.backend.cancel("a")
        running.cancel()

    run()


@pytest.mark.parametrize("trim", list(Trim))
@pytest.mark.parametrize("same", [True, False])
def test_requests_with_one_prefix_prefill_it_once(trim: Trim, same: bool) -> None:
    @on_desk(slots=4, trim=trim)
    async def run(desk: Desk) -> None:
        shared = story("ann", 3)
        texts = [shared if same else f"{shared} and then number {n}" for n in range(4)]
        jobs = [desk.job(f"j{n}", text, max_tokens=3) for n, text in enumerate(texts)]
        ends = [finish_of(events) for events in await asyncio.gather(*map(desk.run, jobs))]
        prompt = ends[0].usage.prompt
        assert sum(end.report.computed for end in ends) <= prompt + 3 * 16
        assert sum(end.report.waited_seconds > 0 for end in ends) == 3

    run()


@on_desk(slots=2)
async def test_whoever_is_waited_for_may_leave(desk: Desk) -> None:
    shared = story("ann", 4)
    desk.pump.hold()
    first = asyncio.ensure_future(desk.run(desk.job("a", shared, max_tokens=3)))
    second = asyncio.ensure_future(desk.run(desk.job("b", shared + " more", max_tokens=3)))
    await asyncio.sleep(0)
    desk.pump.step()
    assert [slot.state for slot in desk.pump.backend.status().slots] == ["busy", "empty"]
    desk.pump.backend.cancel("a")
    first.cancel()
    desk.pump.release()
    end = finish_of(await second)
    assert end.report.reused > 0


@on_desk(slots=1, trim=Trim.BOUNDARY)
async def test_a_memory_that_cannot_be_cut_goes_back_to_a_boundary(desk: Desk) -> None:
    head, question = story("ann", 2), " the question is long enough to matter " * 3
    boundary = len(desk.engine.tokenizer.encode_plain(head))

    def ask(name: str, text: str) -> Job:
        job = desk.job(name, head, max_tokens=3)
        tail = desk.engine.tokenizer.encode_plain(text)
        ids = np.array([*job.plan.ids.tolist(), *tail], dtype=np.int32)
        start = (Boundary(boundary, BoundaryKind.LAST_USER_START, 1),)
        return replace(job, plan=replace(job.plan, ids=ids, boundaries=start))

    first = finish_of(await desk.run(ask("a", question)))
    edited = finish_of(await desk.run(ask("b", " another" + question)))
    assert edited.report.reused == boundary
    assert edited.report.rewound
    assert edited.report.source is CacheSource.LIVE
    retried = finish_of(await desk.run(ask("c", " another" + question)))
    assert retried.report.computed == 4
    assert first.report.reused == 0


@on_desk(slots=2, trim=Trim.BOUNDARY)
async def test_a_mark_serves_another_slot(desk: Desk) -> None:
    """Rewound in a copy, while the original goes on."""
    shared = story("ann", 3)
    running = await desk.decoding(desk.job("a", shared, max_tokens=200, sampling=ENDLESS))
    end = finish_of(await desk.run(desk.job("b", shared, max_tokens=3)))
    assert (end.report.source, end.report.rewound, end.report.computed) == (CacheSource.COPIED, True, 4)
    assert text_of(await desk.run(desk.job("c", shared, max_tokens=30))).startswith("answer to")
    desk.pump.backend.cancel("a")
    running.cancel()


@on_desk(slots=1)
async def test_the_same_text_in_other_tokens_is_the_same_prompt(desk: Desk) -> None:
    """An answer comes back as text; its tokens were cut otherwise by the model."""
    tokenizer = desk.engine.tokenizer
    text = "the oak and the elm stand in the old garden " * 4
    job = desk.job("a", text, max_tokens=3)
    letters = [token for char in text for token in tokenizer.encode_plain(char)]
    assert letters != job.plan.ids.tolist()
    spelled = replace(job, plan=replace(job.plan, ids=np.array(letters, dtype=np.int32)))
    await desk.run(spelled)
    end = finish_of(await desk.run(desk.job("b", text + "and a birch", max_tokens=3)))
    assert end.report.healed
    assert end.report.reused >= len(letters) - 1
    assert end.usage.prompt > len(desk.job("c", text + "and a birch").plan.ids)


@on_desk(slots=1)
async def test_the_report_names_the_first_difference(desk: Desk) -> None:
    await desk.run(desk.job("a", "once there was an oak in the garden", max_tokens=3))
    end = finish_of(await desk.run(desk.job("b", "once there was an elm in the garden", max_tokens=3)))
    difference = end.report.difference
    assert end.report.reason is MissReason.EDITED
    assert difference is not None
    assert difference.row == end.report.common
    assert "oak" in difference.held
    assert "elm" in difference.wanted


@on_desk(slots=1, cache=RAM)
async def test_a_report_says_nothing_of_another_callers_conversation(desk: Desk) -> None:
    await desk.run(desk.job("a", story("ann", 3), max_tokens=3, namespace="one"))
    end = finish_of(await desk.run(desk.job("b", story("ann", 3), max_tokens=3, namespace="two")))
    assert (end.report.displaced, end.report.saved, end.report.held) == (0, (), 0)
    back = finish_of(await desk.run(desk.job("c", story("ann", 4), max_tokens=3, namespace="one")))
    assert back.report.source is CacheSource.RAM
