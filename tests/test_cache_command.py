"""`ds4-server cache DIR`, on directories as servers leave them."""

import os
import sqlite3
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ds4 import cache_command, cli
from ds4.api.responses.durable import open_store
from ds4.api.responses.store import Stored
from ds4.cache_command import Command, read
from ds4.core.errors import OptionError, StartError
from ds4.core.step import Identity, Snapshot, SnapshotKind, SnapshotPart
from ds4.core.usage import SaveReason
from ds4.kv.checkpoint import Checkpoint, Save, checkpoint_key
from ds4.kv.disk.index import ModelRow
from ds4.kv.disk.settings import DiskSettings
from ds4.kv.disk.vault import User, Vault
from ds4.kv.replay.meaning import Meaning
from ds4.kv.replay.record import Record, digest_of
from ds4.testing.clock import FakeClock
from ds4.testing.notebooks import notebook_in

SIZE = 400_000
RECORD = Record(
    "", digest_of(np.arange(3, dtype=np.int32)), 3, np.arange(5, dtype=np.int32), Meaning(("Hi.",))
)
STORED = Stored("resp_1", b"{}", (), (), ())


def save(number: int) -> Save:
    ids = np.array([number, *range(600)], np.int32)
    snapshot = Snapshot(SnapshotKind.FULL, ids.size, ids.size, (SnapshotPart("target", os.urandom(SIZE)),))
    key = checkpoint_key("", SnapshotKind.FULL, ids)
    return Save(Checkpoint(key, "", ids, SnapshotKind.FULL, SIZE), snapshot, SaveReason.EVICT)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    user = User(Identity("modeldigest", "q4", "layout"), ModelRow(1024, any_length=True))
    vault = Vault(DiskSettings(tmp_path / "c"), user, FakeClock(), lambda _: None)
    for number in range(4):
        vault.put(save(number))
    vault.touch(save(2).checkpoint.key)
    vault.close()
    return tmp_path / "c"


def run(capsys: pytest.CaptureFixture[str], *argv: object) -> tuple[int, list[str]]:
    code = cache_command.main([str(word) for word in argv])
    return code, capsys.readouterr().out.splitlines()


