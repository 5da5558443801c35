"""Users report: /health hangs while a prompt is computed, or says ok when the engine is gone."""

import asyncio

from ds4.core.errors import EngineError
from ds4.core.step import StepPlan, StepResult
from ds4.schedule.bridge import STALL_SECONDS
from ds4.testing.inside import Setting, chat_body, inside


def test_health_answers_between_two_steps_of_a_prefill() -> None:
    async def body() -> None:
        desk = inside(lambda prompt: "ok", Setting(n_slots=1))  # noqa: ARG005
        long = asyncio.ensure_future(desk.chat(("user", "read " * 1500), max_tokens=1))
        for _ in range(5):
            assert (await desk.client.get("/health")).status == 200
            assert not long.done()
        await long

    asyncio.run(body())


def test_ready_turns_red_when_a_step_fails_and_green_when_one_succeeds() -> None:
    async def body() -> None:
        desk = inside(lambda prompt: "ok", Setting(n_slots=1))  # noqa: ARG005
        step = desk.engine.step

        def fail(plan: StepPlan) -> StepResult:  # noqa: ARG001
            raise EngineError("the device is gone")

        desk.engine.step = fail  # type: ignore[method-assign]
        reply = await desk.client.post("/v1/chat/completions", chat_body(("user", "go")))
        assert reply.status == 500
        assert "the device is gone" in reply.json()["error"]["message"]
        ready = await desk.client.get("/ready")
        assert (ready.status, "the device is gone" in ready.body.decode()) == (503, True)
        assert (await desk.client.get("/health")).status == 200, "the process itself is alive"
        desk.engine.step = step  # type: ignore[method-assign]
        await desk.chat(("user", "go"))
        assert (await desk.client.get("/ready")).status == 200

    asyncio.run(body())


def test_ready_turns_red_when_the_engine_is_silent() -> None:
    async def body() -> None:
        desk = inside(lambda prompt: "ok", Setting(n_slots=1))  # noqa: ARG005
        desk.clock.advance(STALL_SECONDS + 1)
        assert (await desk.client.get("/ready")).status == 503

    asyncio.run(body())
