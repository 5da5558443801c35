"""Answers of POST /v1/messages: streamed and whole, heartbeats, endings, and what goes wrong."""

import json
from dataclasses import replace
from typing import Any

import pytest
from api_fakes import FakeBackend, World, finish, run, settle
from hypothesis import given, settings
from hypothesis import strategies as st
from messages_reading import events_of, parsed, read, said

from ds4.api.anthropic.wire import MessagesWire, Shape
from ds4.api.collect import Answer
from ds4.api.sealed import Seals
from ds4.core.errors import EngineError
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
from ds4.core.usage import CacheReport, Usage
from ds4.testing.asgi import Exchange, Reply
from ds4.testing.clock import FakeClock

PATH = "/v1/messages?beta=true"
ASK: dict[str, Any] = {"model": "m", "max_tokens": 10, "messages": [{"role": "user", "content": "hi"}]}
TALK: list[tuple[Event, ...]] = [(Progress(3, 7),), (Text("Hello"), Text("")), (Text("."), finish())]
CALLS: list[tuple[Event, ...]] = [
    (Progress(3, 7), Reasoning("Look it"), Reasoning(" up."), Text("Checking.")),
    (ToolStart(0, "call_a", "stock"), ToolArgs(0, '{"item":'), ToolArgs(0, '"A"}'), ToolEnd(0)),
    (ToolStart(1, "call_b", "now"), ToolArgs(1, "{}"), ToolEnd(1), finish(FinishReason.TOOL_CALLS)),
]


def post(script: list[tuple[Event, ...]], **fields: object) -> Reply:
    return run(World(FakeBackend(script)).client().post(PATH, {**ASK, **fields}))


def whole(script: list[tuple[Event, ...]], **fields: object) -> Any:
    reply = post(script, **fields)
    assert reply.status == 200
    return reply.json()


def streamed(script: list[tuple[Event, ...]], **fields: object) -> Any:
    reply = post(script, stream=True, **fields)
    assert reply.headers["content-type"].startswith("text/event-stream")
    return read(reply.body)


def test_a_whole_answer_has_every_field_of_the_schema() -> None:
    answer = whole(CALLS)
    assert answer["id"].startswith("msg_")
    thinking, text, call, now = answer.pop("content")
    assert Seals().open(thinking.pop("signature")) == "Look it up."
    assert thinking == {"type": "thinking", "thinking": "Look it up."}
    assert text == {"type": "text", "text": "Checking.", "citations": None}
    assert call == {
        "type": "tool_use",
        "id": "call_a",
        "name": "stock",
        "input": {"item": "A"},
        "caller": {"type": "direct"},
    }
    assert now["input"] == {}
    assert answer == {
        "id": answer["id"],
        "type": "message",
        "role": "assistant",
        "model": "m",
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "stop_details": None,
        "container": None,
        "usage": {
            "input_tokens": 4,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 3,
            "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
            "output_tokens": 5,
            "output_tokens_details": {"thinking_tokens": 2},
            "server_tool_use": None,
            "service_tier": "standard",
            "inference_geo": None,
        },
    }


def test_every_answer_says_which_request_it_belongs_to() -> None:
    reply = post(TALK)
    assert reply.headers["request-id"] == reply.headers["x-ds4-request"] == reply.json()["id"]
    assert reply.headers["x-ds4-cache"].startswith("live reused=3")


@pytest.mark.parametrize("script", [TALK, CALLS])
def test_stream_and_whole_are_the_same_message(script: list[tuple[Event, ...]]) -> None:
    assert parsed(streamed(script)) == whole(script)


@pytest.mark.parametrize(
    ("reason", "sequence", "word"),
    [
        (FinishReason.STOP, None, "end_turn"),
        (FinishReason.STOP, "STOP", "stop_sequence"),
        (FinishReason.LENGTH, None, "max_tokens"),
        (FinishReason.TOOL_CALLS, None, "tool_use"),
        (FinishReason.SHUTDOWN, None, "max_tokens"),
    ],
)
def test_why_it_stopped(reason: FinishReason, sequence: str | None, word: str) -> None:
    script: list[tuple[Event, ...]] = [(Text("a"), finish(reason, sequence))]
    for answer in (whole(script), streamed(script)):
        assert (answer["stop_reason"], answer["stop_sequence"]) == (word, sequence)


@pytest.mark.parametrize("events", [(), (Reasoning("Hm."),), (Text(""),)])
def test_there_is_always_something_said(events: tuple[Event, ...]) -> None:
    script: list[tuple[Event, ...]] = [(*events, finish())]
    for answer in (whole(script), streamed(script)):
        assert answer["content"][-1] == {"type": "text", "text": "", "citations": None}


