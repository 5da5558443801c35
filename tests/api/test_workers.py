import asyncio
import threading
from collections.abc import Callable

import pytest
from api_fakes import run, settle

from ds4.api.workers import Workers
from ds4.core.errors import BadRequest, Overloaded


def fail() -> None:
    raise BadRequest("no")


class Held:
    """Work that goes on until it is let go."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.let_go = threading.Event()

    def __call__(self) -> str:
        self.begun.set()
        assert self.let_go.wait(10)
        return "held"


async def busy(workers: Workers, work: Callable[[], str]) -> "asyncio.Task[str]":
    task = asyncio.create_task(workers(work))
    await settle()
    return task


def test_results_and_errors_come_back() -> None:
    async def scenario() -> None:
        workers = Workers(threads=1)
        assert await workers(lambda: 3) == 3
        with pytest.raises(BadRequest):
            await workers(fail)
        assert await workers(lambda: 4) == 4

    run(scenario())


def test_the_line_before_the_threads_is_bounded() -> None:
    async def scenario() -> None:
        workers, held = Workers(threads=1, waiting=1), Held()
        first = await busy(workers, held)
        second = await busy(workers, lambda: "second")
        with pytest.raises(Overloaded) as refused:
            await workers(lambda: "third")
        assert refused.value.retry_after > 0
        held.let_go.set()
        assert [await first, await second] == ["held", "second"]
        assert await workers(lambda: "third") == "third"

    run(scenario())


def test_whoever_is_cancelled_in_the_line_is_never_begun() -> None:
    async def scenario() -> None:
        workers, held, unwanted = Workers(threads=1, waiting=1), Held(), Held()
        first = await busy(workers, held)
        second = await busy(workers, unwanted)
        second.cancel()
        await settle()
        held.let_go.set()
        assert await workers(lambda: "third") == "third"
        assert await first == "held"
        assert not unwanted.begun.is_set()

    run(scenario())


def test_work_that_has_begun_keeps_its_thread_when_nobody_wants_it_any_more() -> None:
    async def scenario() -> None:
        workers, held = Workers(threads=1, waiting=0), Held()
        first = await busy(workers, held)
        first.cancel()
        await settle()
        assert held.begun.wait(10)
        with pytest.raises(Overloaded):
            await workers(lambda: "second")
        held.let_go.set()
        while True:
            try:
                assert await workers(lambda: "third") == "third"
            except Overloaded:
                await asyncio.sleep(0)
            else:
                break

    run(scenario())
