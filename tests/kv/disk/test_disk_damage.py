"""Whatever happens to the files: what is restored is what was saved, or it is a miss, once."""

import shutil
import sqlite3
from pathlib import Path

import pytest
from disk_states import Bench, conversation, keys, save_of
from hypothesis import given, settings
from hypothesis import strategies as st

from ds4.core.step import Snapshot
from ds4.kv.checkpoint import Save, Vanished
from ds4.observe.records import LoadFailed, Notice, Stored

SAVES = [save_of(conversation(name, 500 + 20 * name)) for name in range(4)]
SHARED = [save_of(conversation(9, rows)) for rows in (600, 900)]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory after a clean end, and beside it one as a killed process leaves it, with its log."""
    base = tmp_path_factory.mktemp("disk")
    bench = Bench(base / "clean")
    for save in SAVES + SHARED:
        bench.put(save)
    shutil.copytree(base / "clean", base / "killed")
    bench.vault.close()
    assert (base / "killed" / "ds4-kv.sqlite3-wal").stat().st_size > 4096
    assert not (base / "clean" / "ds4-kv.sqlite3-wal").exists()
    return base


def flip(path: Path, at: int, bits: int = 0xFF) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= bits
    path.write_bytes(data)


def check_sound(bench: Bench, saves: list[Save]) -> set[str]:
    """Everything offered is right or found out at the first read; the second one is sure. What is right."""
    right: set[str] = set()
    offered = keys(bench.vault.take_news())[0]
    for save in saves:
        key = save.checkpoint.key
        got = bench.fetch(key)
        assert got is None or got == save.snapshot
        assert key in offered or got is None
        if got is not None:
            right.add(key)
    assert bench.held() == right, "what was damaged is gone"
    again = save_of(conversation(77, 640))
    bench.put(again)
    for save in saves:
        bench.put(save)
        assert bench.read(save.checkpoint.key) == save.snapshot
    bench.reopen()
    assert bench.held() == {save.checkpoint.key for save in [*saves, again]}
    for save in [*saves, again]:
        assert bench.read(save.checkpoint.key) == save.snapshot
    bench.vault.close()
    return right


FILES = (
    ("clean", "segments/00000001.kv"),
    ("clean", "ds4-kv.sqlite3"),
    ("killed", "ds4-kv.sqlite3"),
    ("killed", "ds4-kv.sqlite3-wal"),
)


@settings(max_examples=settings().max_examples // 3)
@given(st.sampled_from(FILES), st.floats(0, 1, exclude_max=True), st.integers(1, 255))
def test_a_flipped_byte(
    written: Path,
    tmp_path_factory: pytest.TempPathFactory,
    file: tuple[str, str],
    where: float,
    bits: int,
) -> None:
    folder = tmp_path_factory.mktemp("flip") / "cache"
    shutil.copytree(written / file[0], folder)
    path = folder / file[1]
    flip(path, int(where * path.stat().st_size), bits)
    check_sound(Bench(folder), SAVES + SHARED)
    shutil.rmtree(folder)


def test_a_flipped_byte_costs_only_who_needs_it(written: Path, tmp_path: Path) -> None:
    shutil.copytree(written / "clean", tmp_path / "c")
    bench = Bench(tmp_path / "c")
    # The first byte of the first chunk: the first conversation's.
    flip(bench.segments()[0], 0)
    assert bench.fetch(SAVES[0].checkpoint.key) is None
    assert [record.quarantined for record in bench.of(LoadFailed)] == [True]
    right = check_sound(bench, SAVES + SHARED)
    assert right == {save.checkpoint.key for save in SAVES[1:] + SHARED}


def test_a_damaged_chunk_is_not_built_upon(written: Path, tmp_path: Path) -> None:
    shutil.copytree(written / "clean", tmp_path / "c")
    bench = Bench(tmp_path / "c")
    flip(bench.segments()[0], 0)
    bench.fetch(SAVES[0].checkpoint.key)
    bench.put(SAVES[0])
    assert bench.of(Stored)[0].written > 0
    assert bench.read(SAVES[0].checkpoint.key) == SAVES[0].snapshot


def test_all_who_share_the_damaged_chunk_go_at_once(written: Path, tmp_path: Path) -> None:
    shutil.copytree(written / "clean", tmp_path / "c")
    bench = Bench(tmp_path / "c")
    bench.vault.take_news()
    held = bench.vault.depot.catalog.entries
    first = next(e for e in held.values() if e.manifest.key == SHARED[0].checkpoint.key)
    longest = first.manifest.runs[first.manifest.runs["length"].argmax()]
    flip(bench.segments()[0], int(longest["offset"] + longest["length"] // 2))
    short, long = (save.checkpoint.key for save in SHARED)
    assert bench.fetch(long) is None
    assert keys(bench.vault.take_news())[1] == {short, long}
    assert {record.key for record in bench.of(LoadFailed)} == {short, long}


@pytest.mark.parametrize("left", [0, 1, 5000])
def test_a_truncated_segment(written: Path, tmp_path: Path, left: int) -> None:
    shutil.copytree(written / "clean", tmp_path / "c")
    segment = tmp_path / "c" / "segments" / "00000001.kv"
    segment.write_bytes(segment.read_bytes()[:left])
    bench = Bench(tmp_path / "c")
    assert len(bench.of(LoadFailed)) == len(SAVES + SHARED), "found out at the start already"
    assert check_sound(bench, SAVES + SHARED) == set()


def test_a_segment_truncated_under_a_running_server(written: Path, tmp_path: Path) -> None:
    shutil.copytree(written / "clean", tmp_path / "c")
    bench = Bench(tmp_path / "c")
    segment = bench.segments()[0]
    segment.write_bytes(segment.read_bytes()[:70_000])
    right = check_sound(bench, SAVES + SHARED)
    assert right == {SAVES[0].checkpoint.key}


def test_a_segment_deleted_under_a_running_server(written: Path, tmp_path: Path) -> None:
    shutil.copytree(written / "clean", tmp_path / "c")
    bench = Bench(tmp_path / "c")
    bench.segments()[0].unlink()
    # Nothing was read yet that could have found it out: the save itself must.
    other = save_of(conversation(9, 900), "somebody else")
    bench.put(other)
    assert bench.read(other.checkpoint.key) == other.snapshot
    assert bench.held() == {other.checkpoint.key}


@pytest.mark.parametrize("what", [".", "segments", "ds4-kv.sqlite3", "ds4-kv.sqlite3-wal"])
def test_files_deleted_under_a_running_server(written: Path, tmp_path: Path, what: str) -> None:
    shutil.copytree(written / "clean", tmp_path / "c")
    bench = Bench(tmp_path / "c")
    path = tmp_path / "c" / what
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    new = save_of(conversation(20, 700))
    bench.put(new)
    assert new.checkpoint.key in keys(bench.vault.take_news())[0]
    assert bench.read(new.checkpoint.key) == new.snapshot
    for save in SAVES:
        got = bench.fetch(save.checkpoint.key)
        assert got is None or got == save.snapshot
    bench.reopen()
    assert bench.read(new.checkpoint.key) == new.snapshot


def test_a_deleted_directory_is_noticed_without_a_write(written: Path, tmp_path: Path) -> None:
    shutil.copytree(written / "clean", tmp_path / "c")
    bench = Bench(tmp_path / "c")
    bench.vault.take_news()
    shutil.rmtree(tmp_path / "c")
    bench.vault.poll()
    assert keys(bench.vault.take_news()) == (set(), {save.checkpoint.key for save in SAVES + SHARED})


@pytest.mark.parametrize("word", [b"size INTEGER", b"TABLE segments", b"ds4-server kv"])
def test_a_flipped_byte_in_the_names_of_the_index(written: Path, tmp_path: Path, word: bytes) -> None:
    """Then sqlite does not speak of damage, but of a column that is not there."""
    shutil.copytree(written / "clean", tmp_path / "c")
    index = tmp_path / "c" / "ds4-kv.sqlite3"
    flip(index, index.read_bytes().index(word) + len(word) // 2, 1)
    bench = Bench(tmp_path / "c")
    assert ["put aside" in record.text for record in bench.of(Notice)] == [True]
    check_sound(bench, SAVES)


def test_a_header_of_another_format_is_damage(written: Path, tmp_path: Path) -> None:
    """Sqlite calls it an unsupported file, not a damaged one."""
    shutil.copytree(written / "clean", tmp_path / "c")
    flip(tmp_path / "c" / "ds4-kv.sqlite3", 47, 1)
    bench = Bench(tmp_path / "c")
    assert ["put aside" in record.text for record in bench.of(Notice)] == [True]
    check_sound(bench, SAVES)


def test_garbage_for_an_index_is_put_aside(written: Path, tmp_path: Path) -> None:
    shutil.copytree(written / "clean", tmp_path / "c")
    (tmp_path / "c" / "ds4-kv.sqlite3").write_bytes(b"no database at all " * 400)
    bench = Bench(tmp_path / "c")
    assert (tmp_path / "c" / "ds4-kv.sqlite3.damaged").exists()
    assert ["put aside" in record.text for record in bench.of(Notice)] == [True]
    assert bench.segments() == [], "nobody knows what was in them"
    check_sound(bench, SAVES)


def test_an_index_that_breaks_while_in_use(written: Path, tmp_path: Path) -> None:
    shutil.copytree(written / "clean", tmp_path / "c")
    bench = Bench(tmp_path / "c")
    bench.vault.take_news()
    index = tmp_path / "c" / "ds4-kv.sqlite3"
    data = bytearray(index.read_bytes())
    data[4096:] = b"\xee" * (len(data) - 4096)
    with index.open("r+b") as file:
        file.write(data)
    # Pages that sqlite remembers are not read again until somebody else writes.
    other = sqlite3.connect(index)
    other.execute("PRAGMA user_version = 1")
    other.close()
    for name in range(30, 33):
        bench.put(save_of(conversation(name, 600)))
    last = save_of(conversation(32, 600))
    assert bench.read(last.checkpoint.key) == last.snapshot
    assert bench.vault.take_news()


def test_orphans_of_a_killed_process_are_removed(written: Path, tmp_path: Path) -> None:
    shutil.copytree(written / "clean", tmp_path / "c")
    segment = tmp_path / "c" / "segments" / "00000001.kv"
    size = segment.stat().st_size
    segment.write_bytes(segment.read_bytes() + b"half a checkpoint")
    (tmp_path / "c" / "segments" / "00000009.kv").write_bytes(b"a segment nobody knows")
    (tmp_path / "c" / "segments" / "notes.txt").write_bytes(b"not ours")
    bench = Bench(tmp_path / "c")
    assert [path.name for path in bench.segments()] == ["00000001.kv", "notes.txt"]
    assert segment.stat().st_size == size
    (tmp_path / "c" / "segments" / "notes.txt").unlink()
    assert len(check_sound(bench, SAVES + SHARED)) == len(SAVES + SHARED)


def test_vanished_once_read_damaged(written: Path, tmp_path: Path) -> None:
    shutil.copytree(written / "clean", tmp_path / "c")
    bench = Bench(tmp_path / "c")
    bench.vault.take_news()
    flip(bench.segments()[0], 0)
    key = SAVES[0].checkpoint.key
    bench.fetch(key)
    assert list(bench.vault.take_news()) == [Vanished(key)]
    assert not isinstance(bench.read(key), Snapshot)
