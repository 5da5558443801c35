"""What outlives the process: saves by the policy's reasons, restores after a restart, damage."""

import asyncio
from dataclasses import replace

import pytest
from scripted_desk import Desk, finish_of, text_of

from ds4.core.events import Finish
from ds4.core.plan import Boundary, BoundaryKind
from ds4.core.sampling import Sampling
from ds4.core.step import SnapshotKind, Trim
from ds4.core.usage import CacheSource, MissReason, SaveReason, SaveTier
from ds4.kv.policy import Knobs
from ds4.observe.records import CheckpointHit
from ds4.schedule.scheduler import CachePlan
from ds4.testing.inline_store import InlineStore

KNOBS = Knobs(min_tokens=32, cold_max=200, interval=100, trim=4, align=16, saves=True)
ENDLESS = Sampling(temperature=0, ignore_eos=True)
STORY = "once upon a time there was an oak and it grew " * 6


def cached(store: InlineStore, **changes: int) -> CachePlan:
    return replace(CachePlan(KNOBS, store=store), **changes)  # type: ignore[arg-type]


def served(
    store: InlineStore, *texts: str, trim: Trim = Trim.ANY, slots: int = 1, persist: bool = True
) -> list[Finish]:
    """The ends of one process's requests, one after the other."""

    async def body() -> list[Finish]:
        desk = Desk(slots=slots, trim=trim, cache=cached(store))
        ends = [
            finish_of(await desk.run(desk.job(f"j{n}", text, max_tokens=3))) for n, text in enumerate(texts)
        ]
        if persist:
            desk.pump.scheduler.persist()
        return ends

    return asyncio.run(body())


@pytest.mark.parametrize("trim", list(Trim))
def test_a_conversation_goes_on_after_a_restart(trim: Trim) -> None:
    store = InlineStore()
    (first,) = served(store, STORY, trim=trim)
    (again,) = served(store.reopened(), STORY + "answer and then", trim=trim)
    assert again.report.source is CacheSource.DISK
    assert again.report.reused >= first.usage.prompt - 4
    assert again.report.restored_bytes > 0


@pytest.mark.parametrize("trim", list(Trim))
def test_a_retry_after_a_restart_costs_the_tail(trim: Trim) -> None:
    store = InlineStore()
    served(store, STORY, trim=trim)
    (again,) = served(store.reopened(), STORY, trim=trim)
    assert again.report.computed <= 4


def test_a_crash_costs_at_most_an_interval() -> None:
    store = InlineStore()
    served(store, STORY * 4, persist=False)
    (again,) = served(store.reopened(), STORY * 4)
    assert again.report.computed <= 112


def test_a_new_beginning_without_places_is_saved_at_a_round_length() -> None:
    store = InlineStore()
    (end,) = served(store, STORY, persist=False)
    assert [(save.reason, save.checkpoint.rows) for save in store.saves.values()] == [(SaveReason.COLD, 112)]
    assert [(saved.reason, saved.rows) for saved in end.report.saved] == [(SaveReason.COLD, 112)]


def test_a_long_prompt_is_saved_at_every_interval() -> None:
    store = InlineStore()
    served(store, STORY * 3, persist=False)
    made = [(save.reason, save.checkpoint.rows) for save in store.saves.values()]
    assert made == [(SaveReason.CONTINUED, row) for row in (112, 224, 336)]


def test_a_new_beginning_is_saved_where_its_system_text_ends() -> None:
    store = InlineStore()

    async def body() -> None:
        desk = Desk(cache=cached(store))
        job = desk.job("a", STORY, max_tokens=3)
        marks = (Boundary(40, BoundaryKind.SYSTEM_END, 0), Boundary(50, BoundaryKind.LAST_USER_START, 1))
        await desk.run(replace(job, plan=replace(job.plan, boundaries=marks)))

    asyncio.run(body())
    made = [(save.reason, save.checkpoint.rows) for save in store.saves.values()]
    assert made == [(SaveReason.COLD, 40), (SaveReason.CONTINUED, 112)]


def test_decoding_saves_at_intervals_too() -> None:
    store = InlineStore()

    async def body() -> None:
        desk = Desk(cache=cached(store))
        await desk.run(desk.job("a", "oak", max_tokens=230, sampling=ENDLESS))

    asyncio.run(body())
    assert [save.checkpoint.rows for save in store.saves.values()] == [112, 224]


def test_an_evicted_conversation_is_written() -> None:
    store = InlineStore()
    first, second = served(store, STORY, "another beginning " * 20, persist=False)
    evicted = [save for save in store.saves.values() if save.reason is SaveReason.EVICT]
    assert [save.checkpoint.rows for save in evicted] == [first.usage.prompt + 2]
    assert SaveTier.DISK in [saved.tier for saved in second.report.saved]


@pytest.mark.parametrize("trim", [Trim.WINDOW, Trim.BOUNDARY])
def test_the_marks_of_a_conversation_outlive_the_process(trim: Trim) -> None:
    store = InlineStore()
    served(store, STORY, trim=trim)
    kinds = {save.checkpoint.kind for save in store.saves.values()}
    assert kinds == {SnapshotKind.FULL, SnapshotKind.PARTIAL}