def test_hidden_reasoning_leaves_its_signature() -> None:
    fields = {"thinking": {"type": "adaptive", "display": "omitted"}}
    assert parsed(streamed(CALLS, **fields)) == whole(CALLS, **fields)
    first = whole(CALLS, **fields)["content"][0]
    assert (first["thinking"], Seals().open(first["signature"])) == ("", "Look it up.")


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        ('{"text":"half a sen', {"text": "half a sen"}),
        ('{"a":1,"b":', {"a": 1}),
        ("{", {}),
        ("", {}),
        ("[1]", {}),
    ],
)
def test_a_call_that_was_cut_keeps_what_there_is_of_it(arguments: str, value: object) -> None:
    call = (ToolStart(0, "call_a", "f"), ToolArgs(0, arguments), finish(FinishReason.LENGTH))
    assert whole([call])["content"][0]["input"] == value


def test_input_is_passed_on_as_the_model_wrote_it() -> None:
    raw = '{"n": 123456789012345678901234567890, "x": 1.0, "s": "\\ud83d"}'
    call = (ToolStart(0, "call_a", "f"), ToolArgs(0, raw), ToolEnd(0), finish())
    assert raw.encode() in post([call]).body


def usage(body: dict[str, Any]) -> tuple[int, int, int]:
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    read, cached, created = (body["usage"][name] for name in names)
    return read, cached, created


MARKED = {"cache_control": {"type": "ephemeral"}}


@pytest.mark.parametrize(("fields", "split"), [({}, (4, 3, 0)), (MARKED, (1, 3, 3))])
def test_usage_adds_up_to_the_prompt_everywhere(fields: dict[str, Any], split: tuple[int, int, int]) -> None:
    assert usage(whole(TALK, **fields)) == split
    events = events_of(post(TALK, stream=True, **fields).body)
    start, end = events[0]["message"], events[-2]
    assert usage(start) == usage(end) == split
    assert end["usage"]["output_tokens"] == 5


@given(st.integers(1, 10**6), st.integers(0, 10**6), st.booleans())
def test_the_split_of_any_prompt_adds_up(prompt: int, cached: int, caching: bool) -> None:
    done = finish()
    used = Usage(prompt, min(cached, prompt - 1), 1)
    wire = MessagesWire(Shape("i", "m", prompt, caching), lambda: 0.0)
    answer = Answer()
    answer.add([type(done)(done.reason, used, CacheReport())])
    split = usage(json.loads(wire.whole([answer])))
    assert sum(split) == prompt
    assert split[0] > 0
    assert split[1] == used.cached


def call_events(index: int) -> st.SearchStrategy[list[Event]]:
    return st.lists(st.text(max_size=5), max_size=3).map(lambda texts: _call(index, texts))


def _call(index: int, texts: list[str]) -> list[Event]:
    members = [f"{json.dumps(str(number))}:{json.dumps(text)}" for number, text in enumerate(texts)]
    pieces = ["{", *(("," if number else "") + member for number, member in enumerate(members)), "}"]
    return [
        ToolStart(index, f"call_{index}", "f"),
        *(ToolArgs(index, piece) for piece in pieces),
        ToolEnd(index),
    ]


texts = st.text(max_size=6)
spoken = st.one_of(texts.map(Reasoning), texts.map(Text), st.builds(Progress, st.integers(0, 7), st.just(7)))


@st.composite
def answers(draw: st.DrawFn) -> list[Event]:
    """Reasoning, text and calls in any order."""
    events: list[Event] = []
    for number, is_call in enumerate(draw(st.lists(st.booleans(), max_size=10))):
        events += draw(call_events(number)) if is_call else [draw(spoken)]
    return events


@settings(max_examples=60, deadline=None)
@given(answers(), st.sampled_from(list(FinishReason)), st.booleans(), st.data())
def test_any_stream_is_well_formed_and_says_what_the_whole_says(
    events: list[Event], reason: FinishReason, shown: bool, data: st.DataObject
) -> None:
    """Also with heartbeats at any place and after any time, but for the empty blocks these may leave."""
    clock = FakeClock()
    shape = Shape("msg_1", "m", 7, thinks=data.draw(st.booleans()), shows_thinking=shown)
    events.append(finish(reason))
    answer = Answer()
    answer.add(events)
    complete = json.loads(MessagesWire(shape, clock.now).whole([answer]))
    wire, body, beats = MessagesWire(shape, clock.now), b"", 0
    for event in events:
        for seconds in data.draw(st.lists(st.sampled_from([1.0, 299.0, 301.0]), max_size=2)):
            clock.advance(seconds)
            body += wire.heartbeat()
            beats += 1
        body += wire.chunks(0, [event])
    message = parsed(read(body + wire.end()))
    if not beats:
        assert message == complete
    assert said(message) == said(complete)
    assert message["usage"] == complete["usage"]
    thoughts = [Seals().open(b["signature"]) for b in message["content"] if b["type"] == "thinking"]
    expected = [Seals().open(b["signature"]) for b in complete["content"] if b["type"] == "thinking"]
    assert [thought for thought in thoughts if thought] == expected


