"""What a drive of a client comes to, from what was seen of it."""

from dataclasses import replace

import pytest
from clients import canary, claude_code, codex, opencode, pi, qwen_code
from clients.client import silent
from clients.process import Ended
from clients.report import Line, Outcome, Wanted, cost, fault, total
from clients.table import CLIENTS
from clients.watch import Exchange

WANTED = Wanted("greeting.txt", "hello", "finished")
GOOD = Ended(0, "I am finished.\n", "", 1.0, {"greeting.txt": "hello\n"})
ANSWERED = Exchange("POST /v1/messages", 200, "HTTP/1.1 200 OK\r\n")
REFUSED = Exchange("POST /v1/messages", 400, 'HTTP/1.1 400 Bad Request\r\n\r\n{"error": "no"}')


def test_a_drive_that_did_its_task_has_no_fault() -> None:
    assert fault(GOOD, WANTED, silent, []) is None


@pytest.mark.parametrize(
    ("ended", "reason"),
    [
        (replace(GOOD, code=None), "time-out"),
        (replace(GOOD, code=3, errors="it broke"), "exit code 3: it broke"),
        (replace(GOOD, made={}), "greeting.txt is not as wanted"),
        (replace(GOOD, made={"greeting.txt": "hell"}), "greeting.txt is not as wanted"),
        (replace(GOOD, output="bye"), "the answer is missing: bye"),
    ],
)
def test_everything_else_has_one(ended: Ended, reason: str) -> None:
    found = fault(ended, WANTED, silent, [])
    assert found is not None
    assert found.startswith(reason)


def test_a_refusal_is_a_fault_even_when_the_client_got_over_it() -> None:
    assert fault(GOOD, WANTED, silent, [REFUSED]) == 'the server refused POST /v1/messages: {"error": "no"}'


def test_an_answer_that_broke_in_the_server_is_a_fault_of_its_own() -> None:
    log = '0101 ds4-server: chat ctx=0..9:9 gen=0 finish=error error="engine failure: no memory" 0.1s id=a\n'
    assert fault(GOOD, WANTED, silent, [], log) == "the server failed: engine failure: no memory"
    assert fault(GOOD, WANTED, silent, [], log.replace("error", "stop")) is None


OVERFLOW = Exchange("POST /v1/messages", 400, 'HTTP/1.1 400\r\n\r\n{"message": "prompt is too long: 9 > 8"}')


def test_a_prompt_that_does_not_fit_may_be_refused_where_that_is_the_question() -> None:
    stumbled = replace(GOOD, code=1)
    assert fault(stumbled, replace(WANTED, overflow=True), lambda _: "too long", [OVERFLOW]) is None
    assert fault(stumbled, WANTED, silent, [OVERFLOW]) is not None
    assert fault(GOOD, replace(WANTED, overflow=True), silent, [REFUSED]) is not None
    assert fault(replace(GOOD, made={}), replace(WANTED, overflow=True), silent, [OVERFLOW]) is not None


def test_the_clients_own_complaint_comes_before_its_exit_code() -> None:
    assert fault(replace(GOOD, code=1), WANTED, lambda _: "model not found", []) == "model not found"


def test_nothing_in_particular_may_be_wanted() -> None:
    assert fault(replace(GOOD, output="", made={}), Wanted(), silent, []) is None


@pytest.mark.parametrize(
    ("complaint", "good", "bad", "words"),
    [
        (
            claude_code.complaint,
            '{"type": "result", "is_error": false, "result": "done"}',
            '{"type": "result", "is_error": true, "result": "API Error: 400"}',
            "API Error: 400",
        ),
        (claude_code.complaint, '{"type": "result"}', "", "no result"),
        (
            codex.complaint,
            '{"type": "turn.completed"}',
            '{"type": "turn.failed", "error": {"message": "lost"}}',
            "lost",
        ),
        (codex.complaint, '{"type": "turn.completed"}', '{"type": "turn.started"}', "no completed turn"),
        (opencode.complaint, '{"type": "text"}', '{"type": "error", "error": "refused"}', "refused"),
        (
            pi.complaint,
            '{"type": "message_end", "message": {"stopReason": "stop"}}',
            '{"type": "message_end", "message": {"stopReason": "error", "errorMessage": "cut"}}',
            "cut",
        ),
        (
            qwen_code.complaint,
            '{"type": "result", "is_error": false}',
            '{"type": "result", "is_error": true, "error": {"message": "bad"}}',
            "bad",
        ),
    ],
)
def test_what_each_agent_calls_a_failure_is_found(complaint: object, good: str, bad: str, words: str) -> None:
    assert callable(complaint)
    assert complaint(f"some line\n{good}\n{{broken\n") is None
    assert words in complaint(f"some line\n{bad}\n")


def test_cost_adds_up_what_was_finished() -> None:
    log = (
        "0101 00:00:00 ds4-server: chat ctx=0..100:100 TOOLS prompt start slot=0 cache=none id=a\n"
        "0101 00:00:00 ds4-server: chat ctx=0..100:100 gen=9 TOOLS finish=tool_calls 0.1s id=a\n"
        "0101 00:00:00 ds4-server: chat ctx=90..150:60 gen=2 TOOLS finish=stop 0.1s id=b\n"
    )
    assert cost(log) == "2 answers, 90 of 250 prompt tokens reused"


@pytest.mark.parametrize(
    ("probe", "status", "outcome"),
    [
        ("chat.basic", "pass", Outcome.OK),
        ("chat.basic", "warn", Outcome.FAILED),
        ("chat.basic", "fail", Outcome.FAILED),
    ],
)
def test_a_probe_is_judged_by_what_is_there(probe: str, status: str, outcome: Outcome) -> None:
    assert canary.judged({"id": probe, "status": status, "summary": ""}, "chatml").outcome is outcome


def test_the_total_counts_every_line() -> None:
    lines = [Line("a", "chat", "chatml", outcome, 1.0, "") for outcome in (*Outcome, Outcome.OK)]
    assert total(lines) == "2 passed, 1 failed"
    assert total(lines[:1]) == "1 passed, 0 failed"


def test_names_are_unique_and_packages_pinned() -> None:
    assert len({client.name for client in CLIENTS}) == len(CLIENTS)
    pinned = [name for client in CLIENTS for name in client.packages.names]
    assert all("==" in name or "@" in name[1:] for name in pinned)