def test_damage_is_one_miss() -> None:
    store = InlineStore()
    served(store, STORY)
    later = store.reopened()
    later.damaged = set(later.saves)
    (end,) = served(later, STORY)
    assert (end.report.reused, end.report.reason) == (0, MissReason.DAMAGED)
    (again,) = served(later.reopened(), STORY)
    assert again.report.computed <= 1


def test_a_state_the_engine_refuses_is_put_aside() -> None:
    store = InlineStore()
    served(store, STORY)
    for key, save in store.saves.items():
        parts = tuple(replace(part, data=b"x" + bytes(part.data)[1:]) for part in save.snapshot.parts)
        store.saves[key] = replace(save, snapshot=replace(save.snapshot, parts=parts))
    later = store.reopened()
    (end,) = served(later, STORY, persist=False)
    assert (end.report.reused, end.report.reason) == (0, MissReason.DAMAGED)
    assert later.discarded


def test_a_read_that_never_comes_is_given_up() -> None:
    store = InlineStore()
    served(store, STORY)
    later = store.reopened()
    later.slow = True

    async def body() -> None:
        desk = Desk(slots=1, cache=cached(later))
        desk.pump.hold()
        waiting = asyncio.ensure_future(desk.run(desk.job("a", STORY, max_tokens=3)))
        await asyncio.sleep(0)
        assert not desk.pump.step()
        assert desk.pump.backend.status().queued == 1
        desk.clock.advance(31)
        desk.pump.release()
        end = finish_of(await waiting)
        assert end.report.reason is MissReason.DAMAGED

    asyncio.run(body())


def test_others_pass_while_one_reads() -> None:
    store = InlineStore()
    served(store, STORY)
    later = store.reopened()
    later.slow = True

    async def body() -> None:
        desk = Desk(slots=2, cache=cached(later))
        waiting = asyncio.ensure_future(desk.run(desk.job("a", STORY, max_tokens=3)))
        await asyncio.sleep(0)
        assert text_of(await desk.run(desk.job("b", "the elm", max_tokens=30))) == "answer to elm"
        assert not waiting.done()
        later.arrive()
        assert finish_of(await waiting).report.source is CacheSource.DISK
        assert [r.rows for r in desk.records if isinstance(r, CheckpointHit)]

    asyncio.run(body())


def test_a_read_for_someone_who_left_is_kept() -> None:
    store = InlineStore()
    served(store, STORY)
    later = store.reopened()
    later.slow = True

    async def body() -> None:
        desk = Desk(slots=1, cache=cached(later, ram=1 << 20))
        desk.pump.hold()
        waiting = asyncio.ensure_future(desk.run(desk.job("a", STORY, max_tokens=3)))
        await asyncio.sleep(0)
        desk.pump.step()
        desk.pump.backend.cancel("a")
        waiting.cancel()
        later.arrive()
        desk.pump.step()
        desk.pump.release()
        end = finish_of(await desk.run(desk.job("b", STORY, max_tokens=3)))
        assert end.report.source is CacheSource.RAM

    asyncio.run(body())


def test_one_caller_never_sees_anothers_checkpoints() -> None:
    store = InlineStore()

    async def body(namespace: str) -> Finish:
        desk = Desk(cache=cached(store))
        end = finish_of(await desk.run(desk.job("a", STORY, max_tokens=3, namespace=namespace)))
        desk.pump.scheduler.persist()
        return end

    asyncio.run(body("one"))
    end = asyncio.run(body("two"))
    assert (end.report.reused, end.report.common) == (0, 0)


def test_a_full_store_changes_nothing_else() -> None:
    store = InlineStore()
    store.full = True
    first, second = served(store, STORY, "another beginning " * 20)
    assert first.report.saved == second.report.saved == ()


def test_a_conversation_at_rest_is_written_once() -> None:
    """So that a killed server has lost little."""
    store = InlineStore()

    async def body() -> None:
        knobs = replace(KNOBS, cold_max=0, interval=0)
        desk = Desk(n_ctx=4096, cache=CachePlan(knobs, store=store))
        end = finish_of(await desk.run(desk.job("a", "oak " * 300, max_tokens=3)))
        desk.pump.step()
        assert not store.saves
        desk.clock.advance(3)
        desk.pump.step()
        (save,) = store.saves.values()
        assert (save.reason, save.checkpoint.rows) == (SaveReason.REST, end.usage.prompt + 2)
        store.saves.clear()
        desk.clock.advance(3)
        desk.pump.step()
        assert not store.saves

    asyncio.run(body())


@pytest.mark.parametrize("trim", list(Trim))
def test_a_smaller_context_takes_what_fits(trim: Trim) -> None:
    store = InlineStore()
    served(store, STORY, trim=trim)
    short = set(store.saves)
    served(store, STORY * 3, trim=trim)
    long = {key for key, save in store.saves.items() if save.checkpoint.rows > 256}
    assert long
    assert short - long

    async def body(later: InlineStore) -> Finish:
        desk = Desk(n_ctx=256, trim=trim, cache=cached(later))
        return finish_of(await desk.run(desk.job("a", STORY + "and then", max_tokens=3)))

    end = asyncio.run(body(store.reopened()))
    assert end.report.source is CacheSource.DISK
    assert end.report.reason is not MissReason.DAMAGED
    assert end.report.reused > 100
    only_long = InlineStore({key: store.saves[key] for key in long})
    end = asyncio.run(body(only_long))
    assert (end.report.source, end.report.reused) == (CacheSource.NONE, 0)
    assert not only_long.discarded
