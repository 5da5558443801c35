"""The shell of threads: the engine thread never waits, news come, bounds hold."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from disk_states import OWNER, Bench, conversation, keys, save_of

from ds4.core.step import Snapshot, SnapshotKind, SnapshotPart, Trim
from ds4.kv.checkpoint import CheckpointStore, Fetched, News, Save, Vanished
from ds4.kv.disk import DiskSettings, DiskStore, open_store
from ds4.kv.disk.store import CLOSED, FULL, SHORT
from ds4.kv.disk.vault import RATE, Vault
from ds4.observe.records import LoadFailed, Record, Stored, StoreSkipped
from ds4.testing.clock import FakeClock

PATIENCE = 20.0


class Desk:
    """A store and what it said."""

    def __init__(self, settings: DiskSettings) -> None:
        self.records: list[Record] = []
        self.clock = FakeClock()
        self.settings = settings
        self.store = self.open()

    def open(self) -> DiskStore:
        store = open_store(
            self.settings,
            OWNER,
            row_bytes=132,
            trim=Trim.ANY,
            clock=self.clock,
            observe=self.records.append,
        )
        assert store is not None
        return store

    def skipped(self) -> list[str]:
        return [record.why for record in self.records if isinstance(record, StoreSkipped)]

    def fetch(self, key: str) -> Snapshot | None:
        """Waits for the answer. Other news are dropped."""
        woken = threading.Event()
        self.store.on_news(woken.set)
        self.store.fetch(key)
        while woken.wait(PATIENCE):
            woken.clear()
            for news in self.store.news():
                if isinstance(news, Fetched):
                    assert news.key == key
                    return news.snapshot
        raise AssertionError("no answer")


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(DiskSettings(tmp_path / "c", min_rows=100))
    yield desk
    desk.store.close()


def news_after(desk: Desk) -> list[News]:
    desk.store.flush()
    return list(desk.store.news())


def test_it_is_a_checkpoint_store(desk: Desk) -> None:
    store: CheckpointStore = desk.store
    save = save_of(conversation(1, 600))
    assert store.save(save)
    # The news of a job are out before the next job begins.
    assert keys(news_after(desk)) == ({save.checkpoint.key}, set())
    assert desk.fetch(save.checkpoint.key) == save.snapshot


def test_news_wake_whoever_asked_even_late(desk: Desk) -> None:
    desk.store.save(save_of(conversation(1, 600)))
    desk.store.flush()
    woken: list[bool] = []
    desk.store.on_news(lambda: woken.append(True))
    assert woken == [True]
    desk.store.news()
    desk.store.on_news(lambda: woken.append(True))
    assert woken == [True], "nothing new"


def test_all_that_is_there_is_news_at_the_start(desk: Desk) -> None:
    saves = [save_of(conversation(name, 600)) for name in range(3)]
    for save in saves:
        assert desk.store.save(save)
    desk.store.close()
    assert len([record for record in desk.records if isinstance(record, Stored)]) == 3, "close writes them"
    desk.store = desk.open()
    assert keys(desk.store.news())[0] == {save.checkpoint.key for save in saves}


def test_unknown_keys_are_misses(desk: Desk) -> None:
    assert desk.fetch("nothing") is None
    assert not [record for record in desk.records if isinstance(record, LoadFailed)]


def test_a_damaged_one_is_a_miss_once_and_never_read_again(desk: Desk, tmp_path: Path) -> None:
    save = save_of(conversation(1, 600))
    key = save.checkpoint.key
    desk.store.save(save)
    news_after(desk)
    segment = tmp_path / "c" / "segments" / "00000001.kv"
    data = bytearray(segment.read_bytes())
    data[100] ^= 1
    segment.write_bytes(data)
    desk.store.fetch(key)
    desk.store.fetch(key)
    got = [desk.fetch(key)]
    news = news_after(desk)
    assert got == [None]
    assert all(one.snapshot is None for one in news if isinstance(one, Fetched))
    assert [type(record) for record in desk.records if isinstance(record, LoadFailed)] == [LoadFailed]
    assert desk.store.save(save)
    assert key in keys(news_after(desk))[0]
    assert desk.fetch(key) == save.snapshot


def test_a_use_and_a_discard(desk: Desk, tmp_path: Path) -> None:
    save = save_of(conversation(1, 600))
    desk.store.save(save)
    desk.store.touch(save.checkpoint.key)
    desk.store.flush()
    assert [hits for hits, _ in Bench(tmp_path / "c").vault.depot.catalog.uses.values()] == [1]
    desk.store.discard(save.checkpoint.key, "the engine refused it")
    assert Vanished(save.checkpoint.key) in news_after(desk)
    assert desk.fetch(save.checkpoint.key) is None


def test_short_states_are_refused(desk: Desk) -> None:
    assert not desk.store.save(save_of(conversation(1, 99)))
    assert desk.skipped() == [SHORT]


class Gate:
    """Holds the writer inside a put until it is opened."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.entered, self.open = threading.Event(), threading.Event()
        real = Vault.put

        def put(vault: Vault, save: Save) -> None:
            self.entered.set()
            assert self.open.wait(PATIENCE)
            real(vault, save)

        patch.setattr(Vault, "put", put)


def test_the_queue_is_bounded_and_one_of_any_size_may_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(monkeypatch)
    desk = Desk(DiskSettings(tmp_path / "c", queue=1))
    first, second = save_of(conversation(1, 600)), save_of(conversation(2, 600))
    assert desk.store.save(first)
    assert gate.entered.wait(PATIENCE)
    assert not desk.store.save(second)
    assert desk.skipped() == [FULL]
    gate.open.set()
    desk.store.flush()
    assert desk.store.save(second)
    desk.store.close()
    assert not desk.store.save(first)
    assert desk.skipped() == [FULL, CLOSED]


def test_a_read_does_not_wait_for_a_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(tmp_path / "c")
    old = save_of(conversation(1, 600))
    bench.put(old)
    bench.vault.close()
    gate = Gate(monkeypatch)
    desk = Desk(DiskSettings(tmp_path / "c"))
    desk.store.save(save_of(conversation(2, 600)))
    assert gate.entered.wait(PATIENCE)
    assert desk.fetch(old.checkpoint.key) == old.snapshot
    gate.open.set()
    desk.store.close()


def test_the_write_budget_is_said_at_once(tmp_path: Path) -> None:
    parts = (SnapshotPart("target", os.urandom(50_000)),)
    unlike_any = Snapshot(SnapshotKind.FULL, 600, 600, parts)
    first, second = save_of(conversation(1, 600), snapshot=unlike_any), save_of(conversation(2, 300))
    desk = Desk(DiskSettings(tmp_path / "c", min_rows=100, write_per_hour=50_000))
    assert desk.store.save(first)
    desk.store.flush()
    assert not desk.store.save(second)
    assert desk.skipped() == [RATE]
    desk.clock.advance(3600)
    assert desk.store.save(second)
    desk.store.close()
