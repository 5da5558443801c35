"""Trace files, whole and not."""

import gzip
from pathlib import Path

import pytest

from ds4.core.errors import StartError
from ds4.observe.trace.reading import VERSION, read_lines, runs

HEAD = b'{"at":"head","trace":%d}\n' % VERSION


def test_packed_and_plain_are_the_same(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(HEAD)
    (tmp_path / "b").write_bytes(gzip.compress(HEAD))
    assert list(read_lines(tmp_path / "a")) == list(read_lines(tmp_path / "b"))


def test_half_a_line_at_the_end_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(HEAD + b'{"at":"do')
    assert len(list(read_lines(tmp_path / "a"))) == 1


def test_following_waits_for_the_rest_of_a_line(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(HEAD + b'{"at":"do')

    def sleep(_seconds: float) -> None:
        with path.open("ab") as file:
            file.write(b'ne","request":1}\n')

    found = read_lines(path, follow=True, sleep=sleep)
    assert [next(found)["at"], next(found)["at"]] == ["head", "done"]


def test_every_head_begins_a_run(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(HEAD + b'{"at":"x"}\n' + HEAD)
    assert [len(run.lines) for run in runs(read_lines(path), path)] == [1, 0]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "does not begin with a head"),
        (b'{"at":"x"}\n', "does not begin with a head"),
        (b'{"at":"head","trace":99}\n', "version 99"),
        (b"hello\n", "line 1 is no JSON"),
        (b"[1]\n", "line 1 is no line of a trace"),
        (b"\x1f\x8bnonsense", "a"),
    ],
)
def test_what_is_no_trace_is_said(tmp_path: Path, data: bytes, why: str) -> None:
    path = tmp_path / "a"
    path.write_bytes(data)
    with pytest.raises(StartError, match=why):
        runs(read_lines(path), path)
