"""The bytes of Responses, kept as files in tests/wire/responses, and what must hold for any answer.

`python tests/api/test_responses_wire.py` writes the files anew: look before you accept them.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from api_fakes import FakeBackend, World, finish, run
from hypothesis import given
from hypothesis import strategies as st
from responses_reading import events_of, read, without_ids

from ds4.core.errors import ContextOverflow, Ds4Error, EngineError
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
from ds4.core.sampling import Sampled

FOLDER = Path(__file__).parents[1] / "wire" / "responses"
TOOLS: list[Any] = [
    {"type": "function", "name": "stock", "parameters": {"type": "object"}, "strict": False},
    {
        "type": "namespace",
        "name": "team",
        "description": "Others.",
        "tools": [{"type": "function", "name": "ask"}],
    },
    {"type": "custom", "name": "patch"},
    {"type": "tool_search", "execution": "client"},
]
BODY: dict[str, Any] = {"model": "m", "input": "hi", "tools": TOOLS}
SHOWN: dict[str, Any] = {"reasoning": {"summary": "auto"}}
STREAM: dict[str, Any] = {"stream": True}


def call(index: int, name: str, *pieces: str) -> tuple[Event, ...]:
    arguments = [ToolArgs(index, piece) for piece in pieces]
    return (ToolStart(index, f"call_{index}", name), *arguments, ToolEnd(index))


TALK: list[tuple[Event, ...]] = [
    (Progress(3, 7),),
    (Progress(7, 7), Text("Grüß")),
    (Text(' "dich"\n'), finish()),
]
CALLS: list[tuple[Event, ...]] = [
    (Progress(7, 7), Reasoning("Look it")),
    (Reasoning(" up."), Text("Checking.")),
    call(0, "stock", "{", '"item":"A"', "}"),
    call(1, "team__ask", "{}"),
    call(2, "patch", '{"input":"', "*** Begin\\n", "+a\\u00e9", '"', "}"),
    (*call(3, "tool_search", '{"query":', '"x"}'), finish(FinishReason.TOOL_CALLS)),
]
CUT_CALL: list[tuple[Event, ...]] = [
    (Text("Now."), ToolStart(0, "call_0", "stock"), ToolArgs(0, '{"item":"A')),
    (finish(FinishReason.LENGTH),),
]
FAILED: list[tuple[Event, ...]] = [
    (Reasoning("Hm."), Text("so far")),
    (Failed(EngineError("decode failed")),),
]
LOGGED: list[tuple[Event, ...]] = [
    (Text("G", (Sampled(71, -0.25, ((71, -0.25), (72, -1.5))),)),),
    (Text("ü", (Sampled(195, -0.5, ()), Sampled(188, -2.0, ()))), finish()),
]
Case = tuple[dict[str, Any], list[tuple[Event, ...]], Ds4Error | None]
CASES: dict[str, Case] = {
    "talk.json": (BODY, TALK, None),
    "talk.sse": (BODY | STREAM, TALK, None),
    "calls.json": (BODY | SHOWN, CALLS, None),
    "calls.sse": (BODY | SHOWN | STREAM, CALLS, None),
    "hidden_reasoning.sse": (BODY | STREAM, [*CALLS[:2], (finish(),)], None),
    "cut_call.json": (BODY, CUT_CALL, None),
    "cut_call.sse": (BODY | STREAM, CUT_CALL, None),
    "failed.sse": (BODY | STREAM, FAILED, None),
    "logprobs.json": (BODY | {"top_logprobs": 2}, LOGGED, None),
    "logprobs.sse": (BODY | {"top_logprobs": 2} | STREAM, LOGGED, None),
    "error_overflow.json": (BODY | STREAM, [], ContextOverflow(120, 100)),
    "error_background.json": (BODY | {"background": True}, [], None),
    "error_format.json": (BODY | {"text": {"format": {"type": "xml"}}}, [], None),
}


def answer(name: str) -> bytes:
    body, script, refusal = CASES[name]
    return run(World(FakeBackend(script, refusal)).client().post("/v1/responses", body)).body


def both(script: list[tuple[Event, ...]], **fields: Any) -> tuple[Any, bytes]:
    """The whole answer, and the stream of the same events."""
    client = World(FakeBackend(script)).client()
    whole = run(client.post("/v1/responses", BODY | SHOWN | fields))
    streamed = run(client.post("/v1/responses", BODY | SHOWN | STREAM | fields))
    return whole.json(), streamed.body


@pytest.mark.parametrize("name", CASES)
def test_bytes_on_the_wire(name: str) -> None:
    assert answer(name) == (FOLDER / name).read_bytes()


def test_no_file_is_left_over() -> None:
    assert {path.name for path in FOLDER.iterdir()} == set(CASES)


@pytest.mark.parametrize("name", [name for name in CASES if name.endswith(".sse")])
def test_streams_keep_the_contract(name: str) -> None:
    read(answer(name))


def test_reasoning_ends_before_text_begins() -> None:
    names = read(answer("calls.sse")).names
    assert names.index("reasoning_summary_text.done") < names.index("output_text.delta")
    assert [name for name in names if name.startswith("output_item")] == [
        "output_item.added",
        "output_item.done",
    ] * 6


def test_arguments_and_raw_input_go_out_as_they_are_produced() -> None:
    reading = read(answer("calls.sse"))
    assert reading.deltas("function_call_arguments") == ["{", '"item":"A"', "}", "{}"]
    assert reading.deltas("custom_tool_call_input") == ["*** Begin\n", "+aé"]


def test_calls_have_the_clients_names() -> None:
    _, _, stock, ask, patch, search = read(answer("calls.sse")).items
    assert (stock["type"], stock["name"], "namespace" in stock) == ("function_call", "stock", False)
    assert (ask["type"], ask["name"], ask["namespace"]) == ("function_call", "ask", "team")
    assert (patch["type"], patch["input"]) == ("custom_tool_call", "*** Begin\n+aé")
    assert (search["type"], search["execution"], search["arguments"]) == (
        "tool_search_call",
        "client",
        {"query": "x"},
    )


def test_reasoning_that_nobody_asked_to_see_is_sealed_only() -> None:
    reading = read(answer("hidden_reasoning.sse"))
    assert reading.items[0]["summary"] == []
    assert reading.items[0]["encrypted_content"]
    assert not any("reasoning_summary" in name for name in reading.names)


def test_a_cut_call_is_incomplete_and_so_is_the_response() -> None:
    response = read(answer("cut_call.sse")).response
    assert response["status"] == "incomplete"
    assert response["incomplete_details"] == {"reason": "max_output_tokens"}
    assert [item["status"] for item in response["output"]] == ["completed", "incomplete"]


def test_a_failure_ends_the_stream_with_what_there_is() -> None:
    reading = read(answer("failed.sse"))
    assert reading.names[-1] == "failed"
    assert reading.response["error"] == {"code": "server_error", "message": "decode failed"}
    assert reading.items[-1]["content"][0]["text"] == "so far"


def test_a_shutdown_is_a_failure_that_agents_retry() -> None:
    whole, streamed = both([(Text("so far"), finish(FinishReason.SHUTDOWN))])
    assert (whole["status"], whole["error"]["code"]) == ("failed", "server_error")
    assert read(streamed).names[-1] == "failed"


def test_usage_adds_up() -> None:
    usage = read(answer("calls.sse")).response["usage"]
    assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"]
    assert usage["input_tokens_details"] == {"cached_tokens": 3, "cache_write_tokens": 4}
    assert usage["output_tokens_details"] == {"reasoning_tokens": 2}


def test_silence_is_broken_by_creation_first_and_keepalives_after() -> None:
    async def scenario() -> bytes:
        world = World(FakeBackend())
        async with world.client().open("POST", "/v1/responses", value=BODY | STREAM) as exchange:
            await exchange.start()
            for _ in range(3):
                await world.time.pass_(10)
            world.backend.stream.push(Text("hi"), finish())
            return await exchange.read()

    body = run(scenario())
    kinds = [event["type"] for event in events_of(body)]
    assert kinds[:4] == ["response.created", "response.in_progress", "keepalive", "keepalive"]
    assert read(body).response["status"] == "completed"


TEXTS = st.text(st.characters(codec="utf-8"), max_size=6)
NAMES = st.sampled_from(["stock", "team__ask", "ask", "patch", "tool_search", "unknown"])


@st.composite
def arguments(draw: st.DrawFn) -> list[str]:
    """A JSON object, cut anywhere."""
    value = draw(st.dictionaries(st.sampled_from(["input", "other"]), TEXTS | st.integers(), max_size=2))
    text = json.dumps(value, ensure_ascii=draw(st.booleans()), separators=(",", ":"))
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=4)))
    return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]


@st.composite
def answers(draw: st.DrawFn) -> list[tuple[Event, ...]]:
    batches: list[tuple[Event, ...]] = []
    for index in range(draw(st.integers(0, 5))):
        match draw(st.sampled_from(["text", "reasoning", "call", "progress"])):
            case "text":
                batches.append((Text(draw(TEXTS)), Text(draw(TEXTS))))
            case "reasoning":
                batches.append((Reasoning(draw(TEXTS)),))
            case "call":
                batches.append(call(index, draw(NAMES), *draw(arguments())))
            case _:
                batches.append((Progress(1, 7),))
    if draw(st.booleans()):
        batches.append((ToolStart(9, "call_9", draw(NAMES)), ToolArgs(9, draw(arguments())[0])))
    return [*batches, (finish(draw(st.sampled_from(FinishReason))),)]


@given(answers())
def test_the_stream_and_the_whole_answer_are_the_same(script: list[tuple[Event, ...]]) -> None:
    whole, streamed = both(script)
    assert without_ids(read(streamed).response) == without_ids(whole)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for case in CASES:
        (FOLDER / case).write_bytes(answer(case))