def test_list_says_what_is_there_and_what_it_is_worth(
    directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, lines = run(capsys, directory)
    assert code == 0
    assert " ".join(lines[0].split()) == "KEY MODEL REASON KIND TOKENS MIB UNIQUE HITS IDLE VALUE"
    rows = [line.split() for line in lines[1:5]]
    assert {row[0] for row in rows} == {save(number).checkpoint.key[:12] for number in range(4)}
    assert {tuple(row[1:6]) for row in rows} == {("modeldig/q4", "evict", "full", "601", "0.4")}
    assert sorted(row[7] for row in rows) == ["0", "0", "0", "1"]
    assert lines[5] == "4 checkpoints of 1.5 MiB in all, 1.0 times what it takes"
    assert " MiB on disk: 1.5 in use, 0.0 to be given back" in lines[6]
    assert run(capsys, directory, "list") == (0, lines)


def test_verify_finds_and_puts_aside_what_is_damaged(
    directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, directory, "verify")[0] == 0
    segment = directory / "segments" / "00000001.kv"
    data = bytearray(segment.read_bytes())
    data[SIZE + 77] ^= 4
    segment.write_bytes(data)
    code, lines = run(capsys, directory, "verify")
    key = save(1).checkpoint.key
    assert code == 1
    assert lines[0] == f"damaged, put aside: {key}: its bytes are damaged"
    assert "3 checkpoints" in lines[-2]
    assert run(capsys, directory, "verify")[0] == 0


def test_prune_to_a_size(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, lines = run(capsys, directory, "prune", "--space-mb", "1")
    assert code == 0
    assert {line.split(":")[0] for line in lines if "tokens" in line} == {"removed"}
    on_disk = sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())
    assert on_disk <= 1 << 20
    _, lines = run(capsys, directory, "prune", "--space-mb", "0")
    assert lines[-2] == "0 checkpoints of 0.0 MiB in all"


def test_prune_what_is_unused(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # The clock of the test stood at a time long past.
    _, lines = run(capsys, directory, "prune", "--unused-hours", "999999999")
    assert "4 checkpoints" in lines[-2]
    _, lines = run(capsys, directory, "prune", "--unused-hours", "1")
    assert "0 checkpoints" in lines[-2]
    assert not list((directory / "segments").iterdir())


def test_clear_empties(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, lines = run(capsys, directory, "clear")
    assert code == 0
    assert [line.split(":")[0] for line in lines] == ["removed"] * 4
    assert not list((directory / "segments").iterdir())
    assert "0 checkpoints" in run(capsys, directory)[1][-2]


@pytest.fixture
def full(directory: Path) -> Path:
    """With what two models' answers and a response leave behind, and an older file put aside."""
    for model in ("m", "n"):
        with notebook_in(directory, model=model) as notebook:
            notebook.remember(RECORD)
    store = open_store(directory, lambda _: None)
    store.put("", STORED)
    store.flush()
    (directory / "replay.damaged").write_bytes(b"old")
    return directory


def beside(directory: Path) -> list[str]:
    return [path.name for path in directory.rglob("*") if path.name.startswith(("replay", "responses"))]


def test_what_else_is_there_is_shown(full: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, lines = run(capsys, full)
    answers, responses = (line.split(" MiB of ") for line in lines[-2:])
    assert answers[1] == "remembered answers (replay.sqlite3)"
    assert responses[1] == "kept responses (responses/responses.sqlite3)"
    on_disk = sum(path.stat().st_size for path in full.glob("responses/*"))
    assert responses[0] == f"{on_disk / (1 << 20):.1f}" != "0.0"


def test_clear_leaves_them_unless_all_is_to_go(full: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = beside(full)
    assert run(capsys, full, "clear")[0] == 0
    assert beside(full) == before
    code, lines = run(capsys, full, "clear", "--all")
    assert code == 0
    assert [line.split(" MiB of ")[-1].split(" (")[0] for line in lines] == [
        "remembered answers",
        "kept responses",
    ]
    assert beside(full) == []
    assert run(capsys, full)[1][-2].startswith("0 checkpoints")


def test_a_running_server_begins_anew(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with notebook_in(directory) as notebook:
        notebook.remember(RECORD)
        notebook.flush()
        run(capsys, directory, "clear", "--all")
        assert not beside(directory)
        notebook.remember(replace(RECORD, prefix=b"other"))
        notebook.flush()
    with notebook_in(directory) as notebook:
        pages = notebook.of("")
        assert [len(pages.find(prefix)) for prefix in (RECORD.prefix, b"other")] == [0, 1]


def test_clear_empties_another_schema(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    link = sqlite3.connect(directory / "ds4-kv.sqlite3")
    link.execute("UPDATE meta SET schema = 9")
    link.execute("PRAGMA user_version = 9")
    link.commit()
    link.close()
    with pytest.raises(StartError, match="schema 9"):
        cache_command.main([str(directory)])
    assert run(capsys, directory, "clear")[0] == 0
    assert [path.name for path in directory.rglob("*")] == ["segments"]


@pytest.mark.parametrize("action", cache_command.ACTIONS)
def test_a_directory_that_is_not_ours_is_refused(tmp_path: Path, action: str) -> None:
    (tmp_path / "segments").mkdir()
    (tmp_path / "segments" / "00000001.kv").write_bytes(b"somebody's")
    link = sqlite3.connect(tmp_path / "ds4-kv.sqlite3")
    link.execute("CREATE TABLE notes(text)")
    link.commit()
    link.close()
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    argv = [str(tmp_path), action, *(("--space-mb", "0") if action == "prune" else ())]
    with pytest.raises(StartError):
        cache_command.main(argv)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("action", ["list", "clear"])
def test_nothing_is_made_where_nothing_is(tmp_path: Path, action: str) -> None:
    with pytest.raises(StartError, match="holds no cache"):
        cache_command.main([str(tmp_path / "none"), action])
    assert not list(tmp_path.iterdir())


def test_reading_the_words() -> None:
    assert read(["d"]) == Command(Path("d"))
    assert read(["d", "clear", "--all"]) == Command(Path("d"), "clear", beside=True)
    assert read(["d", "prune", "--space-mb", "3"]) == Command(Path("d"), "prune", space=3 << 20)
    assert read(["d", "prune", "--unused-hours", "3"]) == Command(Path("d"), "prune", unused_hours=3)


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["d", "destroy"], "unknown action: cache destroy (there are list, verify, prune, clear)"),
        (["--port"], "unknown option: cache --port"),
        ([""], "cache needs a directory"),
        (["d", "list", "more"], "cache list takes nothing more: more"),
        (["d", "verify", "--all"], "cache verify takes nothing more: --all"),
        (["d", "prune"], "cache prune needs --space-mb N or --unused-hours N"),
        (["d", "prune", "--space-mb", "-1"], "invalid value for --space-mb: -1"),
    ],
)
def test_wrong_words_are_named(argv: list[str], message: str) -> None:
    with pytest.raises(OptionError) as caught:
        read(argv)
    assert (caught.value.message, caught.value.exit_code) == (message, 2)


def test_help_and_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "--help")[0] == 0
    with pytest.raises(OptionError, match="needs a directory"):
        cache_command.main([])


def test_the_server_s_command_leads_to_it(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["cache", str(directory)]) == 0
    assert "4 checkpoints" in capsys.readouterr().out
    assert cli.main(["cache", str(directory), "destroy"]) == 2
    assert cli.main(["cache", str(directory / "none")]) == 1
    assert capsys.readouterr().err.startswith("ds4-server: unknown action: cache destroy")
