"""The engine thread itself: a real thread, a scripted engine, no sleep."""

import asyncio

import pytest

from ds4.core.errors import EngineError, StartError, Unavailable
from ds4.core.events import Event, Failed, Finish
from ds4.core.status import Readiness
from ds4.core.step import ModelInfo
from ds4.engine.scripted.engine import ScriptedEngine, ScriptedOptions
from ds4.formats.registry import family_named
from ds4.schedule.bridge import LocalBackend
from ds4.schedule.scheduler import Limits
from ds4.schedule.thread import EngineThread
from ds4.testing.backend import ignore
from ds4.testing.clock import FakeClock
from ds4.testing.jobs import make_job


class Fragile(ScriptedEngine):
    """`defect` breaks the scheduler outside the engine-step boundary, as only a bug could."""

    defect = False

    @property
    def info(self) -> ModelInfo:
        if self.defect:
            raise RuntimeError("a bug")
        return super().info


def opened() -> Fragile:
    engine = Fragile.open(ScriptedOptions(lambda prompt: "yes", family_named("chatml"), n_ctx=64))  # noqa: ARG005
    assert isinstance(engine, Fragile)
    return engine


async def answer(backend: LocalBackend, name: str) -> list[Event]:
    stream = backend.submit(make_job(name, [1, 2, 3]))
    events: list[Event] = []
    while not (events and isinstance(events[-1], Finish | Failed)):
        events.extend(await stream.batch())
    return events


def test_it_answers_halts_and_serves_again() -> None:
    async def body() -> None:
        thread = EngineThread(FakeClock(), ignore)
        engine = await thread.open(opened)
        for name in ("a", "b"):
            backend = thread.serve(engine, Limits(), 4)
            assert isinstance((await answer(backend, name))[-1], Finish)
            await thread.halt()
        assert await thread.call(engine.memory) == engine.memory()
        await thread.close()

    asyncio.run(body())


def test_an_engine_that_cannot_open_says_so() -> None:
    def fail() -> ScriptedEngine:
        raise StartError("no such device")

    async def body() -> None:
        thread = EngineThread(FakeClock(), ignore)
        with pytest.raises(StartError, match="no such device"):
            await thread.open(fail)
        await thread.close()

    asyncio.run(body())


def test_a_defect_of_the_scheduler_is_answered_and_named() -> None:
    async def body() -> None:
        thread = EngineThread(FakeClock(), ignore)
        engine = await thread.open(opened)
        assert isinstance(engine, Fragile)
        backend = thread.serve(engine, Limits(), 4)
        engine.defect = True
        (event,) = await answer(backend, "a")
        assert isinstance(event, Failed)
        assert isinstance(event.error, EngineError)
        assert await thread.broken() == "the engine thread ended: RuntimeError: a bug"
        assert backend.status().readiness is Readiness.FAILED
        with pytest.raises(Unavailable):
            backend.submit(make_job("b", [1]))
        await thread.close()

    asyncio.run(body())
