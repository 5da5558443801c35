"""The small parts of recording and repeating."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from ds4.core.errors import BadRequest, ContextOverflow, EngineError, Unavailable
from ds4.observe.trace.values import Json
from ds4.rerun.moment import (
    ENGINE,
    MOMENT,
    REQUEST,
    WORKING,
    Callers,
    Moment,
    NotedIds,
    ReadMoments,
    StandingClock,
)
from ds4.rerun.replay.compare import agrees, first_difference, where, words
from ds4.rerun.replay.gates import Gates
from ds4.rerun.replay.idle import IdleLoop
from ds4.rerun.replay.lines import error_of
from ds4.rerun.replay.order import groups
from ds4.testing.clock import FakeClock
from ds4.testing.ids import SequentialIds


def in_context(work: Callable[[], None]) -> None:
    async def run() -> None:
        work()

    asyncio.run(run())


def test_the_clock_stands_until_the_next_moment() -> None:
    def work() -> None:
        clock = FakeClock(5.0, 100.0)
        standing = StandingClock(clock)
        assert standing.now() == 5.0
        ReadMoments(clock).take("turn")
        clock.advance(1.0)
        assert (standing.now(), standing.wall()) == (5.0, 100.0)
        WORKING.set(True)
        # A limit on work must see time pass; the date in a prompt is the request's.
        assert (standing.now(), standing.wall()) == (6.0, 100.0)

    in_context(work)


def test_ids_are_noted_for_whoever_draws_them() -> None:
    put: list[Json] = []
    drawn: list[str] = []
    ids = NotedIds(SequentialIds(), put.append, drawn.append)

    def work() -> None:
        ids.new("req-")
        REQUEST.set(ENGINE)
        ids.new("call_")
        REQUEST.set(3)
        ids.new("msg_")

    in_context(work)
    assert [name[:5] for name in drawn] == ["call_"]
    assert [(line["request"], str(line["id"])[:4]) for line in put] == [(3, "msg_")]


def test_callers_have_numbers() -> None:
    callers = Callers()
    assert [callers.name(name) for name in ("", "ab12", "cd34", "ab12")] == [
        "",
        "caller-1",
        "caller-2",
        "caller-1",
    ]
    assert callers.name("caller-7") == "caller-7"


def test_idle_comes_when_everything_waits() -> None:
    async def run() -> list[int]:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, IdleLoop)
        seen: list[int] = []

        async def hop(left: int) -> None:
            if left:
                await asyncio.sleep(0)
                await asyncio.create_task(hop(left - 1))
            seen.append(left)

        tasks = [asyncio.create_task(hop(30)), asyncio.create_task(asyncio.Event().wait())]
        await loop.watch.idle()
        tasks[1].cancel()
        return seen

    with asyncio.Runner(loop_factory=IdleLoop) as runner:
        assert runner.run(run()) == list(range(31))


def _run(main: Callable[[], Awaitable[None]]) -> None:
    async def run() -> None:
        await main()

    asyncio.run(run())


def test_a_gate_opened_early_stays_open_for_one() -> None:
    async def main() -> None:
        gates = Gates[str, int]()
        gates.open("a", 1)
        assert await gates.passed("a") == 1
        waiting = asyncio.ensure_future(gates.passed("a"))
        await asyncio.sleep(0)
        gates.open("b", 9)
        gates.open("a", 2)
        assert await waiting == 2

    _run(main)


def test_who_left_the_gate_does_not_keep_it() -> None:
    async def main() -> None:
        gates = Gates[str, int]()
        gone, there = (asyncio.ensure_future(gates.passed("a")) for _ in range(2))
        await asyncio.sleep(0)
        gone.cancel()
        gates.open("a", 1)
        assert await there == 1

    _run(main)


@pytest.mark.parametrize(
    ("then", "now", "place"),
    [
        ({"a": 1, "b": [1, 2]}, {"a": 1, "b": [1, 3]}, "b[1]"),
        ({"a": [1]}, {"a": [1, 2]}, "a[1:]"),
        ({"a": "xyz"}, {"a": "xyq"}, "a at character 2"),
        ({"a": "xyz"}, {"a": "xy"}, "a at character 2"),
        ({"a": 1, "b": 2}, {"a": 1}, "b"),
        ({"a": 1}, {"a": "1"}, "a"),
    ],
)
def test_the_first_difference_has_a_place(then: object, now: object, place: str) -> None:
    assert where(then, now)[0] == place


def test_what_is_new_since_then_is_no_difference() -> None:
    then: dict[str, object] = {"a": [{"b": 1}], "c": {}}
    assert agrees(then, {"a": [{"b": 1, "new": 2}], "c": {"d": 3}, "e": 4})
    assert not agrees(then, {"a": [{"b": 1}, {}], "c": {}})
    assert not agrees(then, {"a": [{"b": None}], "c": {}})


def sent(request: int, body: str) -> Json:
    return {"at": "sent", "request": request, "body": body}


def test_lines_of_different_requests_may_stand_in_another_order() -> None:
    assert first_difference([sent(1, "a"), sent(2, "b")], [sent(2, "b"), sent(1, "a")]) is None


def test_the_difference_that_comes_first_is_told() -> None:
    found = first_difference(
        [sent(2, "x"), sent(1, "a"), sent(1, "b")], [sent(1, "q"), sent(2, "y"), sent(1, "b")]
    )
    assert found is not None
    assert (found.line, words(found)[0]) == (0, "line 2: sent of request 2 differs in body at character 0")


def test_what_is_missing_and_what_is_new_is_told() -> None:
    missing = first_difference([sent(1, "a"), sent(1, "b")], [sent(1, "a")])
    assert missing is not None
    assert "not there any more" in words(missing)[0]
    done: Json = {"at": "done", "request": 1}
    new = first_difference([sent(1, "a"), done], [sent(1, "a"), sent(1, "b"), done])
    assert new is not None
    assert "was not there then" in words(new)[0]


def test_a_request_that_had_not_ended_may_go_on() -> None:
    assert first_difference([sent(1, "a")], [sent(1, "a"), sent(1, "b")]) is None


def test_what_a_worker_did_for_nobody_is_not_missed() -> None:
    asked: Json = {"at": "asked", "request": 1}
    ran: Json = {"at": "ran", "request": 1}
    end: list[Json] = [{"at": "left", "request": 1}, {"at": "done", "request": 1}]
    assert first_difference([*end, asked], end) is None
    assert first_difference([asked, *end], end) is None
    assert first_difference([asked, ran, *end], [ran, *end]) is not None
    assert first_difference([asked, end[1]], [end[1]]) is not None


def ats(lines: list[dict[str, Any]]) -> list[tuple[int, list[str]]]:
    return [(count, [str(line.get("job", line["at"])) for line in group]) for count, group in groups(lines)]


def test_reads_that_stand_together_happen_together() -> None:
    lines: list[dict[str, Any]] = [
        {"at": "read", "job": "a"},
        {"at": "read", "job": "b"},
        {"at": "sent", "request": 1},
        {"at": "turn"},
        {"at": "read", "job": "a"},
    ]
    assert ats(lines) == [(3, ["a", "b"]), (4, ["turn"]), (5, ["a"])]


def test_who_leaves_gets_first_what_it_still_got() -> None:
    lines: list[dict[str, Any]] = [
        {"at": "job", "job": "a", "request": 1},
        {"at": "left", "request": 1},
        {"at": "turn"},
        {"at": "read", "job": "a"},
        {"at": "done", "request": 1},
        {"at": "turn"},
    ]
    assert ats(lines) == [(3, ["turn"]), (4, ["a", "left"]), (6, ["turn"])]
    del lines[3]
    assert ats(lines) == [(2, ["left"]), (3, ["turn"]), (5, ["turn"])]


@pytest.mark.parametrize("error", [EngineError("a"), BadRequest("b"), Unavailable("c")])
def test_errors_come_back_as_what_they_were(error: EngineError) -> None:
    again = error_of([type(error).__name__, error.message])
    assert (type(again), again.message) == (type(error), error.message)


def test_an_error_that_needs_more_than_words_is_the_engines() -> None:
    assert isinstance(error_of([ContextOverflow.__name__, "long"]), EngineError)
    assert isinstance(error_of(["Nonsense", "what"]), EngineError)


def test_a_moment_is_two_numbers() -> None:
    assert Moment(1.5, 2.5).plain == [1.5, 2.5]
    assert MOMENT.get() is None
