"""Traces without texts: what was decided is decided again."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
from reruns import recorded, verdict, without_texts

from ds4.observe.trace.reading import Run
from ds4.replay_command import told
from ds4.schedule import place
from thorough import some_of

SESSIONS = ("aider-healing", "all-sorts", "leaving", "pi-rewinding", "restarted")


@pytest.mark.parametrize("name", some_of(SESSIONS, 2))
def test_the_decisions_of_a_recorded_session_come_out_the_same(name: str) -> None:
    run = without_texts(recorded(name))
    found = verdict(run)
    assert found.same, "\n".join(told(found, verbose=False))
    jobs = sum(line["at"] == "started" for line in run.lines)
    assert found.compared["started"] == jobs > 0
    assert not found.compared["sent"]
    assert "redacted" in told(found, verbose=False)[-1]


def test_another_placement_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place, "RETURNS", 0.0)
    assert not verdict(without_texts(recorded("taking-turns"))).same


Change = Callable[[dict[str, Any]], None]


def _usage(line: dict[str, Any]) -> None:
    for event in line.get("events", ()):
        if event["kind"] == "Finish":
            event["usage"]["completion"] += 1


def _end(line: dict[str, Any]) -> None:
    if line["at"] == "finished":
        line["finish"] = "length"


def _kind(line: dict[str, Any]) -> None:
    for event in line.get("events", ()):
        if event["kind"] == "Progress":
            event["kind"] = "Prozess"


def _row(line: dict[str, Any]) -> None:
    if line["at"] == "job":
        line["items"][-1][1][-1] += 1


def _reader(line: dict[str, Any]) -> None:
    line.pop("fed", None)


@pytest.mark.parametrize("change", [_usage, _end, _kind, _row, _reader], ids=lambda change: change.__name__)
def test_a_changed_trace_is_found(change: Change) -> None:
    run = without_texts(recorded("restarted"))
    lines: list[dict[str, Any]] = copy.deepcopy(run.lines)
    for line in lines:
        change(line)
    assert not verdict(Run(run.head, list(lines))).same
