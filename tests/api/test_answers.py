"""Answers, streamed and whole: what is sent, when, and what ends it."""

import asyncio
import json
from typing import Any

import pytest
from api_fakes import DeafReader, FakeBackend, World, finish, run, settle
from hypothesis import given
from hypothesis import strategies as st

from ds4.core.errors import EngineError, Overloaded, Unavailable
from ds4.core.events import (
    Event,
    Failed,
    FinishReason,
    Progress,
    Reasoning,
    Text,
    ToolArgs,
    ToolEnd,
    ToolStart,
)
from ds4.core.job import JobKind
from ds4.testing.asgi import Exchange

CHAT = "/v1/chat/completions"
COMPLETIONS = "/v1/completions"
ASK: dict[str, dict[str, Any]] = {
    CHAT: {"messages": [{"role": "user", "content": "hi"}]},
    COMPLETIONS: {"prompt": "hi"},
}
BOTH = pytest.mark.parametrize("path", [CHAT, COMPLETIONS])


def chunks(body: bytes) -> list[dict[str, Any]]:
    frames = body.decode().split("\n\n")
    return [json.loads(frame.removeprefix("data: ")) for frame in frames if frame.startswith("data: {")]


def post(world: World, path: str, **fields: object) -> Any:
    return run(world.client().post(path, {**ASK[path], **fields}))


def test_a_job_carries_everything_that_was_asked() -> None:
    world = World(FakeBackend([(finish(),)]))
    fields = {"max_tokens": 5, "stop": ["x"], "seed": 3, "tools": [{"name": "f"}], "think": True}
    reply = post(world, CHAT, **fields)
    (job,) = world.backend.jobs
    assert (job.id, job.kind, job.max_tokens, job.flags) == (
        reply.json()["id"],
        JobKind.CHAT,
        5,
        ("TOOLS", "THINKING"),
    )
    assert job.plan.text == "[user]hi"
    assert job.reader == DeafReader(JobKind.CHAT, ("x",))
    assert job.sampling.seed == 3


def test_a_raw_prompt_goes_by_the_template() -> None:
    world = World(FakeBackend([(finish(),)]))
    assert post(world, COMPLETIONS, prompt=[104, 105], stop="x").status == 200
    assert world.renderer.prompts == [(104, 105)]
    assert world.backend.jobs[0].reader == DeafReader(JobKind.COMPLETION, ("x",))


@BOTH
def test_every_answer_of_a_job_carries_its_id_and_a_whole_one_what_the_cache_did(path: str) -> None:
    reply = post(World(FakeBackend([(finish(),)])), path)
    assert reply.headers["x-ds4-request"] == reply.json()["id"]
    assert reply.headers["x-ds4-cache"] == "live reused=3 computed=4 reason=none"
    for refused in (post(World(FakeBackend(refusal=Unavailable("no"))), path), post(World(), path, n=0)):
        assert refused.headers["x-ds4-request"] == reply.headers["x-ds4-request"]


@BOTH
def test_the_name_in_the_request_is_echoed(path: str) -> None:
    world = World(FakeBackend([(finish(),)]))
    assert post(world, path, model="any/name").json()["model"] == "any/name"
    assert chunks(post(world, path, model="any/name", stream=True).body)[0]["model"] == "any/name"


@BOTH
def test_usage_is_streamed_only_when_asked_for(path: str) -> None:
    world = World(FakeBackend([(Text("a"), finish())]))
    plain = chunks(post(world, path, stream=True).body)
    assert all("usage" not in chunk for chunk in plain)
    asked = chunks(post(world, path, stream=True, stream_options={"include_usage": True}).body)
    assert asked[-1]["choices"] == []
    assert asked[-1]["usage"] == post(world, path).json()["usage"]
    assert asked[-1]["usage"]["prompt_tokens_details"] == {"cached_tokens": 3, "cache_write_tokens": 4}


@BOTH
@pytest.mark.parametrize(
    ("reason", "word"),
    [
        (FinishReason.STOP, "stop"),
        (FinishReason.LENGTH, "length"),
        (FinishReason.TOOL_CALLS, "tool_calls"),
        (FinishReason.SHUTDOWN, "error"),
    ],
)
def test_finish_reasons(path: str, reason: FinishReason, word: str) -> None:
    world = World(FakeBackend([(finish(reason),)]))
    assert post(world, path).json()["choices"][0]["finish_reason"] == word
    assert chunks(post(world, path, stream=True).body)[-1]["choices"][0]["finish_reason"] == word


