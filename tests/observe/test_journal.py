"""The journal: what is known of a request while it waits, while it runs, and for a while after."""

import threading
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ds4.core.usage import CacheReport, CacheSource
from ds4.observe.records import (
    Decoding,
    Finished,
    Notice,
    PrefillChunk,
    PromptDone,
    PromptStarted,
    Queued,
    Record,
    Subject,
)
from ds4.observe.requests import Entry, Journal, RequestState
from ds4.observe.tee import tee
from ds4.observe.timings import Timings, timings
from ds4.testing.clock import FakeClock

ASKED = Subject("req-1", "chat", ("TOOLS",), reused=0, prompt=100, namespace="a")
PLACED = replace(ASKED, reused=40)
DECIDED = CacheReport(CacheSource.LIVE, reused=40, computed=60, common=40)
FINAL = replace(DECIDED, displaced=7)
LIFE: list[Record] = [
    Queued(ASKED),
    PromptStarted(PLACED, 3, DECIDED),
    PrefillChunk(PLACED, done=30, total=60, rows=30, seconds=1.0, elapsed=1.0),
    PrefillChunk(PLACED, done=60, total=60, rows=30, seconds=1.0, elapsed=2.0),
    PromptDone(PLACED, 2.0),
    Decoding(PLACED, 50, rate=50.0, average=50.0, elapsed=1.0),
    Finished(PLACED, 71, "stop", 9.0, report=FINAL, forced=12),
]


def known_after(records: list[Record], job: str = "req-1") -> Entry:
    """Each record comes a second after the one before."""
    clock = FakeClock()
    journal = Journal(clock)
    for record in records:
        journal(record)
        clock.advance(1.0)
    entry = journal.find(job)
    assert entry is not None
    return entry


@pytest.mark.parametrize(
    ("records", "state", "prefilled", "generated"),
    [
        (1, RequestState.QUEUED, 0, 0),
        (2, RequestState.PREFILL, 40, 0),
        (3, RequestState.PREFILL, 70, 0),
        (5, RequestState.DECODE, 100, 0),
        (6, RequestState.DECODE, 100, 50),
        (7, RequestState.FINISHED, 100, 71),
    ],
)
def test_it_follows_a_request(records: int, state: RequestState, prefilled: int, generated: int) -> None:
    entry = known_after(LIFE[:records])
    assert (entry.state, entry.prefilled, entry.generated) == (state, prefilled, generated)
    assert entry.slot == (None if records == 1 else 3)


def test_the_last_word_is_the_final_report() -> None:
    assert (known_after(LIFE[:-1]).report, known_after(LIFE[:-1]).forced) == (DECIDED, 0)
    entry = known_after(LIFE)
    assert (entry.report, entry.finish, entry.error, entry.subject) == (FINAL, "stop", None, PLACED)
    assert (entry.generated, entry.forced) == (71, 12)


@pytest.mark.parametrize(
    ("finish", "error", "state"),
    [
        ("length", None, RequestState.FINISHED),
        ("shutdown", None, RequestState.FINISHED),
        ("cancelled", None, RequestState.CANCELLED),
        ("error", "no room", RequestState.FAILED),
    ],
)
def test_how_it_ended(finish: str, error: str | None, state: RequestState) -> None:
    for before in ([], LIFE[:1], LIFE[:4]):
        entry = known_after([*before, Finished(ASKED, 0, finish, 1.0, error)])
        assert (entry.state, entry.finish, entry.error) == (state, finish, error)


def test_timings_of_a_whole_life() -> None:
    assert timings(known_after(LIFE), now=1000.0) == Timings(
        queued_seconds=1.0,
        prefill_seconds=3.0,
        decode_seconds=2.0,
        total_seconds=6.0,
        ttft_seconds=4.0,
        prefill_tokens_per_second=20.0,
        decode_tokens_per_second=35.0,
    )


def test_timings_of_what_still_runs_go_up_to_now() -> None:
    assert timings(known_after(LIFE[:1]), now=5.0) == Timings(5.0, None, None, 5.0, None, None, None)
    assert timings(known_after(LIFE[:3]), now=5.0) == Timings(1.0, 4.0, None, 5.0, None, 7.5, None)
    # The rate is of the tokens that were counted, to when they were.
    assert timings(known_after(LIFE[:6]), now=9.0) == Timings(1.0, 3.0, 5.0, 9.0, 4.0, 20.0, 49.0)


def test_a_request_without_a_token_has_no_time_to_the_first() -> None:
    ended = known_after([*LIFE[:5], Finished(PLACED, 0, "length", 9.0)])
    assert (timings(ended, 9.0).ttft_seconds, timings(ended, 9.0).decode_tokens_per_second) == (None, None)


def test_one_that_never_started_only_waited() -> None:
    ended = known_after([LIFE[0], Finished(ASKED, 0, "cancelled", 1.0)])
    assert timings(ended, 9.0) == Timings(1.0, None, None, 1.0, None, None, None)


def named(job: str) -> Subject:
    return replace(ASKED, job=job)


def test_newest_first() -> None:
    journal = Journal(FakeClock())
    for job in "abc":
        journal(Queued(named(job)))
    journal(PromptStarted(named("a"), 0, DECIDED))
    assert [entry.subject.job for entry in journal.entries()] == ["c", "b", "a"]


def test_when_it_came_is_on_the_clock_of_the_wall() -> None:
    clock = FakeClock(epoch=500.0)
    clock.advance(20.0)
    journal = Journal(clock)
    journal(Queued(ASKED))
    clock.advance(3.0)
    journal(Finished(ASKED, 0, "cancelled", 3.0))
    [entry] = journal.entries()
    assert entry.created == 520.0


@given(st.lists(st.integers(0, 9)), st.integers(0, 4))
def test_it_keeps_what_has_not_ended_and_the_last_that_have(moves: list[int], capacity: int) -> None:
    journal, running, ended = Journal(FakeClock(), capacity=capacity), list[str](), list[str]()
    for number, move in enumerate(moves):
        if move < 6 or not running:
            running.append(f"r{number}")
            journal(Queued(named(running[-1])))
        else:
            ended.append(running.pop(move % len(running)))
            journal(Finished(named(ended[-1]), 0, "stop", 1.0))
    kept = {*running, *(ended[-capacity:] if capacity else [])}
    assert {entry.subject.job for entry in journal.entries()} == kept
    assert all((journal.find(job) is not None) == (job in kept) for job in (*running, *ended))


def test_other_records_are_no_requests() -> None:
    journal = Journal(FakeClock())
    journal(Notice("listening"))
    assert journal.entries() == ()
    assert journal.find("req-1") is None


def test_it_can_be_read_while_it_is_written() -> None:
    journal = Journal(FakeClock(), capacity=3)
    stop = threading.Event()

    def write() -> None:
        for number in range(3000):
            journal(Queued(named(f"r{number}")))
            journal(Finished(named(f"r{number}"), 0, "stop", 1.0))
        stop.set()

    writer = threading.Thread(target=write)
    writer.start()
    while not stop.is_set():
        found = journal.entries()
        assert len(found) <= 5
        numbers = [int(entry.subject.job[1:]) for entry in found]
        assert numbers == sorted(numbers, reverse=True)
    writer.join()


def test_a_tee_tells_all_in_order() -> None:
    told: list[tuple[str, Record]] = []
    observe = tee(lambda record: told.append(("first", record)), lambda record: told.append(("then", record)))
    observe(Notice("x"))
    assert told == [("first", Notice("x")), ("then", Notice("x"))]
