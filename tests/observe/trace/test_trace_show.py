"""A trace for people."""

from pathlib import Path

import pytest

from ds4.observe.trace.reading import read_lines
from ds4.observe.trace.show import Reader
from ds4.observe.trace.window import window

TRACES = Path(__file__).parents[2] / "traces"
PARTS = (
    "===== request 2 ",
    "POST /v1/messages?beta=true",
    "tools: 4",
    "think_mode: ",
    "prompt_tokens: ",
    "--- cache decision ---",
    "cache_source: ",
    "rates: prefill ",
    "replayed_answers: 0",
    "first_mismatch_token: ",
    "token_window: [",
    "--- raw request json ---",
    "--- rendered prompt ",
    "--- generated text ---",
    "--- trace: prefill done: ",
    "--- parsed message ---",
    "finish: ",
    "===== end request 2 =====",
)


def shown(name: str, request: str | None = None) -> list[str]:
    reader = Reader(request)
    lines = list(read_lines(TRACES / f"{name}.jsonl.gz"))
    return [*(text for line in lines for text in reader.take(line)), *reader.rest()]


def test_the_parts_stand_in_their_order() -> None:
    told = shown("pi-rewinding")
    places = [next(n for n, line in enumerate(told) if line.startswith(part)) for part in PARTS[:1]]
    for part in PARTS[1:]:
        places.append(next(n for n, line in enumerate(told) if n > places[-1] and line.startswith(part)))
    assert places == sorted(places)


def test_what_is_read_of_an_answer_that_has_finished_is_told() -> None:
    """The engine thread is done with an answer before the server has read it all."""
    lines = list(read_lines(TRACES / "pi-rewinding.jsonl.gz"))
    ends = {line["job"]: line for line in lines if line["at"] == "finished"}
    reads = {line["job"]: n for n, line in enumerate(lines) if line["at"] == "read"}
    early = [
        each
        for n, line in enumerate(lines)
        if line["at"] != "finished"
        for each in ((ends[line["job"]], line) if n in reads.values() else (line,))
    ]
    assert early != lines
    for number in ("1", "2"):
        reader = Reader(number)
        told = [*(text for line in early for text in reader.take(line)), *reader.rest()]
        assert told == shown("pi-rewinding", number)


def test_one_request_by_number_or_id() -> None:
    told = shown("pi-rewinding", "2")
    name = next(line for line in told if line.startswith("id: ")).removeprefix("id: ")
    assert told == shown("pi-rewinding", name)
    assert next(line for line in told if "=====" in line).startswith("===== request 2 ")
    assert shown("pi-rewinding", "nobody") == []


def test_a_call_is_shown_with_its_arguments() -> None:
    told = "\n".join(shown("claude-code", "1"))
    assert "tool_call[0]: id=call_" in told
    assert "name=Bash arguments={" in told


def test_a_refusal_is_shown_as_answer() -> None:
    told = "\n".join(shown("all-sorts"))
    assert "--- answer ---\nstatus: 404" in told


def test_what_ended_without_an_end_is_shown_too() -> None:
    reader = Reader()
    lines = [line for line in read_lines(TRACES / "pi-rewinding.jsonl.gz") if line["at"] != "done"]
    assert not any("end request" in text for line in lines for text in reader.take(line))
    assert sum("end request" in text for text in reader.rest()) == 5


def test_what_a_worker_did_for_nobody_is_no_request_of_its_own() -> None:
    reader = Reader()
    for at in ("asked", "guided", "remembered", "kept"):
        assert list(reader.take({"at": at, "request": 9})) == []
    assert list(reader.rest()) == []


def test_lost_lines_are_shown() -> None:
    assert list(Reader().take({"at": "lost", "lines": 3})) == ["--- trace: 3 lines were lost here ---"]


@pytest.mark.parametrize(
    ("held", "wanted", "marks"),
    [([1, 2], [1, 3], ["==", "!="]), ([1, 2], [1], ["==", "held-only"]), ([], [-5], ["prompt-only"])],
)
def test_the_window_compares_row_by_row(held: list[int], wanted: list[int], marks: list[str]) -> None:
    head, *rows = window({"held_ids": held, "wanted_ids": wanted, "first": 10}, {1: b"a\n", 2: b"\xff"})
    assert head == f"token_window: [10..{10 + len(marks)})"
    assert [row.split()[1] for row in rows] == marks


def test_pieces_in_the_window_are_escaped() -> None:
    _, row = window({"held_ids": [1], "wanted_ids": [2], "first": 0}, {1: b'a\n"', 2: b"\xe2\x82"})
    assert row.split(maxsplit=2)[2].split() == ["1", '"a\\n\\""', "2", '"\\\\xe2\\\\x82"']
