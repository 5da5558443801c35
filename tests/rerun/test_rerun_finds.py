"""A replay that could not fail would be worth nothing: changes of the server, and of the trace, are found."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
from reruns import recorded, verdict

from ds4.api import cache_header
from ds4.core.usage import CacheReport
from ds4.observe.trace.reading import Run
from ds4.replay_command import told
from ds4.schedule import explain, place, scheduler


def words(run: Run) -> str:
    found = verdict(run)
    assert not found.same
    return "\n".join(told(found, verbose=False))


def test_another_placement_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place, "RETURNS", 0.0)
    assert "the engine is asked for" in words(recorded("taking-turns"))


def test_another_chunk_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler, "chunk_rows", lambda _rate, quantum, _largest: quantum)
    assert "turn of turn" in words(recorded("claude-code"))


def test_another_explanation_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explain, "AROUND", 7)
    assert "started of job" in words(recorded("pi-rewinding"))


def test_another_header_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def cache_words(_report: CacheReport) -> bytes:
        return b"none"

    monkeypatch.setattr(cache_header, "cache_words", cache_words)
    assert "sent of request" in words(recorded("aider-healing"))


Change = Callable[[list[dict[str, Any]]], None]


def _other_token(lines: list[dict[str, Any]]) -> None:
    for line in lines:
        for op in line.get("ops", ()):
            if op["op"] == "step" and op["gave"]["outcomes"][0]["tokens"]:
                op["gave"]["outcomes"][0]["tokens"] = [257]
                return


def _other_id(lines: list[dict[str, Any]]) -> None:
    line = next(line for line in lines if line["at"] == "id")
    line["id"] = line["id"][:-1] + "f"


def _other_body(lines: list[dict[str, Any]]) -> None:
    line = next(line for line in lines if line["at"] == "request")
    line["body"] = line["body"].replace("max_tokens", "max_tokenz")


def _other_answer(lines: list[dict[str, Any]]) -> None:
    line = next(line for line in lines if line["at"] == "sent" and line.get("body"))
    line["body"] = line["body"].replace("{", "[", 1)


def _no_step(lines: list[dict[str, Any]]) -> None:
    line = next(line for line in lines if line["at"] == "turn" and len(line.get("ops", ())) == 1)
    line["ops"] = []


@pytest.mark.parametrize(
    "change",
    [_other_token, _other_id, _other_body, _other_answer, _no_step],
    ids=lambda change: change.__name__,
)
def test_a_changed_trace_is_found(change: Change) -> None:
    run = recorded("all-sorts")
    lines = copy.deepcopy(run.lines)
    change(lines)
    assert words(Run(run.head, lines))
