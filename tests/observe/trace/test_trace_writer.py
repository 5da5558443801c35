"""The trace's writer: never in the way, and honest about what it lost."""

import errno
import os
import stat
import threading
from pathlib import Path
from typing import Any

import orjson
import pytest

from ds4.core.errors import StartError
from ds4.observe.records import Notice, Record
from ds4.observe.trace.values import Json
from ds4.observe.trace.writer import TraceWriter


def lines(path: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


class Gate:
    """Holds the writer's thread before a line."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.go = threading.Event()

    def __call__(self, line: Json) -> Json:
        self.reached.set()
        assert self.go.wait(5)
        return line


def test_lines_are_whole_in_order_and_the_users_alone(tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_text('{"at":"before"}\n')
    path.chmod(0o644)
    writer = TraceWriter(path, lambda _: None)
    for number in range(50):
        writer({"at": "x", "number": number, "body": b"\xff"})
    writer.close()
    assert [line.get("number") for line in lines(path)] == [None, *range(50)]
    assert lines(path)[-1]["body"] == {"b64": "/w=="}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("full", ["lines", "bytes"])
def test_what_finds_no_room_is_lost_and_said(tmp_path: Path, full: str) -> None:
    gate, told = Gate(), list[Record]()
    limit = {"capacity": 2} if full == "lines" else {"weight": 20}
    writer = TraceWriter(tmp_path / "t", told.append, dress=gate, **limit)
    writer({"at": "x", "number": 0})
    assert gate.reached.wait(5)
    for number in (1, 2, 3, 4):
        writer({"at": "x", "number": number, "body": b"ten bytes."})
    gate.go.set()
    writer.close()
    assert [line.get("number", line.get("lines")) for line in lines(tmp_path / "t")] == [0, 1, 2, 2]
    assert lines(tmp_path / "t")[-1] == {"at": "lost", "lines": 2}
    assert told == [Notice(f"trace {tmp_path / 't'}: lines are being lost", "warning")]


def test_half_a_line_on_a_full_disk_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, told, full = tmp_path / "t", list[Record](), threading.Event()
    real = os.write

    def write(number: int, data: memoryview) -> int:
        if not full.is_set():
            return real(number, data)
        if len(data) > 5:
            return real(number, data[:5])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", write)
    gate = Gate()
    gate.go.set()
    writer = TraceWriter(path, told.append, dress=gate)
    writer({"at": "x", "number": 1})
    writer.close()
    full.set()
    writer = TraceWriter(path, told.append)
    writer({"at": "x", "number": 2})
    writer.close()
    assert lines(path) == [{"at": "x", "number": 1}]
    assert [record.level for record in told if isinstance(record, Notice)] == ["warning"]
    full.clear()
    writer = TraceWriter(path, told.append)
    writer({"at": "x", "number": 3})
    writer.close()
    assert [line["number"] for line in lines(path)] == [1, 3]


def test_a_disk_that_takes_a_line_now_and_then_is_told_of_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, told, real = tmp_path / "t", list[Record](), os.write
    short = threading.Semaphore(0)

    def write(number: int, data: memoryview) -> int:
        if len(data) > 60:
            raise OSError(errno.ENOSPC, "No space left on device")
        size = real(number, data)
        if b"short" in bytes(data):
            short.release()
        return size

    monkeypatch.setattr(os, "write", write)
    writer = TraceWriter(path, told.append)
    for _ in range(20):
        writer({"at": "x", "text": "long" * 20})
        writer({"at": "short"})
        assert short.acquire(timeout=5)
    writer.close()
    assert told == [Notice(f"trace {path}: lines are being lost", "warning")]
    assert sum(line.get("lines", 0) for line in lines(path)) == 20


def test_a_lone_surrogate_costs_its_own_line_only(tmp_path: Path) -> None:
    writer = TraceWriter(tmp_path / "t", lambda _: None)
    writer({"at": "x", "text": "\ud800"})
    writer({"at": "x", "text": "fine"})
    writer.close()
    assert {"at": "x", "text": "fine"} in lines(tmp_path / "t")
    assert {"at": "lost", "lines": 1} in lines(tmp_path / "t")


def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    with pytest.raises(StartError, match=r"--trace .*none/t: No such file"):
        TraceWriter(tmp_path / "none" / "t", lambda _: None)