async def until_started(exchange: Exchange) -> Any:
    await exchange.start()
    return exchange.chunks()


def test_the_message_starts_when_the_prompt_is_placed() -> None:
    async def scenario() -> None:
        world = World()
        async with world.client().open("POST", PATH, value={**ASK, "stream": True}) as exchange:
            chunks = await until_started(exchange)
            world.backend.stream.push(Progress(3, 8))
            (start,) = events_of(await anext(chunks))
            assert usage(start["message"]) == (5, 3, 0)
            assert start["message"]["usage"]["output_tokens"] == 0
            exchange.hang_up()

    run(scenario())


@pytest.mark.parametrize(("fields", "split"), [({}, (4, 9, 0)), (MARKED, (1, 9, 3))])
def test_a_prompt_that_the_cache_knows_in_more_tokens_adds_up_too(
    fields: dict[str, Any], split: tuple[int, int, int]
) -> None:
    """It is 8 tokens long as it was read, and 9 of 13 are cached."""
    last = replace(finish(), usage=Usage(prompt=13, cached=9, completion=5))
    events = events_of(post([(Progress(9, 13),), (Text("a"), last)], stream=True, **fields).body)
    assert usage(events[0]["message"]) == usage(events[-2]) == split


def test_a_message_that_waits_for_a_slot_starts_anyway_and_is_kept_alive() -> None:
    async def scenario() -> None:
        world = World()
        async with world.client().open("POST", PATH, value={**ASK, "stream": True}) as exchange:
            chunks = await until_started(exchange)
            await world.time.pass_(10)
            (start,) = events_of(await anext(chunks))
            assert usage(start["message"]) == (8, 0, 0), "nothing is known of the cache yet"
            for _ in range(28):
                await world.time.pass_(10)
                assert events_of(await anext(chunks)) == [{"type": "ping"}]
            await world.time.pass_(10)
            opened, delta = events_of(await anext(chunks))
            assert opened["content_block"]["type"] == "thinking"
            assert delta["delta"] == {"type": "thinking_delta", "thinking": ""}
            await world.time.pass_(10)
            assert events_of(await anext(chunks)) == [delta]
            world.backend.stream.push(Progress(3, 8), Reasoning("Hm."))
            (thought,) = events_of(await anext(chunks))
            assert thought["delta"]["thinking"] == "Hm.", "in the same block"
            exchange.hang_up()

    run(scenario())


def test_without_reasoning_a_long_wait_opens_a_block_of_text() -> None:
    async def scenario() -> None:
        world = World()
        value = {**ASK, "stream": True, "thinking": {"type": "disabled"}}
        async with world.client().open("POST", PATH, value=value) as exchange:
            chunks = await until_started(exchange)
            world.backend.stream.push(Progress(3, 8))
            await anext(chunks)
            await world.time.pass_(300)
            assert events_of(await anext(chunks))[0]["content_block"]["type"] == "text"
            world.backend.stream.push(Text("Hi"), finish())
            await settle()
            rest = events_of(b"".join([chunk async for chunk in chunks]))
            assert [event["type"] for event in rest][:2] == ["content_block_delta", "content_block_stop"]

    run(scenario())


def test_a_failure_in_a_stream_is_an_event_of_the_same_request() -> None:
    reply = post([(Progress(3, 7), Text("so far")), (Failed(EngineError("decode failed")),)], stream=True)
    last = events_of(reply.body)[-1]
    assert last == {
        "type": "error",
        "error": {"type": "api_error", "message": "decode failed"},
        "request_id": reply.headers["request-id"],
    }


@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_leaves_cancels_its_job(stream: bool) -> None:
    async def scenario() -> None:
        world = World(FakeBackend([(Progress(3, 7),)]))
        async with world.client().open("POST", PATH, value={**ASK, "stream": stream}) as exchange:
            await settle()
            exchange.hang_up()
            await settle()
            assert world.backend.cancelled == [job.id for job in world.backend.jobs] != []

    run(scenario())
