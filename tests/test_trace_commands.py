"""`ds4-server trace FILE` and `ds4-server replay TRACE`."""

import gzip
from pathlib import Path

import orjson
import pytest

from ds4 import cli, replay_command, trace_command
from ds4.core.errors import OptionError, StartError
from ds4.observe.trace.redact import redacted
from ds4.trace_command import Command, read

TRACE = Path(__file__).parent / "traces" / "restarted.jsonl.gz"


def test_replay_says_that_all_is_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["replay", str(TRACE)]) == 0
    assert capsys.readouterr().out.startswith("the same: 2 requests, ")


def test_replay_shows_the_first_difference_and_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t"
    path.write_bytes(gzip.decompress(TRACE.read_bytes()).replace(b'"finish_reason', b'"finish_raison', 1))
    assert cli.main(["replay", str(path)]) == 1
    told = capsys.readouterr().out.splitlines()
    assert "sent of request 1 differs in body at character" in told[0]
    assert "raison" in told[1]
    assert "reason" in told[2]


def test_every_run_of_a_file_is_repeated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t"
    path.write_bytes(gzip.decompress(TRACE.read_bytes()) * 2)
    assert replay_command.main([str(path), "--verbose"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert [line for line in told if "the same" in line][1].startswith("run 2 of 2: the same: 2 requests")
    assert any(line.split()[-1] == "turn" for line in told)


def test_of_a_redacted_trace_the_decisions_are_repeated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    head, *lines = map(orjson.loads, gzip.decompress(TRACE.read_bytes()).splitlines())
    path = tmp_path / "t"
    path.write_bytes(
        b"\n".join(map(orjson.dumps, [head | {"redacted": True}, *map(redacted, lines)])) + b"\n"
    )
    assert replay_command.main([str(path)]) == 0
    told = capsys.readouterr().out
    assert told.startswith("the same: 2 decisions, ")
    assert "prompts and answers were not compared" in told


def test_a_head_that_lacks_something_is_said(tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_bytes(b'{"at":"head","trace":1}\n')
    with pytest.raises(StartError, match=r"head: \w+: Field required"):
        replay_command.main([str(path)])


@pytest.mark.parametrize(
    ("words", "why"),
    [([], "needs one"), (["a", "b"], "needs one"), (["a", "--fast"], "replay --fast"), ([" "], "needs one")],
)
def test_replay_refuses_what_it_does_not_know(words: list[str], why: str) -> None:
    with pytest.raises(OptionError, match=why):
        replay_command.read(words)


def test_trace_prints_a_request(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["trace", str(TRACE), "--request", "1"]) == 0
    told = capsys.readouterr().out
    assert told.count("===== request ") == 1
    assert "cache_source: disk" in told


def test_trace_reads_its_words() -> None:
    assert read(["a", "--follow", "--request", "3"]) == Command(Path("a"), follow=True, request="3")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([], "needs a file"),
        (["a", "b"], "takes one file: b"),
        (["a", "--all"], "unknown option: trace --all"),
        (["a", "--request"], "missing value"),
    ],
)
def test_trace_refuses_what_it_does_not_know(words: list[str], why: str) -> None:
    with pytest.raises(OptionError, match=why):
        read(words)


@pytest.mark.parametrize("main", [trace_command.main, replay_command.main])
def test_both_explain_themselves(main: "object", capsys: pytest.CaptureFixture[str]) -> None:
    assert callable(main)
    assert main(["--help"]) == 0
    assert capsys.readouterr().out.startswith("usage: ds4-server ")


@pytest.mark.parametrize("word", ["trace", "replay"])
def test_a_file_that_is_not_there_is_named(
    word: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main([word, str(tmp_path / "none")]) == 1
    assert "none: No such file" in capsys.readouterr().err
