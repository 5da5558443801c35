"""Worlds that are hard to repeat: silence, keys, full queues, broken steps, a server that is told to stop."""

import asyncio

import pytest
from reruns import lines_of, traced, verdict

from ds4.api.access import Access
from ds4.api.keys import Keyring
from ds4.core.errors import EngineError
from ds4.core.step import StepPlan, StepResult
from ds4.observe.trace.reading import Run
from ds4.observe.trace.values import Json
from ds4.replay_command import told
from ds4.schedule.scheduler import Limits
from ds4.testing.inside import Inside, Setting, chat_body

TALK = (("user", "Say something."),)


def same(run: Run) -> None:
    found = verdict(run)
    assert found.same, "\n".join(told(found, verbose=False))


def count(run: Run, **fields: object) -> int:
    return sum(fields.items() <= line.items() for line in run.lines)


def test_a_stream_without_news_is_repeated_with_its_heartbeats() -> None:
    async def play(server: Inside) -> None:
        server.pump.hold()
        async with server.client.open(
            "POST", "/v1/chat/completions", value=chat_body(*TALK, stream=True)
        ) as exchange:
            await exchange.start()
            chunks = exchange.chunks()
            for _ in range(3):
                server.clock.advance(11.0)
                server.pauses.end()
                await anext(chunks)
            server.pump.release()
            async for _ in chunks:
                pass

    run = traced(play)
    assert count(run, at="slept") >= 3
    assert [line["more"] for line in run.lines if line["at"] == "sent" and "more" in line][:3] == [True] * 3
    same(run)


def test_callers_are_told_apart_without_their_keys() -> None:
    async def play(server: Inside) -> None:
        for key in ("sk-one", "sk-two", "sk-one", "sk-none", None):
            headers = {} if key is None else {"authorization": f"Bearer {key}"}
            await server.client.request(
                "POST", "/v1/chat/completions", value=chat_body(*TALK), headers=headers
            )

    run = traced(play, setting=Setting(access=Access(keys=Keyring.of(("sk-one", "sk-two")))))
    assert "sk-" not in str(run)
    callers = [line["caller"] for line in run.lines if line["at"] == "request"]
    assert callers == ["caller-1", "caller-2", "caller-1", "", ""]
    assert count(run, at="sent", status=401) == 2
    same(run)


def test_keys_for_other_servers_are_hidden_and_the_rest_is_repeated() -> None:
    tool = {"type": "mcp", "server_label": "wiki", "server_url": "https://a", "authorization": "sk-one"}
    body = {"model": "any", "input": "Say sk-two.", "tools": [tool, {"type": "function", "name": "f"}]}

    async def play(server: Inside) -> None:
        reply = await server.client.post("/v1/responses", body)
        assert reply.status == 200
        assert b"sk-one" in reply.body
        assert b"sk-one" in (await server.client.get(f"/v1/responses/{reply.json()['id']}")).body
        await server.client.post("/v1/responses", {**body, "stream": True})

    run = traced(play)
    assert "sk-one" not in str(run.lines)
    assert "sk-two" in str(run.lines)
    same(run)


def test_a_full_queue_turns_the_same_ones_away() -> None:
    async def play(server: Inside) -> None:
        ask = server.client.post
        await asyncio.gather(*(ask("/v1/chat/completions", chat_body(*TALK)) for _ in range(5)))

    run = traced(play, setting=Setting(n_slots=1, max_queue=1))
    assert count(run, at="sent", status=429) == 3
    same(run)


def test_a_step_that_fails_fails_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async def play(server: Inside) -> None:
        def broken(_plan: StepPlan) -> StepResult:
            raise EngineError("the device is gone")

        with monkeypatch.context() as broken_for_a_while:
            broken_for_a_while.setattr(server.engine, "step", broken)
            await server.client.post("/v1/chat/completions", chat_body(*TALK))
        await server.client.post("/v1/chat/completions", chat_body(*TALK))

    run = traced(play)
    assert (count(run, at="sent", status=500), count(run, at="sent", status=200)) == (1, 1)
    same(run)


def test_a_server_that_is_told_to_stop_stops_again() -> None:
    async def play(server: Inside) -> None:
        body = chat_body(*TALK, stream=True)
        async with server.client.open("POST", "/v1/chat/completions", value=body) as exchange:
            await exchange.start()
            async for _ in exchange.chunks():
                server.pump.backend.drain()
        await server.client.post("/v1/chat/completions", chat_body(*TALK))

    run = traced(play, setting=Setting(limits=Limits(8, 8)))
    assert ["drain"] in [command for line in lines_of(run) for command in line.get("commands", ())]
    same(run)


def test_lines_that_were_lost_end_the_comparison() -> None:
    async def play(server: Inside) -> None:
        for _ in range(2):
            await server.client.post("/v1/chat/completions", chat_body(*TALK))

    run = traced(play)
    middle = next(n for n, line in enumerate(run.lines) if line["at"] == "done") + 1
    lost: Json = {"at": "lost", "lines": 5}
    found = verdict(Run(run.head, [*run.lines[:middle], lost, *run.lines[middle + 5 :]]))
    assert found.same
    assert "lost lines" in told(found, verbose=False)[0]
    assert found.compared["request"] == 1


def test_a_trace_that_was_cut_off_is_compared_up_to_there() -> None:
    async def play(server: Inside) -> None:
        await server.client.post("/v1/chat/completions", chat_body(*TALK, stream=True))

    run = traced(play)
    for size in range(0, len(run.lines), 7):
        same(Run(run.head, run.lines[:size]))


def test_nothing_of_a_glance_is_in_the_trace() -> None:
    async def play(server: Inside) -> None:
        for path in ("/health", "/ready", "/slots", "/requests", "/requests/nobody"):
            await server.client.get(path)

    assert [line["at"] for line in traced(play).lines] == ["shown"]
