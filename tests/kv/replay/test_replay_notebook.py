"""What is remembered outlives the process, whatever happens to the file."""

import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from replay_records import lengths, prefix_of, record, same

from ds4.kv.replay.database import FILE
from ds4.kv.replay.memory import Bounds
from ds4.kv.replay.notebook import Notebook
from ds4.observe.records import Notice, Record
from ds4.storage import sqlite_file
from ds4.testing.notebooks import make_notebook, notebook_in


def warnings(records: list[Record]) -> list[str]:
    return [record.text for record in records if isinstance(record, Notice) and record.level == "warning"]


def found(notebook: Notebook, place: int, namespace: str = "") -> list[str]:
    return [one.meaning.text[0].split()[2] for one in notebook.of(namespace).find(prefix_of(place))]


def test_the_next_process_finds_it_as_it_was(tmp_path: Path) -> None:
    kept = record("a", place=9, calls=2, closed=False)
    # Not closed: a process that is killed closes nothing either.
    first = make_notebook(tmp_path)
    first.remember(kept)
    first.flush()
    with notebook_in(tmp_path) as second:
        pages = second.of("")
        assert lengths(pages.spots()) == [9]
        (one,) = pages.find(prefix_of(9))
        assert same(one, kept)
        assert one.meaning.calls == kept.meaning.calls
        assert one.meaning.reasoning == ("Hm.",)
        assert found(second, 9, namespace="other") == []
    first.close()


def test_only_the_owner_can_read_it(tmp_path: Path) -> None:
    with notebook_in(tmp_path / "new") as notebook:
        notebook.remember(record())
        notebook.flush()
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "new").iterdir()}
    assert modes == dict.fromkeys([FILE, f"{FILE}-wal", f"{FILE}-shm"], 0o600)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700


def test_two_servers_see_each_other_s_but_no_other_model_s(tmp_path: Path) -> None:
    with (
        notebook_in(tmp_path) as one,
        notebook_in(tmp_path) as two,
        notebook_in(tmp_path, model="other") as other,
    ):
        for number in range(5):
            one.remember(record(f"one{number}", place=number))
            two.remember(record(f"two{number}", place=number))
        one.flush()
        two.flush()
        for number in range(5):
            both = [f"one{number}", f"two{number}"]
            assert sorted(found(one, number)) == both
            assert sorted(found(two, number)) == both
            assert found(other, number) == []


def test_it_is_bounded_on_disk_and_what_was_used_stays(tmp_path: Path) -> None:
    with notebook_in(tmp_path, bounds=Bounds(calls=3)) as notebook:
        for place in range(3):
            notebook.remember(record(place=place))
            notebook.flush()
    with notebook_in(tmp_path, bounds=Bounds(calls=3), wall=60.0) as notebook:
        assert found(notebook, 0)
        notebook.remember(record(place=3))
        notebook.flush()
    with notebook_in(tmp_path, bounds=Bounds(calls=3)) as notebook:
        assert [bool(found(notebook, place)) for place in range(4)] == [True, False, True, True]


def test_the_file_does_not_grow_beyond_its_bytes(tmp_path: Path) -> None:
    size, largest = 200_000, 50_000
    with notebook_in(tmp_path, bounds=Bounds(size=size)) as notebook:
        for place in range(12):
            notebook.remember(record(f"{place}", place=place, rows=10_000))
            notebook.flush()
        assert found(notebook, 11)
    assert (tmp_path / FILE).stat().st_size <= size + largest


@pytest.mark.parametrize("damage", [b"this is no database, " * 300, b"SQLite format 3\x00" + bytes(5000)])
def test_a_damaged_file_is_put_aside(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / FILE).write_bytes(damage)
    records: list[Record] = []
    with notebook_in(tmp_path, observe=records.append) as notebook:
        notebook.remember(record(place=1))
        notebook.flush()
    with notebook_in(tmp_path) as notebook:
        assert found(notebook, 1) == ["a"]
    assert (tmp_path / "replay.damaged").read_bytes() == damage
    assert len(warnings(records)) == 1