def merged(streamed: list[dict[str, Any]]) -> dict[str, Any]:
    """The message a client of the chat stream ends up with."""
    message: dict[str, Any] = {"role": "", "content": "", "reasoning_content": ""}
    calls: dict[int, dict[str, Any]] = {}
    for chunk in streamed:
        for name, value in chunk["choices"][0]["delta"].items():
            if name != "tool_calls":
                message[name] += value
                continue
            for part in value:
                call = calls.setdefault(part["index"], {"function": {"name": "", "arguments": ""}})
                call |= {key: part[key] for key in ("id", "type") if key in part}
                for key, text in part["function"].items():
                    call["function"][key] += text
    if calls:
        message["tool_calls"] = [calls[index] for index in sorted(calls)]
    if not message["reasoning_content"]:
        del message["reasoning_content"]
    return message


def call_events(index: int) -> st.SearchStrategy[list[Event]]:
    pieces = st.lists(st.text(max_size=5), max_size=3)
    start = ToolStart(index, f"call_{index}", f"tool{index}")
    return pieces.map(lambda texts: [start, *(ToolArgs(index, text) for text in texts), ToolEnd(index)])


texts = st.text(max_size=6)
spoken = st.lists(
    texts.map(Reasoning) | texts.map(Text) | st.builds(Progress, st.integers(0, 9), st.just(9)), max_size=8
)
called: st.SearchStrategy[list[Event]] = (
    st.integers(0, 3)
    .flatmap(lambda n: st.tuples(*map(call_events, range(n))))
    .map(lambda calls: [event for call in calls for event in call])
)


@st.composite
def scripts(draw: st.DrawFn) -> list[tuple[Event, ...]]:
    """Any answer, cut into batches at any place."""
    events = [*draw(spoken), *draw(called), finish(draw(st.sampled_from(list(FinishReason))))]
    script: list[tuple[Event, ...]] = []
    while events:
        size = draw(st.integers(1, len(events)))
        script.append(tuple(events[:size]))
        del events[:size]
    return script


@given(scripts())
def test_stream_and_whole_say_the_same(script: list[tuple[Event, ...]]) -> None:
    world = World(FakeBackend(script))
    whole = post(world, CHAT).json()["choices"][0]
    streamed = chunks(post(world, CHAT, stream=True).body)
    del whole["message"]["refusal"], whole["message"]["annotations"]
    assert merged(streamed) == whole["message"]
    assert [c["choices"][0]["finish_reason"] for c in streamed] == [None] * (len(streamed) - 1) + [
        whole["finish_reason"]
    ]
    whole = post(world, COMPLETIONS).json()["choices"][0]
    streamed = chunks(post(world, COMPLETIONS, stream=True).body)
    assert "".join(chunk["choices"][0]["text"] for chunk in streamed) == whole["text"]
    assert streamed[-1]["choices"][0]["finish_reason"] == whole["finish_reason"]


@BOTH
def test_headers_go_out_at_once_and_text_as_it_comes(path: str) -> None:
    async def scenario() -> None:
        world = World()
        async with world.client().open("POST", path, value={**ASK[path], "stream": True}) as exchange:
            await exchange.start()
            assert exchange.status == 200
            assert exchange.headers["content-type"] == "text/event-stream; charset=utf-8"
            assert exchange.headers["cache-control"] == "no-cache"
            assert exchange.headers["x-accel-buffering"] == "no"
            body = exchange.chunks()
            for word in ("one", "two"):
                world.backend.stream.push(Text(word))
                assert word.encode() in await anext(body)
            world.backend.stream.push(finish())
            assert (await anext(body)).endswith(b"data: [DONE]\n\n")
        assert world.backend.cancelled == []

    run(scenario())


class Streaming:
    """A stream under way, and the chunks that have come."""

    def __init__(self, exchange: Exchange) -> None:
        self.body = b""
        self._task = asyncio.create_task(self._collect(exchange))

    async def _collect(self, exchange: Exchange) -> None:
        await exchange.start()
        async for chunk in exchange.chunks():
            self.body += chunk

    def take(self) -> list[dict[str, Any]]:
        body, self.body = self.body, b""
        return chunks(body)

    def cancel(self) -> None:
        self._task.cancel()


