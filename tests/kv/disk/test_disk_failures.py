"""The disk says no: nothing is lost that was there, and the next save is tried again."""

import errno
import os
import sqlite3
from pathlib import Path

import pytest
from disk_states import OWNER, Bench, conversation, keys, save_of

from ds4.core.step import Identity, Snapshot, Trim
from ds4.kv.disk import DiskSettings, open_store
from ds4.kv.disk.index import Index
from ds4.observe.records import Notice, Record, StoreSkipped
from ds4.testing.clock import FakeClock

LONG = 3000
"""Rows that do not fit into one segment."""
FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path / "c", space=16 << 20)
    bench.put(save_of(conversation(1, 600)))
    bench.vault.take_news()
    return bench


def check_goes_on(bench: Bench) -> None:
    """What was there is there, and the same save succeeds now."""
    first, second = save_of(conversation(1, 600)), save_of(conversation(2, LONG))
    assert bench.held() == {first.checkpoint.key}
    assert not bench.vault.take_news()
    bench.put(second)
    assert keys(bench.vault.take_news()) == ({second.checkpoint.key}, set())
    bench.reopen()
    for save in (first, second):
        assert bench.read(save.checkpoint.key) == save.snapshot


@pytest.mark.parametrize("name", ["pwrite", "fsync", "ftruncate"])
@pytest.mark.parametrize("succeed", [0, 1])
def test_a_full_disk(bench: Bench, monkeypatch: pytest.MonkeyPatch, name: str, succeed: int) -> None:
    """At the first of the two segments that the save needs, and at the second one."""
    real, calls = getattr(os, name), []

    def refuse(*args: object) -> object:
        calls.append(args)
        if len(calls) > succeed:
            raise FULL
        return real(*args)

    size = bench.segments()[0].stat().st_size
    with monkeypatch.context() as patch:
        patch.setattr(os, name, refuse)
        bench.put(save_of(conversation(2, LONG)))
    assert [record.why for record in bench.of(StoreSkipped)] == ["No space left on device"]
    assert len(calls) > succeed
    if (name, succeed) == ("pwrite", 0):
        assert bench.segments()[0].stat().st_size == size, "what could not be used is given back at once"
    check_goes_on(bench)


def test_half_a_write(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.pwrite

    def half(descriptor: int, data: memoryview, offset: int) -> int:
        if len(data) < 1000:
            raise FULL
        return real(descriptor, data[: len(data) // 2], offset)

    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", half)
        bench.put(save_of(conversation(2, LONG)))
    assert len(bench.of(StoreSkipped)) == 1
    check_goes_on(bench)


@pytest.mark.parametrize("method", ["add", "add_extent", "add_segment"])
def test_the_index_cannot_grow(bench: Bench, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    def refuse(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(Index, method, refuse)
        bench.put(save_of(conversation(2, LONG)))
    assert [record.why for record in bench.of(StoreSkipped)] == ["database or disk is full"]
    check_goes_on(bench)


def test_room_was_made_for_a_write_that_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was evicted for it is gone; what is left agrees with the files."""
    bench = Bench(tmp_path / "c", space=2 << 20)
    for name in range(5):
        bench.put(save_of(conversation(name, 3000)))
    with monkeypatch.context() as patch:
        patch.setattr(Index, "add", lambda *_: (_ for _ in ()).throw(FULL))
        bench.put(save_of(conversation(9, 3000)))
    assert bench.of(StoreSkipped)
    held = bench.held()
    bench.reopen()
    assert bench.held() == held
    for key in held:
        assert isinstance(bench.read(key), Snapshot)


def test_a_use_that_cannot_be_noted_is_said_once(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    key = save_of(conversation(1, 600)).checkpoint.key

    def refuse(*_: object) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    with monkeypatch.context() as patch:
        patch.setattr(Index, "touch", refuse)
        bench.vault.touch(key)
        bench.vault.touch(key)
    assert [record.text for record in bench.of(Notice)] == ["a use could not be noted: disk I/O error"]
    bench.vault.touch(key)
    assert bench.read(key) == save_of(conversation(1, 600)).snapshot


def opened(directory: Path, identity: Identity = OWNER) -> tuple[object, list[Record]]:
    records: list[Record] = []
    store = open_store(
        DiskSettings(directory),
        identity,
        row_bytes=132,
        trim=Trim.ANY,
        clock=FakeClock(),
        observe=records.append,
    )
    return store, records


def test_a_directory_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    store, (notice,) = opened(tmp_path / "file" / "cache")
    assert store is None
    assert isinstance(notice, Notice)
    assert (notice.level, "no cache on disk" in notice.text) == ("warning", True)


def test_a_read_only_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.open

    def refuse(path: object, flags: int, *rest: int) -> int:
        if flags & os.O_CREAT:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        return real(path, flags, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", refuse)
    store, (notice,) = opened(tmp_path)
    assert store is None
    assert isinstance(notice, Notice)
    assert notice.text.endswith("Read-only file system")


def test_an_index_of_another_program_is_left_alone(tmp_path: Path) -> None:
    index = tmp_path / "ds4-kv.sqlite3"
    link = sqlite3.connect(index)
    link.execute("CREATE TABLE notes(text)")
    link.commit()
    link.close()
    before = index.read_bytes()
    store, (notice,) = opened(tmp_path)
    assert store is None
    assert isinstance(notice, Notice)
    assert "another program" in notice.text
    assert index.read_bytes() == before


@pytest.mark.parametrize("schema", [0, 2, 99])
def test_another_schema_is_left_alone(bench: Bench, schema: int) -> None:
    bench.vault.close()
    link = sqlite3.connect(bench.path / "ds4-kv.sqlite3")
    link.execute("UPDATE meta SET schema = ?", (schema,))
    link.execute(f"PRAGMA user_version = {schema}")
    link.commit()
    link.close()
    size = bench.segments()[0].stat().st_size
    store, (notice,) = opened(bench.path)
    assert store is None
    assert isinstance(notice, Notice)
    assert f"schema {schema}" in notice.text
    assert "clear" in notice.text
    assert bench.segments()[0].stat().st_size == size