@pytest.mark.parametrize("name", [b"", b"TABLE answers", b"namespace TEXT"])
def test_so_is_one_of_which_sqlite_says_something_else(tmp_path: Path, name: bytes) -> None:
    """A flipped byte in the header's format, or in the name of a table or a column."""
    with notebook_in(tmp_path) as notebook:
        notebook.remember(record(place=1))
        notebook.flush()
    data = bytearray((tmp_path / FILE).read_bytes())
    data[data.index(name) + 8 if name else 47] ^= 1
    (tmp_path / FILE).write_bytes(data)
    records: list[Record] = []
    with notebook_in(tmp_path, observe=records.append) as notebook:
        assert not found(notebook, 1)
        notebook.remember(record(place=2))
        notebook.flush()
    with notebook_in(tmp_path) as notebook:
        assert found(notebook, 2) == ["a"]
    assert ["put aside" in text for text in warnings(records)] == [True]


def test_one_of_another_version_is_put_aside(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        connection.execute("PRAGMA user_version = 99")
    records: list[Record] = []
    with notebook_in(tmp_path, observe=records.append) as notebook:
        notebook.remember(record(place=1))
        notebook.flush()
    assert "version 99" in warnings(records)[0]


@pytest.mark.parametrize(
    "change",
    [
        "ids = ids || x'00'",
        "ids = x'00'",
        "meaning = x'00'",
        "calls = calls + 1",
        "row_count = row_count + 1",
        "seal = ''",
    ],
)
def test_a_damaged_record_is_a_miss_and_goes(tmp_path: Path, change: str) -> None:
    with notebook_in(tmp_path) as notebook:
        for place in (1, 2):
            notebook.remember(record(place=place))
    with closing(sqlite3.connect(tmp_path / FILE)) as connection, connection:
        connection.execute(f"UPDATE answers SET {change} WHERE row_count = 1")
    with notebook_in(tmp_path) as notebook:
        assert found(notebook, 1) == []
        assert found(notebook, 2) == ["a"]
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        assert connection.execute("SELECT count(*) FROM answers").fetchone() == (1,)


def test_a_file_that_is_taken_away_comes_back(tmp_path: Path) -> None:
    with notebook_in(tmp_path) as notebook:
        notebook.remember(record("a", place=1))
        notebook.flush()
        for path in tmp_path.iterdir():
            path.unlink()
        notebook.remember(record("b", place=2))
        notebook.flush()
        assert found(notebook, 1) == ["a"]
    with notebook_in(tmp_path) as notebook:
        assert (found(notebook, 1), found(notebook, 2)) == ([], ["b"])


@pytest.mark.parametrize(
    ("pragma", "words"), [("PRAGMA max_page_count = 12", "full"), ("PRAGMA query_only = ON", "readonly")]
)
def test_a_disk_that_takes_no_more_costs_nothing_but_what_outlives_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pragma: str, words: str
) -> None:
    set_up = sqlite_file._set_up  # noqa: SLF001

    def failing(connection: sqlite3.Connection) -> None:
        set_up(connection)
        connection.execute(pragma)

    with notebook_in(tmp_path):
        pass
    records: list[Record] = []
    with monkeypatch.context() as patched:
        patched.setattr(sqlite_file, "_set_up", failing)
        notebook = make_notebook(tmp_path, observe=records.append)
    for place in range(6):
        notebook.remember(record(f"{place}", place=place, rows=10_000))
        notebook.flush()
    assert all(found(notebook, place) for place in range(6))
    notebook.close()
    assert [words in text for text in warnings(records)] == [True]


def test_a_folder_that_cannot_be_made_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    records: list[Record] = []
    with notebook_in(tmp_path / "file" / "x", observe=records.append) as notebook:
        for place in range(3):
            notebook.remember(record(place=place))
            notebook.flush()
            assert found(notebook, place)
    assert len(warnings(records)) == 1


KILLED = """
import os, sys
from pathlib import Path
from replay_records import record
from ds4.testing.notebooks import make_notebook
notebook = make_notebook(Path(sys.argv[1]))
for place in range(1, 400):
    notebook.remember(record(place=place, rows=500))
    if place == 50:
        notebook.flush()
    if place == 390:
        os.kill(os.getpid(), 9)
"""


def test_a_killed_process_leaves_what_was_written(tmp_path: Path) -> None:
    here = Path(__file__).parent
    ended = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path)], cwd=here, env={"PYTHONPATH": str(here)}, check=False
    )
    assert ended.returncode == -9
    records: list[Record] = []
    with notebook_in(tmp_path, observe=records.append) as notebook:
        assert all(found(notebook, place) == ["a"] for place in range(1, 51))
        for place in range(51, 391):
            assert found(notebook, place) in ([], ["a"])
    assert warnings(records) == []
