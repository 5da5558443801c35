"""The exact text of every log line: scripts parse them."""

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ds4.core.usage import CacheReport, CacheSource, MissReason
from ds4.observe.log import line, stamp, style
from ds4.observe.records import (
    Decoding,
    Finished,
    Notice,
    PrefillChunk,
    PromptDone,
    PromptStarted,
    Record,
    Subject,
)

CHAT = Subject("req-1", "chat", ("TOOLS", "THINKING"), reused=7469, prompt=7519)
RAW = Subject("req-2", "completion", (), reused=0, prompt=90)
HIT = CacheReport(CacheSource.LIVE, reused=7469, computed=50, common=7469)
MISS = CacheReport(CacheSource.NONE, computed=90, common=31, reason=MissReason.CANNOT_REWIND)


@pytest.mark.parametrize(
    ("record", "text"),
    [
        (
            PromptStarted(CHAT, 2, HIT),
            "chat ctx=7469..7519:50 TOOLS THINKING prompt start slot=2 cache=live id=req-1",
        ),
        (
            PromptStarted(RAW, 0, MISS),
            "completion ctx=0..90:90 prompt start slot=0 cache=none common=31 reason=cannot_rewind id=req-2",
        ),
        (
            PrefillChunk(RAW, done=45, total=90, rows=10, seconds=0.5, elapsed=1.0),
            "completion ctx=0..90:90 prefill chunk 45/90 (50.0%) chunk=20.00 t/s avg=45.00 t/s 1.000s",
        ),
        (PromptDone(CHAT, 1.2345), "chat ctx=7469..7519:50 TOOLS THINKING prompt done 1.234s"),
        (
            Decoding(CHAT, 50, rate=20.125, average=19.5, elapsed=3.0),
            "chat ctx=7469..7519:50 gen=50 TOOLS THINKING decoding chunk=20.12 t/s avg=19.50 t/s 3.000s",
        ),
        (
            Finished(RAW, 7, "stop", 0.25, report=MISS),
            "completion ctx=0..90:90 gen=7 finish=stop 0.250s id=req-2 cache=none reused=0 computed=90",
        ),
        (
            Finished(RAW, 7, "stop", 0.25, report=MISS, forced=5),
            "completion ctx=0..90:90 gen=7 finish=stop 0.250s id=req-2 cache=none reused=0 computed=90"
            " forced=5",
        ),
        (
            Finished(RAW, 0, "error", 0.25, 'cannot "step"', MISS),
            'completion ctx=0..90:90 gen=0 finish=error error="cannot \\"step\\"" 0.250s id=req-2'
            " cache=none reused=0 computed=90",
        ),
        (Notice("listening on http://127.0.0.1:8000"), "listening on http://127.0.0.1:8000"),
        (Notice("queue is full", "warning"), "warning: queue is full"),
        (Notice("no memory", "error"), "error: no memory"),
    ],
)
def test_the_words_of_every_record(record: Record, text: str) -> None:
    assert line(record) == text


def test_a_step_too_quick_to_measure_has_rate_zero() -> None:
    text = line(PrefillChunk(RAW, done=1, total=90, rows=1, seconds=0.0, elapsed=0.0))
    assert text.endswith("chunk=0.00 t/s avg=0.00 t/s 0.000s")


def test_the_stamp_is_local_time() -> None:
    wall = datetime(2026, 3, 9, 7, 5, 1).timestamp()
    assert stamp(wall) == "0309 07:05:01 ds4-server: "


def test_a_newline_in_a_value_does_not_begin_a_line() -> None:
    error = "bad\n0101 00:00:00 ds4-server: listening"
    assert 'error="bad\\n0101 00:00:00 ds4-server: listening"' in line(Finished(RAW, 0, "error", 1.0, error))


def test_a_value_cannot_forge_a_key() -> None:
    forged = Subject('x" finish=stop', "chat", (), 0, 1)
    assert ' id="x\\" finish=stop" cache=' in line(Finished(forged, 0, "error", 1.0))


def test_escape_sequences_do_not_reach_the_terminal() -> None:
    assert line(Notice("model \x1b[2J\u202egnp.ledom")) == "model \\x1b[2J\\u202egnp.ledom"


@given(st.text(), st.text())
def test_every_line_is_one_printable_line(job: str, error: str) -> None:
    subject = Subject(job, "chat", (), 0, 1)
    for record in (PromptStarted(subject, 0, HIT), Finished(subject, 0, "error", 1.0, error), Notice(error)):
        assert line(record).isprintable()


def test_failures_stand_out() -> None:
    good, bad = Finished(RAW, 1, "stop", 1.0), Finished(RAW, 1, "error", 1.0, "no")
    assert style(bad) == style(Notice("no", "error")) == "red"
    assert style(good) != style(bad)
    assert style(Notice("listening")) == ""