def test_a_silent_chat_stream_is_kept_alive_by_empty_deltas() -> None:
    async def scenario() -> None:
        world = World()
        async with world.client().open("POST", CHAT, value={**ASK[CHAT], "stream": True}) as exchange:
            streaming = Streaming(exchange)
            await world.time.pass_(9.9)
            assert streaming.take() == []
            await world.time.pass_(0.1)
            (first,) = streaming.take()
            assert first["choices"][0]["delta"] == {"role": "assistant", "content": ""}
            await world.time.pass_(10)
            (second,) = streaming.take()
            assert second["choices"][0]["delta"] == {"content": ""}
            world.backend.stream.push(Progress(5, 9))
            await world.time.pass_(10)
            assert len(streaming.take()) == 1
            streaming.cancel()

    run(scenario())


def test_a_silent_completion_stream_is_kept_alive_by_empty_text() -> None:
    async def scenario() -> None:
        world = World()
        value = {"prompt": "x", "stream": True}
        async with world.client().open("POST", COMPLETIONS, value=value) as exchange:
            streaming = Streaming(exchange)
            await world.time.pass_(10)
            (beat,) = streaming.take()
            assert (beat["choices"][0]["text"], beat["choices"][0]["finish_reason"]) == ("", None)
            streaming.cancel()

    run(scenario())


def test_a_stream_that_speaks_needs_no_heartbeat() -> None:
    async def scenario() -> None:
        world = World()
        async with world.client().open("POST", CHAT, value={**ASK[CHAT], "stream": True}) as exchange:
            streaming = Streaming(exchange)
            for _ in range(5):
                await world.time.pass_(6)
                world.backend.stream.push(Text("x"))
                await settle()
            deltas = [chunk["choices"][0]["delta"] for chunk in streaming.take()]
            assert deltas == [{"role": "assistant", "content": ""}, *[{"content": "x"}] * 5]
            streaming.cancel()

    run(scenario())


PHASES: dict[str, tuple[Event, ...]] = {
    "queued": (),
    "prefill": (Progress(1, 9),),
    "reasoning": (Progress(9, 9), Reasoning("hm")),
    "decode": (Progress(9, 9), Text("a")),
}


@BOTH
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("phase", PHASES)
def test_a_client_that_leaves_cancels_its_job(path: str, stream: bool, phase: str) -> None:
    async def scenario() -> None:
        world = World(FakeBackend([PHASES[phase]] if PHASES[phase] else []))
        async with world.client().open("POST", path, value={**ASK[path], "stream": stream}) as exchange:
            await settle()
            assert world.backend.cancelled == []
            exchange.hang_up()
            await settle()
            assert world.backend.cancelled == [job.id for job in world.backend.jobs] != []

    run(scenario())


@BOTH
def test_a_cancelled_task_cancels_its_job(path: str) -> None:
    async def scenario() -> None:
        world = World()
        client = world.client()
        task = asyncio.create_task(client.post(path, ASK[path]))
        await settle()
        (job,) = world.backend.jobs
        task.cancel()
        await settle()
        assert world.backend.cancelled == [job.id]
        with pytest.raises(asyncio.CancelledError):
            await task

    run(scenario())


@BOTH
def test_a_failure_in_a_stream_ends_it_with_an_error_event(path: str) -> None:
    world = World(FakeBackend([(Text("so far"), Failed(EngineError("decode failed")))]))
    reply = post(world, path, stream=True)
    assert reply.status == 200
    text, event = reply.body.split(b"event: error\n")
    assert b"so far" in text
    assert b"[DONE]" not in reply.body
    error = json.loads(event.removeprefix(b"data: "))["error"]
    assert (error["message"], error["type"]) == ("decode failed", "server_error")


@BOTH
def test_a_failure_of_a_whole_answer_is_a_status(path: str) -> None:
    reply = post(World(FakeBackend([(Text("so far"),), (Failed(EngineError("decode failed")),)])), path)
    assert (reply.status, reply.json()["error"]["message"]) == (500, "decode failed")


@BOTH
@pytest.mark.parametrize("stream", [False, True])
def test_a_refusal_is_a_status_also_for_streams(path: str, stream: bool) -> None:
    backend = FakeBackend(refusal=Overloaded("64 requests are waiting", retry_after=7))
    reply = post(World(backend), path, stream=stream)
    assert (reply.status, reply.headers["retry-after"]) == (429, "7")
    assert reply.json()["error"]["type"] == "rate_limit_error"
    assert backend.cancelled == []
