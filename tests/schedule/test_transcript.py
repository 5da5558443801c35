"""Which answers are remembered, and as what."""

import asyncio
from dataclasses import replace

import numpy as np
import pytest

from ds4.core.events import FinishReason, ParsedEvent, Reasoning, Stop, Text, ToolArgs, ToolEnd, ToolStart
from ds4.core.plan import Boundary, BoundaryKind, PromptPlan
from ds4.core.usage import Replay
from ds4.kv.replay.meaning import Call, Meaning, arguments_digest
from ds4.kv.replay.notebook import Notebook, Options
from ds4.kv.replay.record import Record, digest_of
from ds4.kv.replay.spots import rows_of
from ds4.schedule.scheduler import CachePlan
from ds4.schedule.transcript import Transcript
from ds4.testing.clock import FakeClock
from ds4.testing.inside import Inside, Setting, chat_body, inside

END = 99
IDS = np.arange(8, dtype=np.int32)
PLAN = PromptPlan((), (Boundary(6, BoundaryKind.ANSWER_START),), "ann", "", IDS)
EOS = Stop(FinishReason.STOP)
CALL: tuple[ParsedEvent, ...] = (ToolStart(0, "c", "look"), ToolArgs(0, '{"a":'), ToolArgs(0, "1}"))


def record(*events: ParsedEvent, end: Stop | None = EOS, plan: PromptPlan = PLAN) -> Record | None:
    transcript = Transcript()
    for number, event in enumerate(events):
        transcript.sampled(20 + number, (event,))
    return transcript.record(plan, end, lambda token: token == END)


def test_an_answer_is_its_marker_and_what_was_sampled() -> None:
    made = record(Reasoning("H"), Reasoning("m."), Text("One"), *CALL, ToolEnd(0), Text("two"))
    assert made is not None
    assert made.ids.tolist() == [6, 7, *range(20, 28)]
    assert (made.namespace, made.rows, made.prefix) == ("ann", 6, digest_of(IDS[:6]))
    assert made.meaning == Meaning(("One", "two"), (Call("look", arguments_digest('{"a":1}')),), ("Hm.",))
    assert made.closed


def cut(reason: FinishReason) -> Stop:
    return Stop(reason)


@pytest.mark.parametrize("end", [cut(FinishReason.LENGTH), cut(FinishReason.SHUTDOWN), None])
def test_a_cut_answer_counts_unless_it_is_in_the_middle_of_something(end: Stop | None) -> None:
    assert record(Reasoning("Hm."), Text("One"), end=end) is not None
    assert record(Reasoning("Hm."), end=end) is None
    assert record(Text("One"), *CALL, end=end) is None


@pytest.mark.parametrize("end", [cut(FinishReason.LENGTH), cut(FinishReason.SHUTDOWN), None])
def test_nor_does_one_with_a_call_since_its_block_is_open(end: Stop | None) -> None:
    assert record(Text("One"), *CALL, ToolEnd(0), end=end) is None


@pytest.mark.parametrize("end", [cut(FinishReason.LENGTH), cut(FinishReason.SHUTDOWN), None])
@pytest.mark.parametrize(("held", "counts"), [("<tool_call>lo", False), ("\ufffd", False), ("\n\n", True)])
def test_nor_does_one_that_ends_in_what_may_be_the_front_of_a_call(
    held: str, counts: bool, end: Stop | None
) -> None:
    """It was text to its client, but its tokens open a call."""
    transcript = Transcript()
    transcript.sampled(20, (Text("One"),))
    transcript.sampled(21, ())
    transcript.told((Text(held),))
    assert (transcript.record(PLAN, end, lambda token: token == END) is not None) is counts


def test_one_that_the_model_ended_counts_whatever_it_left_open() -> None:
    assert record(Reasoning("Hm.")) is not None
    assert record(Text("One"), *CALL) is not None


def test_one_that_was_ended_behind_a_call_may_lack_its_closing() -> None:
    made = record(*CALL, ToolEnd(0), end=Stop(FinishReason.TOOL_CALLS))
    assert made is not None
    assert not made.closed


def test_what_no_client_has_seen_is_not_remembered() -> None:
    assert record(Text("One"), end=Stop(FinishReason.STOP, "\n\n")) is None


@pytest.mark.parametrize(
    "plan",
    [
        replace(PLAN, boundaries=()),
        replace(PLAN, ids=np.array([0, 1, 2, 3, 4, 5, 6, END], np.int32)),
    ],
)
def test_where_an_answer_begins_must_be_known_and_look_like_it(plan: PromptPlan) -> None:
    assert record(Text("One"), plan=plan) is None


def test_nothing_sampled_is_nothing_to_remember() -> None:
    assert record() is None


# In the scheduler


def desk(notebook: Notebook | None = None) -> Inside:
    plan = CachePlan(notebook=notebook or Notebook(Options(), FakeClock()))
    reply = "Hm, hm.</think>One two three four five six seven."
    return inside(lambda _: reply, Setting("deepseek-v4", cache=plan))


async def replayed(server: Inside, said: str) -> Replay:
    await server.chat(("user", "count"), ("assistant", said), ("user", "more"))
    return server.last_report().replay


def test_an_answer_cut_by_length_is_replayed() -> None:
    async def body() -> None:
        server = desk()
        answer = await server.chat(("user", "count"), max_tokens=9)
        message = answer["choices"][0]["message"]
        assert "One" in message["content"]
        assert message["content"] != "One two three four five six seven."
        assert await replayed(server, message["content"]) == Replay(1)

    asyncio.run(body())


def test_so_is_one_whose_client_left() -> None:
    async def body() -> None:
        notebook = Notebook(Options(), FakeClock())
        server = desk(notebook)
        server.pump.hold()
        body = {**chat_body(("user", "count")), "stream": True}
        async with server.client.open("POST", "/v1/chat/completions", value=body) as exchange:
            await exchange.start()
            for _ in range(10):
                server.pump.step()
        server.pump.release()
        await asyncio.sleep(0)
        pages = notebook.of("")
        plan = server.engine.held(0)
        (made,) = pages.find(digest_of(np.array(plan[: rows_of(pages.spots())[0]], np.int32)))
        (text,) = made.meaning.text
        assert text.startswith("One")
        assert (await replayed(server, text)).turns == 1

    asyncio.run(body())


def test_and_one_with_a_stop_string_is_not() -> None:
    async def body() -> None:
        server = desk()
        answer = await server.chat(("user", "count"), stop=["three"])
        assert await replayed(server, answer["choices"][0]["message"]["content"]) == Replay()

    asyncio.run(body())
